// Groups of queries at the kernel's door: their counts and their selection, by the exact loss on neighbours.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dp/data/count_sealed_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/likelihood.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/utility/testing_units.h"
#include "dp/noise/drbg.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
const NoiseSpec kSmallNoise{Mechanism::kDiscreteLaplace, {1, 20}};

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 3},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 3}};

// A range, a parity, a single cell and a whole marginal; two of them share a marginal.
const std::vector<QueryGroup> kGroups = {
    {{1}, std::vector<LinearQuery>{{{0, 1}}, {{0, 1}, {1, 1}}}},
    {{0, 1}, std::vector<LinearQuery>{{{0, 1}, {1, -1}, {2, 1}, {3, -1}, {4, 1}, {5, -1}}}},
    {{0, 1}, std::vector<LinearQuery>{{{3, 1}}}},
    {{0}, EveryCell{}},
    {{1}, Boxes{{{0, 1}, {1, 2}}}}};

std::vector<ApproximatedGroup> Candidates(GroupError error) {
  std::vector<ApproximatedGroup> candidates;
  for (const QueryGroup& group : kGroups) {
    const auto answers = static_cast<size_t>(NumberOfQueries(Questions(), group));
    // Far above or far below, by turns: records that enter raise some errors and lower others.
    const double estimate = candidates.size() % 2 == 0 ? 100 : -100;
    candidates.push_back({.group = group,
                          .estimate = std::vector<double>(answers, estimate),
                          .penalty = 100 * static_cast<double>(error == GroupError::kSum ? answers : 1),
                          .error = error});
  }
  return candidates;
}

TEST(NoisyCountsOfQueries, AreTheirAnswersPlusNoise) {
  const SealedTableHandle table = SealRows(Questions(), {{0, 0}, {0, 1}, {1, 0}, {1, 2}}).value();
  const UnitBound record = kUnits[0];
  const Sensitivity sensitivity = QueriesSensitivity(Questions(), record, kGroups).value();
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(table, Questions(), record, Meter({{NoiseEvent(kSmallNoise, sensitivity), 1}}), bits);
  Transcript transcript;
  kernel.RecordTo(transcript);
  // Noise of scale 1/20 is 0 but for a probability of 2 e^-20 each.
  const std::vector<std::vector<int64_t>> truth = {{2, 3}, {1 - 1 + 0 - 1 + 0 - 1}, {1}, {2, 2}, {3, 2}};
  EXPECT_EQ(kernel.NoisyCounts(kGroups, kSmallNoise).value(), truth);
  EXPECT_EQ(kernel.NoisyCounts(kGroups, kSmallNoise).status().code(), absl::StatusCode::kFailedPrecondition);

  Kernel replay =
      Kernel::Replaying(transcript, Questions(), record, Meter({{NoiseEvent(kSmallNoise, sensitivity), 1}}));
  EXPECT_EQ(replay.NoisyCounts(kGroups, kSmallNoise).value(), truth);
}

TEST(NoisyCountsOfQueries, PricedAsOneMarginalEachAreRefused) {
  const UnitBound record = kUnits[0];
  const auto marginals = MarginalsSensitivity(record, static_cast<int64_t>(kGroups.size())).value();
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(SealRows(Questions(), {}).value(), Questions(), record,
                Meter({{NoiseEvent(kSmallNoise, marginals), 1}}), bits);
  EXPECT_EQ(kernel.NoisyCounts(kGroups, kSmallNoise).status().code(), absl::StatusCode::kFailedPrecondition)
      << "two nested ranges count a record twice";
}

// The largest |loss| of a draw on any pair of neighbours, with the most telling values; whether it exceeds
// epsilon.
struct Loss {
  bool exceeds = false;
  double largest = 0;
};

Loss LossOfCounts(const UnitBound& unit, const NoiseSpec& noise) {
  Loss loss;
  for (const NeighbouringUnits& pair : NeighboursInOneUnit(Questions(), unit, 20, 3)) {
    for (const int64_t far : {-1000, 1000}) {
      for (const int64_t parity : {-1000, 1000}) {
        const QueriesDraw draw{kGroups, noise, {{far, far}, {parity}, {far}, {far, far}, {far, far}}};
        const Interval change =
            LogProbability(draw, *SealUnits(Questions(), pair.one), Questions(), unit).value() -
            LogProbability(draw, *SealUnits(Questions(), pair.other), Questions(), unit).value();
        const Interval price = Interval::Of(kOne);
        loss.exceeds = loss.exceeds || change.CertainlyAbove(price) || (-change).CertainlyAbove(price);
        loss.largest = std::max({loss.largest, change.Upper(), -change.Lower()});
      }
    }
  }
  return loss;
}

