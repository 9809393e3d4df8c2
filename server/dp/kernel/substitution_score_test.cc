// Selections between measuring a marginal and taking public counts: by the exact loss on neighbours.
#include "dp/kernel/substitution_score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dp/data/count_sealed_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/selection_loss.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/testing/units.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
constexpr Epsilon kLarge(200 * kEpsilonUnitsPerOne);

const Domain& TwoQuestions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 3},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 3}};

// In one marginal a record that enters the first cell moves away from the estimate and towards the public
// counts, in the other the reverse; in the last cell it is the other way round.
std::vector<SubstitutableMarginal> Opposed() {
  return {{.attributes = {0}, .estimate = {-100, 100}, .substitute = {100, -100}},
          {.attributes = {1}, .estimate = {100, 0, -100}, .substitute = {-100, 0, 100}}};
}

// The same with weights, penalties, and a marginal that can only be measured.
std::vector<SubstitutableMarginal> Weighted() {
  std::vector<SubstitutableMarginal> candidates = Opposed();
  candidates[0].weight = 2;
  candidates[0].penalty = 190;
  candidates[1].substitute_penalty = 3.5;
  candidates.push_back({.attributes = {0, 1}, .estimate = {9, -9, 9, -9, 9, -9}, .weight = 3});
  return candidates;
}

// None of them has public counts.
std::vector<SubstitutableMarginal> OnlyMeasured() {
  std::vector<SubstitutableMarginal> candidates = Opposed();
  for (SubstitutableMarginal& candidate : candidates) candidate.substitute.clear();
  return candidates;
}

// Of every choice on neighbouring tables, when the scores are divided by `range`.
SelectionLoss LossOf(const std::vector<SubstitutableMarginal>& candidates, const UnitBound& unit,
                     int64_t range) {
  return LossOfSelection(TwoQuestions(), unit, kOne, range, [&](const SealedTable& table) {
    ScoredSubstitutions scored;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto counts = CountMarginal(table, TwoQuestions(), candidates[i].attributes).value();
      AddScores(i, candidates[i], counts, RoundSubstitution(TwoQuestions(), candidates[i]).value(), scored);
    }
    return scored.scores;
  });
}

int64_t RangeOfAll(const UnitBound& unit, const std::vector<SubstitutableMarginal>& candidates) {
  return SubstitutionRange(TwoQuestions(), unit, candidates).value();
}

TEST(SelectMeasuredOrPublic, SpansNoMoreThanEpsilonAndNearlyAllOfIt) {
  for (const UnitBound& unit : kUnits) {
    for (const auto& candidates : {Opposed(), Weighted(), OnlyMeasured()}) {
      const SelectionLoss loss = LossOf(candidates, unit, RangeOfAll(unit, candidates));
      EXPECT_FALSE(loss.exceeds);
      EXPECT_GT(loss.largest, 0.5);
    }
    EXPECT_GT(LossOf(Opposed(), unit, RangeOfAll(unit, Opposed())).largest, 0.999) << "it is reached";
  }
}

TEST(SelectMeasuredOrPublicCanary, TheRangeOfMeasurementsAloneIsCaught) {
  for (const UnitBound& unit : kUnits) {
    const int64_t measured = RangeOfAll(unit, OnlyMeasured());
    EXPECT_EQ(RangeOfAll(unit, Opposed()), 2 * measured);
    EXPECT_TRUE(LossOf(Opposed(), unit, measured).exceeds);
    EXPECT_TRUE(LossOf(Opposed(), unit, 2 * measured - measured / 20).exceeds);
  }
}

TEST(SelectMeasuredOrPublicCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  for (const size_t i : {0, 1})
    EXPECT_TRUE(LossOf(Opposed(), kUnits[i + 2], RangeOfAll(kUnits[i], Opposed())).exceeds);
}

TEST(SelectMeasuredOrPublicCanary, AWeightThatTheRangeLeavesOutIsCaught) {
  EXPECT_EQ(RangeOfAll(kUnits[0], Weighted()), 2 * RangeOfAll(kUnits[0], Opposed()));
  EXPECT_TRUE(LossOf(Weighted(), kUnits[0], RangeOfAll(kUnits[0], Opposed())).exceeds);
}

