#include "dp/kernel/utility/lattice_utility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

constexpr int64_t kStep = int64_t{1} << kUtilityLatticeBits;
constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};
constexpr UnitBound kPerson{NeighbourRelation::kAddRemove, 3};
constexpr UnitBound kReplacedPerson{NeighbourRelation::kReplaceOne, 3};

const NormalGroups kTwoCodes{
    .values = {0, 1}, .low = 0, .high = 1, .means = {0, 0.5}, .betweens = {1}, .withins = {0.5, 1}};

int64_t RangeOf(const Utility& utility, const UnitBound& unit) {
  return ToLattice(utility, {}, CodedDomain({2, 3}), unit).value().range;
}

TEST(UtilityRange, OfAClippedSumIsItsWidthAndTwiceThatUnderReplacement) {
  const ClippedSum sum{.attributes = {0}, .values = {{0, 9}, {9, 0}}, .low = -1, .high = 1.5};
  EXPECT_EQ(RangeOf(sum, kPerson), 5 * kStep / 2);
  EXPECT_EQ(RangeOf(sum, kReplacedPerson), 5 * kStep);
}

TEST(UtilityRange, OfAClippedSumIsSmallerWhereCandidatesDifferLittle) {
  const ClippedSum sum{.attributes = {0}, .values = {{5, 2}, {5.25, 2}}, .low = 0, .high = 10};
  EXPECT_EQ(RangeOf(sum, kRecord), kStep / 4);
  EXPECT_EQ(RangeOf(sum, kPerson), 3 * kStep / 4);
  EXPECT_EQ(RangeOf(sum, kReplacedPerson), 3 * kStep / 2);
}

TEST(UtilityRange, OfALogLikelihoodIsItsClip) {
  const double impossible = -std::numeric_limits<double>::infinity();
  const ClippedLogLikelihood utility{
      .attributes = {0}, .log_probabilities = {{0, impossible}, {std::log(0.5), std::log(0.5)}}, .clip = 4};
  EXPECT_EQ(RangeOf(utility, kRecord), 4 * kStep);
  EXPECT_EQ(RangeOf(utility, kReplacedPerson), 8 * kStep);
}

TEST(UtilityRange, OfAFrequencyIsWhatAUnitMayContribute) {
  EXPECT_EQ(RangeOf(CellFrequency{{0, 1}, 1}, kPerson), kStep);
  EXPECT_EQ(RangeOf(CellFrequency{{0, 1}, 2}, kPerson), 2 * kStep);
  EXPECT_EQ(RangeOf(CellFrequency{{0, 1}, 9}, kPerson), 3 * kStep);
  EXPECT_EQ(RangeOf(CellFrequency{{0, 1}, 9}, kReplacedRecord), 2 * kStep);
}

TEST(UtilityRange, OfAQuantileIsTwiceItsLeaveOneOutBound) {
  EXPECT_EQ(RangeOf(QuantileValue{1, 1, 4}, kRecord), 2 * 3 * kStep);
  EXPECT_EQ(RangeOf(QuantileValue{1, 1, 4}, kReplacedRecord), 2 * 4 * kStep);
  EXPECT_EQ(RangeOf(QuantileValue{1, 1, 2}, kPerson), 2 * 3 * kStep);
}

TEST(UtilityRange, IsAtLeastOneStepWhereAllCandidatesAreAlike) {
  EXPECT_EQ(RangeOf(ClippedSum{.attributes = {0}, .values = {{1, 1}, {1, 1}}, .low = 0, .high = 1}, kRecord),
            1);
}

