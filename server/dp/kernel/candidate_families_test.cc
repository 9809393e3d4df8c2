// Families of candidates at the kernel's door: their selection, by the exact loss on neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dp/data/count_sealed_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/selection_loss.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/testing/units.h"
#include "dp/noise/drbg.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 3},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 3}};

// Three ranges of which one is excluded, a parity, and a marginal; estimates far above or far below, so that
// records that enter raise some errors and lower others.
std::vector<CandidateFamily> Families() {
  return {{{{1}, std::vector<LinearQuery>{{{0, 1}}, {{0, 1}, {1, 1}}, {{2, 1}}}}, {100, -100, 100}, 0, {1}},
          {{{0, 1}, std::vector<LinearQuery>{{{0, 1}, {1, -1}, {2, 1}, {3, -1}, {4, 1}, {5, -1}}}}, {-100}},
          {{{0, 1}, Boxes{{{0, 1}, {1, 2}}}}, {100}, 0},
          {{{0}, EveryCell{}}, {-100, 100}, 100}};
}

std::vector<CandidateFamily> Marginals() {
  return {{{{0}, EveryCell{}}, {100, -100}, 200}, {{{1}, EveryCell{}}, {-100, 0, 100}, 200}};
}

// Errors that count three times and once.
std::vector<CandidateFamily> WeightedMarginals() {
  std::vector<CandidateFamily> families = Marginals();
  families[1].weight = 3;
  return families;
}

// Every cell by itself, as a cell and as a 1-of-2 threshold.
std::vector<CandidateFamily> CellsAndThresholds() {
  const QueryGroup cells{{0, 1}, EveryCell{}};
  return {{cells, {100, -100, 100, -100, 100, -100}, 0, {2}, 2},
          {cells, {-100, 100, -100, 100, -100, 100}, 0, {}, 1}};
}

// Of every choice on neighbouring tables, when the scores are divided by `range`.
SelectionLoss LossOf(const std::vector<CandidateFamily>& families, const UnitBound& unit, int64_t range) {
  return LossOfSelection(Questions(), unit, kOne, range, [&](const SealedTable& table) {
    ScoredCandidates scored;
    for (size_t i = 0; i < families.size(); ++i) {
      const auto counts = CountMarginal(table, Questions(), families[i].group.attributes).value();
      AddScores(i, families[i], AnswersOf(Questions(), families[i], counts),
                RoundFamily(Questions(), families[i]).value(), scored);
    }
    return scored.scores;
  });
}

TEST(SelectWorstCandidate, SpansNoMoreThanEpsilonAndNearlyAllOfIt) {
  for (const UnitBound& unit : kUnits) {
    for (const auto& families : {Families(), Marginals(), WeightedMarginals(), CellsAndThresholds()}) {
      const SelectionLoss loss = LossOf(families, unit, CandidateRange(Questions(), unit, families).value());
      EXPECT_FALSE(loss.exceeds);
      EXPECT_GT(loss.largest, 0.5);
    }
  }
}

TEST(SelectWorstCandidateCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  // A record that moves from the first cell of all to the last one raises both errors of the first marginal
  // and lowers those of the second.
  const int64_t add_remove = CandidateRange(Questions(), kUnits[0], Marginals()).value();
  const int64_t replace = CandidateRange(Questions(), kUnits[2], Marginals()).value();
  EXPECT_TRUE(LossOf(Marginals(), kUnits[2], add_remove).exceeds);
  EXPECT_FALSE(LossOf(Marginals(), kUnits[2], replace).exceeds);
  EXPECT_GT(LossOf(Marginals(), kUnits[2], replace).largest, 0.999);
}

