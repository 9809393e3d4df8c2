#include "dp/kernel/utility/lattice_utility.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

constexpr int64_t kStep = int64_t{1} << kUtilityLatticeBits;
constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};
constexpr UnitBound kPerson{NeighbourRelation::kAddRemove, 3};
constexpr UnitBound kReplacedPerson{NeighbourRelation::kReplaceOne, 3};

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
      ClippedNormalGroups{.attribute = 0, .values = {0, 1}, .candidates = {}},
      ClippedNormalGroups{.attribute = 0, .values = {0}, .candidates = {{0, 1, 1}}},
      ClippedNormalGroups{.attribute = 0, .values = {0, 2e6}, .candidates = {{0, 1, 1}}},
      ClippedNormalGroups{.attribute = 0, .values = {0, nan}, .candidates = {{0, 1, 1}}},
      ClippedNormalGroups{.attribute = 0, .values = {0, 1}, .candidates = {{0, -1, 1}}},
      ClippedNormalGroups{.attribute = 0, .values = {0, 1}, .candidates = {{0, 1, 0}}},
      ClippedNormalGroups{.attribute = 0, .values = {0, 1}, .candidates = {{nan, 1, 1}}},
      ClippedNormalGroups{.attribute = 0, .values = {0, 1}, .candidates = {{0, 1, 1}}, .clip = 0},
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

TEST(ToLattice, RefusesFromPublicFactsWhatCouldOverflow) {
  EXPECT_EQ(CodeOf(CellFrequency{{0}, 1}, {0, 2e12}, kRecord), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(ClippedSum{.attributes = {0}, .values = {{0, 1}}, .low = 0, .high = 1025}, {}, kRecord),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(ClippedLogLikelihood{.attributes = {0}, .log_probabilities = {{0, 1}}, .clip = 1025}, {},
                   kRecord),
            absl::StatusCode::kOutOfRange);
}

TEST(ToLattice, RefusesAQuantileWhereAUnitMayOwnAnyNumberOfRecords) {
  constexpr UnitBound kUnbounded{NeighbourRelation::kAddRemove, kNoRecordBound};
  EXPECT_EQ(CodeOf(QuantileValue{1, 1, 2}, {}, kUnbounded), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      RangeOf(ClippedNormalGroups{.attribute = 0, .values = {0, 1}, .candidates = {{0, 1, 1}}, .clip = 3},
              kUnbounded),
      3 * kStep);
  EXPECT_EQ(
      RangeOf(ClippedSum{.attributes = {0}, .values = {{0, 9}, {9, 0}}, .low = 0, .high = 2}, kUnbounded),
      2 * kStep)
      << "what is clipped needs no bound";
}

}  // namespace
}  // namespace curator::dp
