// Layer 1 of the audit, whole schedules: a run of counts, selections and measurements that depend on one
// another loses no more than the sum of what its meter took.
#include <gtest/gtest.h>

#include "dp/data/sealed_table.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/exact_ratio.h"
#include "tests/statistical/neighbours.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::Interval;

constexpr dp::UnitBound kUnit{dp::NeighbourRelation::kAddRemove, 2};
constexpr int kRounds = 3;
const dp::Epsilon kRecordCount(dp::kEpsilonUnitsPerOne / 2);
const dp::Epsilon kSelection(dp::kEpsilonUnitsPerOne / 16);
const dp::Epsilon kMedian(dp::kEpsilonUnitsPerOne / 8);
const dp::Epsilon kMeasurement(dp::kEpsilonUnitsPerOne / 4);

const dp::Domain& Questions() {
  static const dp::Domain domain = dp::CodedDomain({3, 2, 4});
  return domain;
}

dp::Sensitivity OneMarginal() {
  return dp::MarginalsSensitivity(kUnit, 1).value();
}
dp::NoiseSpec RecordNoise() {
  return dp::LaplaceNoiseFor(dp::RecordCountSensitivity(kUnit).value(), kRecordCount).value();
}
dp::NoiseSpec RoundNoise() {
  return dp::LaplaceNoiseFor(OneMarginal(), kMeasurement).value();
}

std::vector<dp::CountedEvent> Schedule(int rounds) {
  return {{dp::NoiseEvent(RecordNoise(), dp::RecordCountSensitivity(kUnit).value()), 1},
          {{dp::ExponentialMechanismEvent{kSelection}}, rounds},
          {{dp::ExponentialMechanismEvent{kMedian}}, 1},
          {dp::NoiseEvent(RoundNoise(), OneMarginal()), rounds}};
}

Interval PriceOf(int rounds) {
  return PureLossOf({dp::ComposedEvent{Schedule(rounds)}});
}

// A median first. A round then selects the marginal that a uniform guess from the noisy number of records
// misses most, and measures it.
dp::Transcript RunOn(const dp::SealedTableHandle& table, uint64_t seed) {
  seeded::SeededBits bits(seed);
  dp::Kernel door(table, Questions(), kUnit, dp::Meter(Schedule(kRounds)), bits);
  dp::Transcript transcript;
  dp::RecordingQueries kernel(door, transcript);
  double records = static_cast<double>(kernel.NoisyRecordCount(RecordNoise()).value());
  const size_t median = kernel.SelectByUtility(dp::QuantileValue{2, 1, 2}, {}, kMedian).value();
  for (int round = 0; round < kRounds; ++round) {
    std::vector<dp::CandidateFamily> candidates;
    for (uint32_t i = 0; i < 3; ++i) {
      const auto cells = static_cast<size_t>(Questions().CellCount({i}).value());
      candidates.push_back({{{i}, dp::EveryCell()},
                            std::vector<double>(cells, records / static_cast<double>(cells)),
                            static_cast<double>(median)});
    }
    const size_t worst = kernel.SelectWorstCandidate(candidates, kSelection)->family;
    const std::vector<dp::AttributeSet> measured = {candidates[worst].group.attributes};
    const auto counts = kernel.NoisyCounts(measured, RoundNoise()).value();
    records = static_cast<double>(counts[0][0]);
  }
  return transcript;
}

// The same questions with the answers that tell the most: all numbers far off, and always the same choice.
dp::Transcript MostTelling(dp::Transcript transcript, int64_t shift, size_t choice) {
  for (dp::Draw& draw : transcript) {
    if (auto* count = std::get_if<dp::RecordCountDraw>(&draw)) count->value += shift;
    if (auto* selection = std::get_if<dp::FamilySelectionDraw>(&draw)) selection->selected = {choice, 0};
    if (auto* selection = std::get_if<dp::UtilityDraw>(&draw)) selection->selected = choice;
    if (auto* counts = std::get_if<dp::CountsDraw>(&draw)) {
      for (int64_t& value : counts->values[0]) value += shift;
    }
  }
  return transcript;
}

bool SomeRunLosesMoreThan(const Interval& price) {
  RatioAudit finding(price);
  for (const Neighbours& pair : NeighboursOf(Questions(), kUnit, 20, 41)) {
    const dp::Transcript drawn = RunOn(pair.table, AuditSeed(42));
    std::vector<dp::Transcript> transcripts = {drawn};
    for (const int64_t shift : {int64_t{100'000}, int64_t{-100'000}}) {
      for (const size_t choice : {0, 1, 2}) transcripts.push_back(MostTelling(drawn, shift, choice));
    }
    for (const dp::Transcript& transcript : transcripts) {
      finding.Compare(pair.what, dp::LogProbability(transcript, *pair.table, Questions(), kUnit).value(),
                      dp::LogProbability(transcript, *pair.neighbour, Questions(), kUnit).value());
    }
  }
  return finding.exceeds();
}

TEST(ExactRatioOfTranscripts, ARunThatDependsOnItsOwnAnswersLosesNoMoreThanItsSchedule) {
  EXPECT_FALSE(SomeRunLosesMoreThan(PriceOf(kRounds)));
}

TEST(ExactRatioOfTranscriptsCanary, OneUnpaidRoundIsCaught) {
  EXPECT_TRUE(SomeRunLosesMoreThan(PriceOf(kRounds - 1)));
}

}  // namespace
}  // namespace curator::statistics