TEST(CandidateRange, IsTwiceTheMovementOfAQueryAndOfTheErrorOfAWholeMarginal) {
  const auto movement = [](const QueryGroup& group, const UnitBound& unit) {
    const CandidateFamily family{group, {}};
    return CandidateRange(Questions(), unit, std::span(&family, 1)).value() / (2 << kScoreLatticeBits);
  };
  const QueryGroup cell{{0, 1}, std::vector<LinearQuery>{{{3, 1}}}};
  const QueryGroup marginal{{0}, EveryCell{}};
  EXPECT_EQ(movement(cell, kUnits[0]), 1);
  EXPECT_EQ(movement(cell, kUnits[2]), 1);
  EXPECT_EQ(movement(marginal, kUnits[0]), 1);
  EXPECT_EQ(movement(marginal, kUnits[2]), 2);
  EXPECT_EQ(movement(marginal, kUnits[3]), 6);
}

TEST(SelectWorstCandidateCanary, AWeightThatTheRangeLeavesOutIsCaught) {
  const int64_t unweighted = CandidateRange(Questions(), kUnits[0], Marginals()).value();
  EXPECT_EQ(CandidateRange(Questions(), kUnits[0], WeightedMarginals()).value(), 3 * unweighted);
  EXPECT_TRUE(LossOf(WeightedMarginals(), kUnits[0], unweighted).exceeds);
}

TEST(SelectWorstCandidateCanary, AThresholdTakenForLessThanItsRecordsIsCaught) {
  EXPECT_TRUE(LossOf(CellsAndThresholds(), kUnits[1], 2 << kScoreLatticeBits).exceeds);
}

TEST(SelectWorstCandidateCanary, AParityTakenForARangeUnderReplacementIsCaught) {
  std::vector<CandidateFamily> parity = {Families()[1], {{{0}, std::vector<LinearQuery>{{{0, 1}}}}, {100}}};
  EXPECT_TRUE(LossOf(parity, kUnits[2], 2 << kScoreLatticeBits).exceeds);
}

