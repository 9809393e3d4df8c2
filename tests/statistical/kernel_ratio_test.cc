// Layer 1 of the audit: on neighbouring tables, the exact log-probabilities of what the kernel draws differ
// by no more than the price that its meter took. No false alarms: nothing here is estimated.
#include <gtest/gtest.h>

#include <functional>

#include "dp/data/count_sealed_marginals.h"
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

using dp::AttributeSet;
using dp::NeighbourRelation;
using dp::NoiseSpec;
using dp::UnitBound;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};
const std::vector<UnitBound> kUnits = {
    kRecord, {NeighbourRelation::kAddRemove, 3}, kReplacedRecord, {NeighbourRelation::kReplaceOne, 5}};
const std::vector<AttributeSet> kOneSet = {{0, 2}};
const std::vector<AttributeSet> kFourSets = {{0}, {1}, {0, 1}, {0, 1, 2}};

const dp::Domain& SmallDomain() {
  static const dp::Domain domain = dp::CodedDomain({3, 2, 4});
  return domain;
}

// How probable a draw is on a table.
using Likelihood = std::function<LogLikelihood(const dp::Draw&, const dp::SealedTable&)>;

Likelihood LikelihoodFor(const UnitBound& unit) {
  return [unit](const dp::Draw& draw, const dp::SealedTable& table) {
    return dp::LogProbability(draw, table, SmallDomain(), unit).value();
  };
}

// Draws of `sets` on the pair's table: what the kernel drew, and answers far above and far below the counts
// of the first and of the last cells, where the loss of Laplace noise is largest.
std::vector<dp::Draw> CountsDraws(const Neighbours& pair, const UnitBound& unit,
                                  const std::vector<AttributeSet>& sets, const NoiseSpec& noise) {
  constexpr int kTimes = 4;
  const auto sensitivity = dp::MarginalsSensitivity(unit, static_cast<int64_t>(sets.size())).value();
  seeded::SeededBits bits(AuditSeed(sets.size()));
  dp::Kernel door(pair.table, SmallDomain(), unit, dp::Meter({{dp::NoiseEvent(noise, sensitivity), kTimes}}),
                  bits);
  dp::Transcript transcript;
  dp::RecordingQueries kernel(door, transcript);
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(kernel.NoisyCounts(sets, noise).ok());
  constexpr int64_t kFar = int64_t{1} << 40;
  for (const int64_t first_half : {kFar, -kFar}) {
    for (const int64_t second_half : {kFar, -kFar}) {
      dp::CountsDraw far = std::get<dp::CountsDraw>(transcript[0]);
      for (auto& marginal : far.values) {
        for (size_t cell = 0; cell < marginal.size(); ++cell)
          marginal[cell] += 2 * cell < marginal.size() ? first_half : second_half;
      }
      transcript.emplace_back(std::move(far));
    }
  }
  return transcript;
}

// What becomes of a draw before it is released, and how probable the outcome is: the kernel releases its
// draws as they are.
struct Outcome {
  std::function<dp::Draw(const dp::Draw&, const dp::SealedTable&)> released;
  Likelihood likelihood;
};

Outcome SoundOutcome(const UnitBound& unit) {
  return {[](const dp::Draw& draw, const dp::SealedTable&) { return draw; }, LikelihoodFor(unit)};
}

struct Audit {
  UnitBound unit;  // the neighbours
  std::vector<AttributeSet> sets;
  NoiseSpec noise;  // as it is drawn
  dp::Event priced;
};

RatioAudit AuditPureCounts(const Audit& audit, const Outcome& outcome) {
  RatioAudit finding(PureLossOf(audit.priced));
  for (const Neighbours& pair : NeighboursOf(SmallDomain(), audit.unit, 12, 1)) {
    for (const dp::Draw& draw : CountsDraws(pair, audit.unit, audit.sets, audit.noise)) {
      const dp::Draw released = outcome.released(draw, *pair.table);
      finding.Compare(pair.what, outcome.likelihood(released, *pair.table),
                      outcome.likelihood(released, *pair.neighbour));
    }
  }
  return finding;
}

RatioAudit AuditPureCounts(const Audit& audit) {
  return AuditPureCounts(audit, SoundOutcome(audit.unit));
}

dp::Sensitivity SensitivityOf(const UnitBound& unit, const std::vector<AttributeSet>& sets) {
  return dp::MarginalsSensitivity(unit, static_cast<int64_t>(sets.size())).value();
}

// Epsilons whose noise scales are integers for every sensitivity here, so that prices are not rounded.
const std::vector<dp::Epsilon> kEpsilons = {dp::Epsilon(dp::kEpsilonUnitsPerOne / 8),
                                            dp::Epsilon(dp::kEpsilonUnitsPerOne),
                                            dp::Epsilon(dp::kEpsilonUnitsPerOne * 8)};

TEST(ExactRatio, NoisyCountsLoseWhatTheMeterTookAndReachIt) {
  for (const UnitBound& unit : kUnits) {
    for (const auto& sets : {kOneSet, kFourSets}) {
      for (const dp::Epsilon epsilon : kEpsilons) {
        const auto sensitivity = SensitivityOf(unit, sets);
        const NoiseSpec noise = dp::LaplaceNoiseFor(sensitivity, epsilon).value();
        const RatioAudit finding = AuditPureCounts({unit, sets, noise, dp::NoiseEvent(noise, sensitivity)});
        EXPECT_FALSE(finding.exceeds()) << finding.worst();
        EXPECT_TRUE(finding.reaches()) << "the price is higher than it need be";
      }
    }
  }
}