TEST(NoisyCountsOfQueries, LoseNoMoreThanTheirPrice) {
  for (const UnitBound& unit : kUnits) {
    const Sensitivity sensitivity = QueriesSensitivity(Questions(), unit, kGroups).value();
    const Loss loss = LossOfCounts(unit, LaplaceNoiseFor(sensitivity, kOne).value());
    EXPECT_FALSE(loss.exceeds);
    EXPECT_GT(loss.largest, 0.5);
  }
}

TEST(NoisyCountsOfQueriesCanary, AGroupTakenForOneQueryIsCaught) {
  const Sensitivity broken = MarginalsSensitivity(kUnits[0], 3).value();
  EXPECT_TRUE(LossOfCounts(kUnits[0], LaplaceNoiseFor(broken, kOne).value()).exceeds);
}

// Of every choice, when the scores are divided by `range`.
Loss LossOfSelection(const std::vector<ApproximatedGroup>& candidates, const UnitBound& unit, int64_t range) {
  const auto log_probabilities = [&](const Units& units) {
    const SealedTableHandle table = SealUnits(Questions(), units);
    std::vector<int64_t> scores;
    for (const ApproximatedGroup& candidate : candidates) {
      const auto counts = CountMarginal(*table, Questions(), candidate.group.attributes).value();
      const std::vector<int64_t> answers = AnswersFromCounts(Questions(), candidate.group, counts);
      scores.push_back(ScoreOf(
          answers,
          RoundToLattice(candidate.estimate, candidate.penalty, static_cast<int64_t>(answers.size())).value(),
          candidate.error));
    }
    std::vector<Interval> result;
    for (size_t i = 0; i < candidates.size(); ++i)
      result.push_back(SelectionLogProbability(scores, FactorForRange(kOne, range), i));
    return result;
  };
  Loss loss;
  for (const NeighbouringUnits& pair : NeighboursInOneUnit(Questions(), unit, 20, 4)) {
    const std::vector<Interval> one = log_probabilities(pair.one);
    const std::vector<Interval> other = log_probabilities(pair.other);
    for (size_t i = 0; i < one.size(); ++i) {
      for (size_t j = 0; j < one.size(); ++j) {
        const Interval span = (one[i] - other[i]) - (one[j] - other[j]);
        loss.exceeds = loss.exceeds || span.CertainlyAbove(Interval::Of(kOne));
        loss.largest = std::max(loss.largest, span.Upper());
      }
    }
  }
  return loss;
}

TEST(SelectWorstApproximatedGroup, SpansNoMoreThanEpsilonAndNearlyAllOfIt) {
  for (const UnitBound& unit : kUnits) {
    for (const GroupError error : {GroupError::kSum, GroupError::kLargest}) {
      const auto candidates = Candidates(error);
      const Loss loss = LossOfSelection(candidates, unit, ErrorRange(Questions(), unit, candidates).value());
      EXPECT_FALSE(loss.exceeds);
      EXPECT_GT(loss.largest, 0.7);
    }
  }
}

TEST(SelectWorstApproximatedGroupCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  // A record that moves from the first cell of all to the last one raises both errors of the first marginal
  // and lowers those of the second.
  const std::vector<ApproximatedGroup> marginals = {{{{0}, EveryCell{}}, {100, -100}, 200},
                                                    {{{1}, EveryCell{}}, {-100, 0, 100}, 200}};
  const int64_t add_remove = ErrorRange(Questions(), kUnits[0], marginals).value();
  const int64_t replace = ErrorRange(Questions(), kUnits[2], marginals).value();
  EXPECT_TRUE(LossOfSelection(marginals, kUnits[2], add_remove).exceeds);
  EXPECT_FALSE(LossOfSelection(marginals, kUnits[2], replace).exceeds);
  EXPECT_GT(LossOfSelection(marginals, kUnits[2], replace).largest, 0.999);
}