TEST(ToLattice, RoundsValuesAndBonusesToTheNearestStep) {
  const double step = std::ldexp(1.0, -kUtilityLatticeBits);
  const ClippedSum sum{.attributes = {0}, .values = {{0.4 * step, 0.6 * step}}, .low = 0, .high = 1};
  const std::vector<double> bonuses = {-2.6 * step};
  const LatticeUtility lattice = ToLattice(sum, bonuses, CodedDomain({2}), kRecord).value();
  EXPECT_EQ(std::get<LatticeSum>(lattice.kind).values, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(lattice.bonuses, std::vector<int64_t>{-3});
}

absl::StatusCode CodeOf(const Utility& utility, const std::vector<double>& bonuses, const UnitBound& unit) {
  return ToLattice(utility, bonuses, CodedDomain({2, 3}), unit).status().code();
}

TEST(ToLattice, RefusesMalformedQuestions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<Utility> malformed = {
      ClippedSum{.attributes = {0}, .values = {}},
      ClippedSum{.attributes = {7}, .values = {{0, 0}}},
      ClippedSum{.attributes = {}, .values = {{0, 0}}},
      ClippedSum{.attributes = {0}, .values = {{0, 0, 0}}},
      ClippedSum{.attributes = {0}, .values = {{0, 1}, {0}}},
      ClippedSum{.attributes = {0}, .values = {{0, nan}}},
      ClippedSum{.attributes = {0}, .values = {{0, infinity}}},
      ClippedSum{.attributes = {0}, .values = {{0, 1}}, .low = 1, .high = 1},
      ClippedSum{.attributes = {0}, .values = {{0, 1}}, .low = nan, .high = 1},
      ClippedSum{.attributes = {0}, .values = {{0, 1}}, .low = 0, .high = 1e-9},
      ClippedLogLikelihood{.attributes = {0}, .log_probabilities = {{0, 1}}, .clip = 0},
      ClippedLogLikelihood{.attributes = {0}, .log_probabilities = {{0, 1}}, .clip = infinity},
      CellFrequency{{0}, 0},
      CellFrequency{{0}, kMaxRecordsPerUnit + 1},
      QuantileValue{0, 0, 2},
      QuantileValue{0, 2, 2},
      QuantileValue{0, 1, kLargestQuantileDenominator + 1},
      QuantileValue{2, 1, 2},
  };
  for (size_t i = 0; i < malformed.size(); ++i)
    EXPECT_EQ(CodeOf(malformed[i], {}, kRecord), absl::StatusCode::kInvalidArgument) << i;
  const CellFrequency sound{{0}, 1};
  EXPECT_EQ(CodeOf(sound, {1}, kRecord), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(sound, {1, nan}, kRecord), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(sound, {}, {NeighbourRelation::kAddRemove, 0}), absl::StatusCode::kInvalidArgument);
}

ClippedGroups OnGroups(const std::function<void(NormalGroups&)>& change) {
  ClippedGroups utility{.attribute = 0, .model = kTwoCodes};
  change(std::get<NormalGroups>(utility.model));
  return utility;
}

TEST(ToLattice, RefusesMalformedModelsOfGroups) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const BinomialGroups binomial{.successes = {0, 1}, .edge = 0.01, .means = {0.5}, .correlations = {0.1}};
  ClippedGroups without_clip = OnGroups([](NormalGroups&) {});
  without_clip.clip = 0;
  ClippedGroups of_width_nan = OnGroups([](NormalGroups&) {});
  of_width_nan.records = RecordWeights::kVector;
  of_width_nan.width = nan;
  ClippedGroups inside = OnGroups([](NormalGroups& model) { model.betweens = {0}; });
  inside.group = GroupWeight::kInside;
  ClippedGroups almost_alike = OnGroups([](NormalGroups& model) { model.betweens = {1, 1e-200}; });
  almost_alike.group = GroupWeight::kInside;
  ClippedGroups inside_binomial{.attribute = 0, .model = binomial, .group = GroupWeight::kInside};
  const std::vector<Utility> malformed = {
      OnGroups([](NormalGroups& model) { model.means = {}; }),
      OnGroups([](NormalGroups& model) { model.means = {1.1}; }),
      OnGroups([=](NormalGroups& model) { model.means = {nan}; }),
      OnGroups([](NormalGroups& model) { model.values = {0}; }),
      OnGroups([=](NormalGroups& model) {
        model.values = {0, nan};
      }),
      OnGroups([](NormalGroups& model) { model.high = model.low; }),
      OnGroups([](NormalGroups& model) { model.high = 2e6; }),
      OnGroups([](NormalGroups& model) { model.betweens = {-1}; }),
      OnGroups([](NormalGroups& model) { model.withins = {0.0009}; }),
      OnGroups([](NormalGroups& model) { model.withins = {}; }),
      without_clip,
      of_width_nan,
      inside,
      almost_alike,
      inside_binomial,
      ClippedGroups{.attribute = 0, .model = BinomialGroups{{0, 2}, 0.01, {0.5}, {0.1}}},
      ClippedGroups{.attribute = 0, .model = BinomialGroups{{0, 1}, 0, {0.5}, {0.1}}},
      ClippedGroups{.attribute = 0, .model = BinomialGroups{{0, 1}, 0.1, {0.05}, {0.1}}},
      ClippedGroups{.attribute = 0, .model = BinomialGroups{{0, 1}, 0.1, {0.5}, {1}}},
      ClippedGroups{.attribute = 0, .model = BinomialGroups{{0, 1, 1}, 0.1, {0.5}, {0.1}}},
      RecordsInGroups{.attribute = 0, .model = kTwoCodes, .width = 0},
      RecordsInGroups{.attribute = 9, .model = kTwoCodes},
  };
  for (size_t i = 0; i < malformed.size(); ++i)
    EXPECT_EQ(CodeOf(malformed[i], {}, kRecord), absl::StatusCode::kInvalidArgument) << i;
  EXPECT_EQ(CodeOf(RecordsInGroups{.attribute = 0, .model = kTwoCodes}, {}, kPerson),
            absl::StatusCode::kInvalidArgument)
      << "one record is bounded, not three";
  const ClippedGroups around{.attribute = 0, .model = kTwoCodes, .role = GroupRole::kAroundRecord};
  EXPECT_EQ(CodeOf(around, {}, kPerson), absl::StatusCode::kInvalidArgument) << "a unit is one record";
}