TEST(SelectWorstCandidate, DrawsWithTheProbabilitiesOfItsLikelihoodAndNothingExcluded) {
  const SealedTableHandle table = SealRows(Questions(), {{0, 0}, {1, 1}}).value();
  constexpr int kDraws = 20'000;
  const auto families = Families();
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(table, Questions(), kUnits[0], Meter({{{ExponentialMechanismEvent{kOne}}, kDraws}}), bits);
  const std::vector<FamilyChoice> choices = {{0, 0}, {0, 2}, {1, 0}, {2, 0}, {3, 0}};
  std::vector<int> chosen(choices.size());
  for (int i = 0; i < kDraws; ++i) {
    const FamilyChoice choice = kernel.SelectWorstCandidate(families, kOne).value();
    const auto found = std::ranges::find(choices, choice);
    ASSERT_NE(found, choices.end());
    ++chosen[static_cast<size_t>(found - choices.begin())];
  }
  for (size_t j = 0; j < choices.size(); ++j) {
    const FamilySelectionDraw draw{families, kOne, choices[j]};
    const double p = std::exp(LogProbability(draw, *table, Questions(), kUnits[0]).value().Upper());
    // Seven standard deviations: less than one in 10^11 by chance.
    EXPECT_NEAR(chosen[j], kDraws * p, 7 * std::sqrt(kDraws * p * (1 - p)));
  }
  EXPECT_EQ(kernel.SelectWorstCandidate(families, kOne).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(SelectWorstCandidate, ReplaysItsTranscriptAndNoOtherQuestion) {
  const Meter paid({{{ExponentialMechanismEvent{kOne}}, 1}});
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(SealRows(Questions(), {{0, 0}, {1, 1}}).value(), Questions(), kUnits[0], paid, bits);
  Transcript transcript;
  const FamilyChoice chosen =
      RecordingQueries(kernel, transcript).SelectWorstCandidate(Families(), kOne).value();
  const auto replay = [&](const std::vector<CandidateFamily>& asked) {
    return ReplayingQueries(transcript, Questions()).SelectWorstCandidate(asked, kOne);
  };
  EXPECT_EQ(replay(Families()).value(), chosen);
  EXPECT_EQ(replay(Marginals()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SelectWorstCandidate, ChoosesTheWorstWhenEpsilonIsLarge) {
  const SealedTableHandle table = SealRows(Questions(), {{0, 0}, {1, 1}, {1, 1}, {1, 2}}).value();
  const Epsilon large(100 * kEpsilonUnitsPerOne);
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(table, Questions(), kUnits[0], Meter({{{ExponentialMechanismEvent{large}}, 2}}), bits);
  // The exact counts are 1, 2, 1 and 1, 3.
  std::vector<CandidateFamily> families = {
      {{{1}, std::vector<LinearQuery>{{{0, 1}}, {{0, 1}, {1, 1}}, {{2, 1}}}}, {2, 11, 7}},
      {{{0}, EveryCell{}}, {2, 0}}};
  EXPECT_EQ(kernel.SelectWorstCandidate(families, large).value(), (FamilyChoice{0, 1}));
  families[0].excluded = {1};
  families[0].penalty = 3;
  EXPECT_EQ(kernel.SelectWorstCandidate(families, large).value(), (FamilyChoice{1, 0}));
}

TEST(SelectWorstCandidate, CountsAnErrorAndItsPenaltyAsOftenAsTheWeightSays) {
  const SealedTableHandle table = SealRows(Questions(), {{0, 0}, {1, 1}, {1, 1}, {1, 2}}).value();
  const Epsilon large(100 * kEpsilonUnitsPerOne);
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(table, Questions(), kUnits[0], Meter({{{ExponentialMechanismEvent{large}}, 2}}), bits);
  // The exact counts are 1, 3 and 1, 2, 1: errors of 4 and 6.
  std::vector<CandidateFamily> families = {{{{0}, EveryCell{}}, {1, 7}}, {{{1}, EveryCell{}}, {1, 2, 7}}};
  families[0].weight = 2;
  EXPECT_EQ(kernel.SelectWorstCandidate(families, large).value(), (FamilyChoice{0, 0}));
  families[0].penalty = 2;
  EXPECT_EQ(kernel.SelectWorstCandidate(families, large).value(), (FamilyChoice{1, 0}));
}

TEST(SelectWorstCandidate, BoundsEachEstimateOfQueriesAndTheSumOfAMarginals) {
  constexpr double kMost = 0x1.0p50;
  const QueryGroup ranges{{1}, std::vector<LinearQuery>{{{0, 1}}, {{1, 1}}}};
  const QueryGroup marginal{{0}, EveryCell{}};
  EXPECT_TRUE(RoundFamily(Questions(), {ranges, {kMost, -kMost}, 0}).ok());
  EXPECT_EQ(RoundFamily(Questions(), {ranges, {1, -2 * kMost}, 0}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(RoundFamily(Questions(), {ranges, {std::nan(""), 1}, 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RoundFamily(Questions(), {marginal, {kMost, -kMost}, 0}).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(SelectWorstCandidate, RefusesMalformedFamiliesBeforeTheDebit) {
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(SealRows(Questions(), {}).value(), Questions(), kUnits[0],
                Meter({{{ExponentialMechanismEvent{kOne}}, 1}}), bits);
  const auto code = [&](const std::vector<CandidateFamily>& families) {
    return kernel.SelectWorstCandidate(families, kOne).status().code();
  };
  const QueryGroup marginal{{0}, EveryCell{}};
  EXPECT_EQ(code({}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1, 1}, 0, {0}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1}, 0}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1, std::nan("")}, 0}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1, 1}, 0, {1}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{{0}, std::vector<LinearQuery>{{{0, 1 << 19}}}}, {1}, 0}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{marginal, {1, 1}, 0, {}, 2}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1, 1}, 0, {}, -1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{{0}, Boxes{{{0, 1}}}}, {1}, 0, {}, 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1, 1}, 0, {}, 0, 0}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {1, 1}, 0, {}, 0, (1 << 18) + 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{marginal, {0x1.0p49, 1}, 0, {}, 0, 4}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{marginal, {1, 1}, 0x1.0p49, {}, 0, 4}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{{{0}, std::vector<LinearQuery>{{{0, 1 << 17}}}}, {1}, 0, {}, 0, 4}}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{{{0}, std::vector<LinearQuery>{}}, {}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(kernel.SelectWorstCandidate(Families(), kOne).ok());
}

}  // namespace
}  // namespace curator::dp