TEST(SelectWorstApproximatedGroupCanary, AGroupTakenForOneQueryIsCaught) {
  std::vector<ApproximatedGroup> candidates = Candidates(GroupError::kSum);
  EXPECT_TRUE(LossOfSelection(candidates, kUnits[0], 2 << kScoreLatticeBits).exceeds);
}

TEST(ErrorSensitivity, IsOneForSingleQueriesAndForLargestErrorsOfMarginals) {
  const auto of = [](const QueryGroup& group, GroupError error, const UnitBound& unit) {
    return ErrorSensitivity(Questions(), unit, {group, {}, 0, error}).value();
  };
  for (const GroupError error : {GroupError::kSum, GroupError::kLargest}) {
    EXPECT_EQ(of(kGroups[2], error, kUnits[0]), 1);
    EXPECT_EQ(of(kGroups[2], error, kUnits[2]), 1);
  }
  EXPECT_EQ(of(kGroups[3], GroupError::kSum, kUnits[0]), 1);
  EXPECT_EQ(of(kGroups[3], GroupError::kSum, kUnits[2]), 2);
  EXPECT_EQ(of(kGroups[3], GroupError::kSum, kUnits[3]), 6);
  EXPECT_EQ(of(kGroups[3], GroupError::kLargest, kUnits[2]), 1);
  EXPECT_EQ(of(kGroups[3], GroupError::kLargest, kUnits[3]), 3);
}

TEST(SelectWorstApproximatedGroup, DrawsWithTheProbabilitiesOfItsLikelihood) {
  const SealedTableHandle table = SealRows(Questions(), {{0, 0}, {1, 1}}).value();
  constexpr int kDraws = 20'000;
  const auto candidates = Candidates(GroupError::kSum);
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(table, Questions(), kUnits[0], Meter({{{ExponentialMechanismEvent{kOne}}, kDraws}}), bits);
  std::vector<int> chosen(candidates.size());
  for (int i = 0; i < kDraws; ++i) ++chosen[kernel.SelectWorstApproximated(candidates, kOne).value()];
  for (size_t j = 0; j < candidates.size(); ++j) {
    const double p =
        std::exp(LogProbability(GroupSelectionDraw{candidates, kOne, j}, *table, Questions(), kUnits[0])
                     .value()
                     .Upper());
    // Seven standard deviations: less than one in 10^11 by chance.
    EXPECT_NEAR(chosen[j], kDraws * p, 7 * std::sqrt(kDraws * p * (1 - p)));
  }
  EXPECT_EQ(kernel.SelectWorstApproximated(candidates, kOne).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(SelectWorstApproximatedGroup, ReplaysItsTranscriptAndNoOtherQuestion) {
  const Meter paid({{{ExponentialMechanismEvent{kOne}}, 1}});
  const auto candidates = Candidates(GroupError::kSum);
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(SealRows(Questions(), {{0, 0}, {1, 1}}).value(), Questions(), kUnits[0], paid, bits);
  Transcript transcript;
  kernel.RecordTo(transcript);
  const size_t chosen = kernel.SelectWorstApproximated(candidates, kOne).value();
  const auto replay = [&](const std::vector<ApproximatedGroup>& asked) {
    return Kernel::Replaying(transcript, Questions(), kUnits[0], paid).SelectWorstApproximated(asked, kOne);
  };
  EXPECT_EQ(replay(candidates).value(), chosen);
  EXPECT_EQ(replay(Candidates(GroupError::kLargest)).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SelectWorstApproximatedGroup, RefusesMalformedCandidatesBeforeTheDebit) {
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(SealRows(Questions(), {}).value(), Questions(), kUnits[0],
                Meter({{{ExponentialMechanismEvent{kOne}}, 1}}), bits);
  const auto code = [&](const ApproximatedGroup& candidate) {
    return kernel.SelectWorstApproximated(std::span(&candidate, 1), kOne).status().code();
  };
  EXPECT_EQ(kernel.SelectWorstApproximated(std::span<const ApproximatedGroup>(), kOne).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({kGroups[2], {1, 2}, 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({kGroups[2], {std::numeric_limits<double>::quiet_NaN()}, 0}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{0}, std::vector<LinearQuery>{}}, {}, 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{0}, std::vector<LinearQuery>{{{0, 1 << 19}}}}, {1}, 0}), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(kernel.SelectWorstApproximated(Candidates(GroupError::kLargest), kOne).ok());
}

}  // namespace
}  // namespace curator::dp