TEST(UtilityRange, OfClippedGroupsIsTheClipWhereTheyEnterAndTwiceThatWhereTheyChange) {
  ClippedGroups utility{.attribute = 0, .model = kTwoCodes, .clip = 3};
  EXPECT_EQ(RangeOf(utility, kRecord), 3 * kStep);
  EXPECT_EQ(RangeOf(utility, kReplacedPerson), 6 * kStep);
  utility.role = GroupRole::kAroundRecord;
  EXPECT_EQ(RangeOf(utility, kRecord), 6 * kStep);
  EXPECT_EQ(RangeOf(utility, kReplacedRecord), 12 * kStep);
}

TEST(UtilityRange, OfRecordsInGroupsIsTheirWidthAndAFewSteps) {
  const RecordsInGroups utility{.attribute = 0, .model = kTwoCodes, .width = 0.5};
  EXPECT_NEAR(static_cast<double>(RangeOf(utility, kRecord)), 0.5 * kStep, 64);
  EXPECT_EQ(RangeOf(utility, kReplacedRecord), 2 * RangeOf(utility, kRecord));
}

TEST(ToLattice, RefusesFromPublicFactsWhatCouldOverflow) {
  NormalGroups narrow = kTwoCodes;
  narrow.withins = {0.01};
  EXPECT_EQ(
      CodeOf(RecordsInGroups{.attribute = 0, .model = narrow, .records = RecordWeights::kOne}, {}, kRecord),
      absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(ClippedGroups{.attribute = 0, .model = kTwoCodes, .clip = 1025}, {}, kRecord),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(CellFrequency{{0}, 1}, {0, 2e12}, kRecord), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(ClippedSum{.attributes = {0}, .values = {{0, 1}}, .low = 0, .high = 1025}, {}, kRecord),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(ClippedLogLikelihood{.attributes = {0}, .log_probabilities = {{0, 1}}, .clip = 1025}, {},
                   kRecord),
            absl::StatusCode::kOutOfRange);
}

TEST(ToLattice, RefusesMoreCandidatesThanMemoryIsSetAsideFor) {
  const Domain wide = CodedDomain({1 << 13, 1 << 13});
  const ClippedSum two{.attributes = {0, 1}, .values = {{}, {}}};
  EXPECT_EQ(ToLattice(two, {}, wide, kRecord).status().code(), absl::StatusCode::kOutOfRange);
  const BinomialGroups many{.successes = {0, 1},
                            .edge = 0.01,
                            .means = std::vector<double>(257, 0.5),
                            .correlations = std::vector<double>(256, 0.1)};
  EXPECT_EQ(CodeOf(ClippedGroups{.attribute = 0, .model = many}, {}, kRecord), absl::StatusCode::kOutOfRange);
}

TEST(ToLattice, RefusesAQuantileWhereAUnitMayOwnAnyNumberOfRecords) {
  constexpr UnitBound kUnbounded{NeighbourRelation::kAddRemove, kNoRecordBound};
  EXPECT_EQ(CodeOf(QuantileValue{1, 1, 2}, {}, kUnbounded), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(RangeOf(ClippedGroups{.attribute = 0, .model = kTwoCodes, .clip = 3}, kUnbounded), 3 * kStep);
  EXPECT_EQ(
      RangeOf(ClippedSum{.attributes = {0}, .values = {{0, 9}, {9, 0}}, .low = 0, .high = 2}, kUnbounded),
      2 * kStep)
      << "what is clipped needs no bound";
}

}  // namespace
}  // namespace curator::dp
