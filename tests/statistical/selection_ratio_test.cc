// Layer 1 of the audit, selections: on neighbouring tables the log-probability of every choice changes by at
// most epsilon, and the changes of all choices span at most epsilon (the bounded range that its zCDP cost
// rests on).
#include <gtest/gtest.h>

#include "dp/data/sealed_table.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "tests/statistical/exact_ratio.h"
#include "tests/statistical/neighbours.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::CandidateFamily;
using dp::Interval;
using dp::NeighbourRelation;
using dp::UnitBound;

constexpr int64_t kFar = 1000;  // an estimate above every count

// Records of one unit leave the first categories or enter the last ones: which estimates make a score rise,
// and which make it fall, by all that one unit can move it.
const std::vector<double> kRises = {kFar, 0};
const std::vector<double> kFalls = {0, kFar};

dp::Domain Questions(size_t count) {
  return dp::CodedDomain(std::vector<int64_t>(count, 2));
}

std::vector<CandidateFamily> Candidates(size_t count, const std::vector<double>& first,
                                        const std::vector<double>& others, double penalty_of_first) {
  std::vector<CandidateFamily> candidates;
  for (uint32_t i = 0; i < count; ++i)
    candidates.push_back({.group = {{i}, dp::EveryCell()},
                          .estimate = i == 0 ? first : others,
                          .penalty = i == 0 ? penalty_of_first : 0});
  return candidates;
}

// The log-probabilities of every choice on one table.
using LogProbabilities = std::vector<Interval>;

LogProbabilities OfEveryChoice(const std::vector<CandidateFamily>& candidates, dp::Epsilon epsilon,
                               const dp::SealedTable& table, const dp::Domain& domain,
                               const UnitBound& unit) {
  LogProbabilities result;
  // What differs between two choices is their score alone: of the others, the last stands for all that are
  // tied.
  for (const size_t selected : {size_t{0}, candidates.size() / 2, candidates.size() - 1})
    result.push_back(
        dp::LogProbability(dp::FamilySelectionDraw{candidates, epsilon, {selected, 0}}, table, domain, unit)
            .value());
  return result;
}

struct Finding {
  bool loss_exceeds = false;
  bool range_exceeds = false;
  double largest_loss = 0;
};

Finding Compare(const LogProbabilities& one, const LogProbabilities& other, const Interval& price) {
  Finding finding;
  for (size_t i = 0; i < one.size(); ++i) {
    const Interval loss = one[i] - other[i];
    finding.loss_exceeds =
        finding.loss_exceeds || loss.CertainlyAbove(price) || (-loss).CertainlyAbove(price);
    finding.largest_loss = std::max({finding.largest_loss, loss.Upper(), -loss.Lower()});
    for (size_t j = 0; j < i; ++j) {
      const Interval span = loss - (one[j] - other[j]);
      finding.range_exceeds =
          finding.range_exceeds || span.CertainlyAbove(price) || (-span).CertainlyAbove(price);
    }
  }
  return finding;
}

// Everything that a unit can do to `candidates`: the worst over all pairs, `drawn` being the epsilon that is
// used and `priced` the one that is paid.
Finding AuditSelection(const UnitBound& unit, const std::vector<CandidateFamily>& candidates,
                       dp::Epsilon drawn, dp::Epsilon priced, size_t random_pairs) {
  const dp::Domain domain = Questions(candidates.size());
  const Interval price = PureLossOf({dp::ExponentialMechanismEvent{priced}});
  Finding worst;
  for (const Neighbours& pair : NeighboursOf(domain, unit, random_pairs, 11)) {
    const Finding finding = Compare(OfEveryChoice(candidates, drawn, *pair.table, domain, unit),
                                    OfEveryChoice(candidates, drawn, *pair.neighbour, domain, unit), price);
    worst.loss_exceeds = worst.loss_exceeds || finding.loss_exceeds;
    worst.range_exceeds = worst.range_exceeds || finding.range_exceeds;
    worst.largest_loss = std::max(worst.largest_loss, finding.largest_loss);
  }
  return worst;
}

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};
const std::vector<UnitBound> kUnits = {
    kRecord, {NeighbourRelation::kAddRemove, 3}, kReplacedRecord, {NeighbourRelation::kReplaceOne, 5}};
constexpr dp::Epsilon kOne(dp::kEpsilonUnitsPerOne);

// One score against all others, ties among those; the first a likely, an even and an unlikely choice.
std::vector<std::vector<CandidateFamily>> Extremes(size_t count) {
  std::vector<std::vector<CandidateFamily>> extremes;
  for (const double penalty : {0.0, 50.0, -50.0}) {
    extremes.push_back(Candidates(count, kRises, kFalls, penalty));
    extremes.push_back(Candidates(count, kFalls, kRises, penalty));
    extremes.push_back(Candidates(count, kFalls, kFalls, penalty));
  }
  return extremes;
}