TEST(ExactRatio, NoisyRecordCountsLoseWhatTheMeterTookAndReachIt) {
  for (const UnitBound& unit : kUnits) {
    const auto sensitivity = dp::RecordCountSensitivity(unit).value();
    const NoiseSpec noise = dp::LaplaceNoiseFor(sensitivity, dp::Epsilon(dp::kEpsilonUnitsPerOne)).value();
    const dp::Event event = dp::NoiseEvent(noise, sensitivity);
    RatioAudit finding(PureLossOf(event));
    for (const Neighbours& pair : NeighboursOf(SmallDomain(), unit, 12, 2)) {
      seeded::SeededBits bits(AuditSeed(3));
      dp::Kernel door(pair.table, SmallDomain(), unit, dp::Meter({{event, 1}}), bits);
      dp::Transcript draws;
      dp::RecordingQueries kernel(door, draws);
      ASSERT_TRUE(kernel.NoisyRecordCount(noise).ok());
      draws.emplace_back(dp::RecordCountDraw{noise, 1'000'000});
      draws.emplace_back(dp::RecordCountDraw{noise, -1'000'000});
      for (const dp::Draw& draw : draws) {
        finding.Compare(pair.what, LikelihoodFor(unit)(draw, *pair.table),
                        LikelihoodFor(unit)(draw, *pair.neighbour));
      }
    }
    EXPECT_FALSE(finding.exceeds()) << finding.worst();
    EXPECT_TRUE(finding.reaches());
  }
}

// The broken variants of a noisy count: each is drawn, or priced, as the name says.

dp::Event LaplacePrice(const NoiseSpec& noise, int64_t l1) {
  return {dp::DiscreteLaplaceEvent{.scale = noise.parameter, .l1_sensitivity = l1, .linf_sensitivity = 1}};
}

NoiseSpec Laplace(dp::Rational scale) {
  return {dp::Mechanism::kDiscreteLaplace, dp::Reduced(scale)};
}

TEST(ExactRatioCanary, NoiseScaledDownByATwentiethIsCaught) {
  EXPECT_TRUE(
      AuditPureCounts({kRecord, kOneSet, Laplace({95, 100}), LaplacePrice(Laplace({1, 1}), 1)}).exceeds());
}

TEST(ExactRatioCanary, HalfTheNoiseScaleIsCaught) {
  EXPECT_TRUE(
      AuditPureCounts({kRecord, kOneSet, Laplace({1, 2}), LaplacePrice(Laplace({1, 1}), 1)}).exceeds());
}

TEST(ExactRatioCanary, EpsilonNotSplitOverTheMarginalsIsCaught) {
  const NoiseSpec noise = Laplace({1, 1});
  EXPECT_TRUE(AuditPureCounts({kRecord, kFourSets, noise, LaplacePrice(noise, 1)}).exceeds());
}

TEST(ExactRatioCanary, L2SensitivityUsedForL1IsCaught) {
  const NoiseSpec noise = Laplace({1, 1});  // four marginals: L1 is 4, L2 is 2
  EXPECT_TRUE(AuditPureCounts({kRecord, kFourSets, noise, LaplacePrice(noise, 2)}).exceeds());
}

TEST(ExactRatioCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const NoiseSpec noise = Laplace({1, 1});
  const dp::Event priced = dp::NoiseEvent(noise, SensitivityOf(kRecord, kOneSet));
  EXPECT_TRUE(AuditPureCounts({kReplacedRecord, kOneSet, noise, priced}).exceeds());
}

TEST(ExactRatioCanary, APersonsBoundForgottenIsCaught) {
  const UnitBound person{NeighbourRelation::kAddRemove, 3};
  const NoiseSpec noise = Laplace({1, 1});
  const dp::Event priced = dp::NoiseEvent(noise, SensitivityOf(kRecord, kOneSet));
  EXPECT_TRUE(AuditPureCounts({person, kOneSet, noise, priced}).exceeds());
}

// A release whose first cell is the exact count: where the neighbour counts otherwise, it is impossible.
TEST(ExactRatioCanary, OneCellWithoutNoiseIsCaught) {
  const NoiseSpec noise = Laplace({1, 1});
  const auto with_exact_first_cell = [](const dp::Draw& draw, const dp::SealedTable& table) {
    auto exact = std::get<dp::CountsDraw>(draw);
    exact.values[0][0] = dp::CountMarginal(table, SmallDomain(), exact.marginals[0]).value()[0];
    return exact;
  };
  const Outcome broken{with_exact_first_cell,
                       [&](const dp::Draw& draw, const dp::SealedTable& table) -> LogLikelihood {
                         const auto& values = std::get<dp::CountsDraw>(draw).values;
                         if (with_exact_first_cell(draw, table).values != values) return std::nullopt;
                         return LikelihoodFor(kRecord)(draw, table);
                       }};
  const Audit audit{kRecord, kOneSet, noise, LaplacePrice(noise, 1)};
  EXPECT_FALSE(AuditPureCounts(audit).exceeds());
  EXPECT_TRUE(AuditPureCounts(audit, broken).exceeds());
}

}  // namespace
}  // namespace curator::statistics