TEST(SelectMeasuredOrPublicCanary, TheRecordsOfAPersonForgottenAreCaught) {
  for (const size_t i : {0, 2})
    EXPECT_TRUE(LossOf(Opposed(), kUnits[i + 1], RangeOfAll(kUnits[i], Opposed())).exceeds);
}

TEST(SubstitutionRange, CountsTwoDistancesWhereThereArePublicCounts) {
  constexpr int64_t kRecord = int64_t{1} << kScoreLatticeBits;
  EXPECT_EQ(RangeOfAll(kUnits[0], OnlyMeasured()), 2 * kRecord);
  EXPECT_EQ(RangeOfAll(kUnits[0], Opposed()), 4 * kRecord);
  EXPECT_EQ(RangeOfAll(kUnits[3], Opposed()), 24 * kRecord);
  std::vector<SubstitutableMarginal> candidates = OnlyMeasured();
  candidates[0].weight = 5;
  candidates[1].substitute = {1, 1, 1};
  EXPECT_EQ(RangeOfAll(kUnits[0], candidates), 10 * kRecord);
}

TEST(SelectMeasuredOrPublic, DrawsWithTheProbabilitiesOfItsLikelihood) {
  const SealedTableHandle table = SealRows(TwoQuestions(), {{0, 0}, {1, 1}}).value();
  constexpr int kDraws = 20'000;
  std::vector<SubstitutableMarginal> candidates = {
      {.attributes = {0}, .estimate = {0, 3}, .penalty = 1, .substitute = {1, 2}},
      {.attributes = {1}, .estimate = {2, 2, 2}, .substitute = {5, 1, 0}, .substitute_penalty = -2},
      {.attributes = {0, 1}, .estimate = {0, 0, 0, 0, 0, 0}}};
  seeded::SeededBits bits(31);
  Kernel kernel(table, TwoQuestions(), kUnits[0], Meter({{{ExponentialMechanismEvent{kOne}}, kDraws}}), bits);
  const std::vector<SubstitutionChoice> choices = {{0, false}, {0, true}, {1, false}, {1, true}, {2, false}};
  std::vector<int> chosen(choices.size());
  for (int i = 0; i < kDraws; ++i) {
    const SubstitutionChoice choice = kernel.SelectMeasuredOrPublic(candidates, kOne).value();
    const auto found = std::ranges::find(choices, choice);
    ASSERT_NE(found, choices.end());
    ++chosen[static_cast<size_t>(found - choices.begin())];
  }
  for (size_t j = 0; j < choices.size(); ++j) {
    const SubstitutionDraw draw{candidates, kOne, choices[j]};
    const double p = std::exp(LogProbability(draw, *table, TwoQuestions(), kUnits[0]).value().Upper());
    // Seven standard deviations: less than one in 10^11 by chance.
    EXPECT_NEAR(chosen[j], kDraws * p, 7 * std::sqrt(kDraws * p * (1 - p)));
  }
  EXPECT_EQ(kernel.SelectMeasuredOrPublic(candidates, kOne).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "the meter paid for no more";
}

TEST(SelectMeasuredOrPublic, ChoosesWhatLowersTheErrorMost) {
  // The exact counts are 1, 3 and 1, 2, 1.
  const SealedTableHandle table = SealRows(TwoQuestions(), {{0, 0}, {1, 1}, {1, 1}, {1, 2}}).value();
  seeded::SeededBits bits(32);
  Kernel kernel(table, TwoQuestions(), kUnits[0], Meter({{{ExponentialMechanismEvent{kLarge}}, 4}}), bits);
  const auto chosen = [&](const std::vector<SubstitutableMarginal>& candidates) {
    return kernel.SelectMeasuredOrPublic(candidates, kLarge).value();
  };
  std::vector<SubstitutableMarginal> candidates = {
      {.attributes = {0}, .estimate = {1, 7}, .penalty = 3, .substitute = {1, 4}},
      {.attributes = {1}, .estimate = {1, 2, 7}, .penalty = 5, .substitute = {9, 2, 1}}};
  // Of errors 4 and 6 a measurement leaves 3 and 5, the public counts 1 and 8.
  EXPECT_EQ(chosen(candidates), (SubstitutionChoice{0, true}));
  candidates[0].substitute_penalty = 3;
  candidates[1].penalty = 2;
  EXPECT_EQ(chosen(candidates), (SubstitutionChoice{1, false}));
  candidates[0].weight = 8;
  EXPECT_EQ(chosen(candidates), (SubstitutionChoice{0, false}));
  candidates[0].substitute_penalty = 0;
  EXPECT_EQ(chosen(candidates), (SubstitutionChoice{0, true}));
}

TEST(SelectMeasuredOrPublic, ReplaysItsTranscriptAndNoOtherQuestion) {
  seeded::SeededBits bits(33);
  Kernel kernel(SealRows(TwoQuestions(), {{0, 0}, {1, 1}}).value(), TwoQuestions(), kUnits[0],
                Meter({{{ExponentialMechanismEvent{kOne}}, 1}}), bits);
  Transcript transcript;
  const SubstitutionChoice chosen =
      RecordingQueries(kernel, transcript).SelectMeasuredOrPublic(Opposed(), kOne).value();
  ReplayingQueries replaying(transcript, TwoQuestions());
  EXPECT_EQ(replaying.SelectMeasuredOrPublic(Weighted(), kOne).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(replaying.SelectMeasuredOrPublic(Opposed(), kLarge).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(replaying.SelectMeasuredOrPublic(Opposed(), kOne).value(), chosen);
}

TEST(SelectMeasuredOrPublic, RefusesMalformedCandidatesBeforeTheDebit) {
  seeded::SeededBits bits(34);
  Kernel kernel(SealRows(TwoQuestions(), {}).value(), TwoQuestions(), kUnits[0],
                Meter({{{ExponentialMechanismEvent{kOne}}, 1}}), bits);
  const auto code = [&](const SubstitutableMarginal& candidate) {
    return kernel.SelectMeasuredOrPublic({&candidate, 1}, kOne).status().code();
  };
  const double nan = std::nan("");
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
  EXPECT_EQ(kernel.SelectMeasuredOrPublic({}, kOne).status().code(), kInvalid);
  EXPECT_EQ(kernel.SelectMeasuredOrPublic(Opposed(), Epsilon(0)).status().code(), kInvalid);
  EXPECT_EQ(code({.attributes = {7}, .estimate = {1, 1}}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1}}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, nan}}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, 1}, .penalty = nan}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, 1}, .substitute = {1}}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, 1}, .substitute = {nan, 1}}), kInvalid);
  EXPECT_EQ(
      code({.attributes = {0}, .estimate = {1, 1}, .substitute = {1, 1}, .substitute_penalty = INFINITY}),
      kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, 1}, .weight = 0}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, 1}, .weight = (1 << 18) + 1}), kInvalid);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {1, 1}, .substitute = {0x1.0p50, 1}}), kOutOfRange);
  EXPECT_EQ(code({.attributes = {0}, .estimate = {0x1.0p49, 1}, .weight = 4}), kOutOfRange);
  EXPECT_TRUE(kernel.SelectMeasuredOrPublic(Opposed(), kOne).ok());
}

TEST(SubstitutionScores, FitWhereTheyAreLargest) {
  const std::vector<int64_t> counts = {(int64_t{1} << 31) - 1, 0};
  constexpr double kMost = 0x1.0p32;  // 2^50 / weight
  for (const double estimate : {kMost, -kMost}) {
    for (const double penalty : {kMost, -kMost}) {
      const SubstitutableMarginal candidate{.attributes = {0},
                                            .estimate = {0, estimate},
                                            .penalty = penalty,
                                            .substitute = {0, 0},
                                            .substitute_penalty = penalty,
                                            .weight = 1 << 18};
      ScoredSubstitutions scored;
      AddScores(0, candidate, counts, RoundSubstitution(TwoQuestions(), candidate).value(), scored);
      const auto steps = [](double records) { return std::ldexp(records, 18 + kScoreLatticeBits); };
      const double rows = static_cast<double>(counts[0]);
      EXPECT_DOUBLE_EQ(static_cast<double>(scored.scores[0]), steps(rows + kMost - penalty));
      EXPECT_DOUBLE_EQ(static_cast<double>(scored.scores[1]), steps(kMost - penalty));
    }
  }
}

}  // namespace
}  // namespace curator::dp