TEST(ExactRatioOfSelection, NoChoiceLosesMoreThanEpsilonAndAllSpanNoMore) {
  for (const UnitBound& unit : kUnits) {
    for (const size_t count : {2, 10}) {
      for (const dp::Epsilon epsilon : {dp::Epsilon(kOne.units() / 10), dp::Epsilon(3 * kOne.units())}) {
        for (const auto& candidates : Extremes(count)) {
          const Finding finding = AuditSelection(unit, candidates, epsilon, epsilon, 4);
          EXPECT_FALSE(finding.loss_exceeds) << count << " candidates";
          EXPECT_FALSE(finding.range_exceeds) << count << " candidates";
        }
      }
    }
  }
}

TEST(ExactRatioOfSelection, AmongAThousandCandidatesNoChoiceLosesMoreThanEpsilon) {
  const Finding finding = AuditSelection(kReplacedRecord, Candidates(1000, kRises, kFalls, 0), kOne, kOne, 0);
  EXPECT_FALSE(finding.loss_exceeds);
  EXPECT_FALSE(finding.range_exceeds);
  EXPECT_GT(finding.largest_loss, 0.99) << "the price is no higher than it need be";
}

TEST(ExactRatioOfSelection, AChoiceAmongOneRevealsNothing) {
  for (const UnitBound& unit : kUnits)
    EXPECT_LT(AuditSelection(unit, Candidates(1, kRises, kFalls, 0), kOne, kOne, 4).largest_loss, 1e-60);
}

TEST(ExactRatioOfSelection, AnUnlikelyChoiceLosesNearlyEpsilon) {
  const Finding finding = AuditSelection(kReplacedRecord, Candidates(10, kRises, kFalls, 50), kOne, kOne, 0);
  EXPECT_FALSE(finding.loss_exceeds);
  EXPECT_GT(finding.largest_loss, 0.99);
}

TEST(ExactRatioOfSelection, TheKernelDrawsWhatItsLikelihoodSays) {
  const dp::Domain domain = Questions(10);
  const std::vector<CandidateFamily> candidates = Candidates(10, kRises, kFalls, 0);
  const dp::SealedTableHandle table = dp::SealRows(domain, {}).value();
  seeded::SeededBits bits(12);
  dp::Kernel door(table, domain, kRecord, dp::Meter({{{dp::ExponentialMechanismEvent{kOne}}, 1}}), bits);
  dp::Transcript transcript;
  dp::RecordingQueries kernel(door, transcript);
  ASSERT_TRUE(kernel.SelectWorstCandidate(candidates, kOne).ok());
  ASSERT_EQ(transcript.size(), 1u);
  EXPECT_EQ(std::get<dp::FamilySelectionDraw>(transcript[0]).families, candidates);
  EXPECT_LT(dp::LogProbability(transcript, *table, domain, kRecord).value().Upper(), 0);
  EXPECT_FALSE(kernel.SelectWorstCandidate(candidates, kOne).ok()) << "the meter paid for one selection";
}

TEST(ExactRatioOfSelectionCanary, TwiceTheEpsilonIsCaught) {
  const auto candidates = Candidates(2, kRises, kFalls, 0);
  EXPECT_TRUE(AuditSelection(kReplacedRecord, candidates, dp::Epsilon(2 * dp::kEpsilonUnitsPerOne), kOne, 0)
                  .loss_exceeds);
}

// exp(epsilon score / D) suffices only where all scores move in the same direction.
TEST(ExactRatioOfSelectionCanary, AForgottenFactorTwoIsCaughtWhereScoresMoveApart) {
  const Interval price = Interval::Of(kOne);
  const dp::Rational factor{1, 1};  // epsilon / D, with scores counted in sensitivities
  const auto compare = [&](const std::vector<int64_t>& one, const std::vector<int64_t>& other) {
    LogProbabilities on_one;
    LogProbabilities on_other;
    for (const size_t i : {size_t{0}, one.size() - 1}) {
      on_one.push_back(dp::SelectionLogProbability(one, factor, i));
      on_other.push_back(dp::SelectionLogProbability(other, factor, i));
    }
    return Compare(on_one, on_other, price);
  };
  for (const size_t count : {2, 10, 1000}) {
    std::vector<int64_t> tied(count, 7);
    std::vector<int64_t> apart(count, 6);
    apart[0] = 8;
    std::vector<int64_t> together(count, 8);
    together[1] = 7;
    EXPECT_TRUE(compare(tied, apart).range_exceeds) << count;
    EXPECT_TRUE(compare(tied, apart).loss_exceeds) << count;
    EXPECT_FALSE(compare(tied, together).loss_exceeds) << "monotone scores need no factor 2";
  }
}

TEST(ExactRatioOfSelectionCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const auto candidates = Candidates(10, kRises, kFalls, 50);
  const dp::Domain domain = Questions(10);
  bool caught = false;
  for (const Neighbours& pair : NeighboursOf(domain, kReplacedRecord, 0, 11)) {
    const Finding finding =
        Compare(OfEveryChoice(candidates, kOne, *pair.table, domain, kRecord),
                OfEveryChoice(candidates, kOne, *pair.neighbour, domain, kRecord), Interval::Of(kOne));
    caught = caught || finding.loss_exceeds;
  }
  EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace curator::statistics
