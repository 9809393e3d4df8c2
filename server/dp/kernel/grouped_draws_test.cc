// NoisySums, NoisyUnitCounts and SelectQuantiles as a whole: what they draw, their meter, their transcript.
#include "dp/kernel/grouped_draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_numbers.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/no_bits.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/testing/units.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};
constexpr UnitBound kPerson{NeighbourRelation::kAddRemove, 2};
constexpr Epsilon kOne(kEpsilonUnitsPerOne);
const NoiseSpec kLaplace{Mechanism::kDiscreteLaplace, {3, 1}};
const NoiseSpec kGaussian{Mechanism::kDiscreteGaussian, {9, 1}};

const Domain& Table() {
  static const Domain domain = NumbersDomain();
  return domain;
}

// Of regions 0, 0, 1, 1 and 1: balances -2, 3, 1, missing and 0.
const std::vector<std::vector<uint32_t>> kRows = {
    {0, 0, 0, 0}, {0, 1, 5, 2}, {1, 4, 3, 1}, {1, 2, 6, 2}, {1, 2, 2, 2}};

SealedTableHandle FiveRecords() {
  return SealRows(Table(), kRows).value();
}

// The same, of three persons.
SealedTableHandle FiveRecordsOfPersons() {
  return SealUnits(Table(), {{kRows[0], kRows[1]}, {kRows[2]}, {kRows[3], kRows[4]}});
}

RecordGroups ByRegion() {
  return GroupsBy(Table(), {kRegionColumn}, {}, {}).value();
}

GroupedSum SumOf(SummedValue::Kind kind, std::optional<uint32_t> column, int64_t centre = 0) {
  return {.groups = ByRegion(),
          .blocks = std::nullopt,
          .value = {.kind = kind, .column = column, .centre = centre}};
}

std::vector<int64_t> Exactly(const GroupedSum& sum) {
  return ExactSums(*FiveRecords(), Table(), sum).value();
}

GroupedQuantile Median() {
  return {.groups = ByRegion(), .column = kBalanceColumn, .numerator = 1, .denominator = 2};
}

Event PriceOf(const GroupedSum& sum, const UnitBound& unit, const NoiseSpec& noise) {
  const SummandRange range = RangeOf(Table(), sum.value).value();
  return NoiseEvent(noise, SumsSensitivity(unit, range, NumberOfSums(Table(), sum)).value());
}

Event PriceOf(const RecordGroups& groups, const UnitBound& unit, const NoiseSpec& noise) {
  return NoiseEvent(noise, UnitCountsSensitivity(unit, groups.groups).value());
}

TEST(ExactSums, AddWhatEachRecordHas) {
  using Kind = SummedValue::Kind;
  EXPECT_THAT(Exactly(SumOf(Kind::kOne, std::nullopt)), ElementsAre(2, 3));
  EXPECT_THAT(Exactly(SumOf(Kind::kOne, kBalanceColumn)), ElementsAre(2, 2)) << "without a missing one";
  EXPECT_THAT(Exactly(SumOf(Kind::kOne, kAgeColumn)), ElementsAre(2, 2));
  EXPECT_THAT(Exactly(SumOf(Kind::kValue, kBalanceColumn)), ElementsAre(1, 1));
  EXPECT_THAT(Exactly(SumOf(Kind::kValue, kBalanceColumn, 3)), ElementsAre(-5, -5));
  EXPECT_THAT(Exactly(SumOf(Kind::kValue, kAgeColumn)), ElementsAre(3 + 4, 5 + 5));
  EXPECT_THAT(Exactly(SumOf(Kind::kValue, kFarColumn)), ElementsAre(7 + 9, 8 + 9 + 9));
  // Squares 4, 9, 1 and 0, minus 4 each.
  EXPECT_THAT(Exactly(SumOf(Kind::kSquare, kBalanceColumn)), ElementsAre(5, -7));
}

TEST(ExactSums, AreDividedIntoBlocksOfCodes) {
  GroupedSum sum = SumOf(SummedValue::Kind::kOne, std::nullopt);
  sum.blocks = CodeBlocks{kBalanceColumn, 4};
  EXPECT_THAT(Exactly(sum), ElementsAre(1, 1, 2, 0));
  sum.blocks = CodeBlocks{kRegionColumn, 1};
  EXPECT_THAT(Exactly(sum), ElementsAre(2, 0, 0, 3));
  sum.blocks = CodeBlocks{kAgeColumn, 1};
  EXPECT_THAT(Exactly(sum), ElementsAre(1, 1, 0, 0, 0, 0, 2, 0)) << "a missing age is in no block";
}

TEST(ExactSums, AreAddedUpFromWhatEachCodeAdds) {
  for (const uint32_t column : {kAgeColumn, kBalanceColumn, kFarColumn}) {
    const NumberColumn numbers = *NumberColumnAt(Table(), column);
    for (const auto kind : {SummedValue::Kind::kOne, SummedValue::Kind::kValue, SummedValue::Kind::kSquare}) {
      const int64_t centre = kind == SummedValue::Kind::kOne ? 0 : numbers.low + 1;
      const GroupedSum sum = SumOf(kind, column, centre);
      for (int64_t code = 0; code <= numbers.steps; ++code) {
        std::vector<uint32_t> row = {1, 0, 0, 0};
        row[column] = static_cast<uint32_t>(code);
        EXPECT_THAT(ExactSums(*SealRows(Table(), {row}).value(), Table(), sum).value(),
                    ElementsAre(0, AddedBy(sum.value, numbers, code)));
      }
    }
  }
}

TEST(ExactUnitCounts, CountAUnitOnceInEachGroup) {
  EXPECT_THAT(ExactUnitCounts(*FiveRecordsOfPersons(), Table(), ByRegion()).value(), ElementsAre(1, 2));
  EXPECT_THAT(ExactUnitCounts(*FiveRecords(), Table(), ByRegion()).value(), ElementsAre(2, 3))
      << "each record is a unit";
}

TEST(ExactCodeCounts, LeaveOutRecordsWithoutANumber) {
  EXPECT_THAT(ExactCodeCounts(*FiveRecords(), Table(), Median()).value(),
              ElementsAre(1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0));
}

// The values' mean and variance over `kDraws` draws, against the exact numbers and the noise's own.
constexpr int kDraws = 4'000;

template <typename DrawOnce>
void ExpectNoiseAround(const std::vector<int64_t>& exact, const NoiseSpec& noise, const DrawOnce& draw) {
  const double variance = std::pow(ForecastError(noise).standard_deviation, 2);
  std::vector<double> sums(exact.size());
  std::vector<double> squares(exact.size());
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<int64_t> values = draw();
    ASSERT_EQ(values.size(), exact.size());
    for (size_t j = 0; j < exact.size(); ++j) {
      const auto error = static_cast<double>(values[j] - exact[j]);
      sums[j] += error;
      squares[j] += error * error;
    }
  }
  for (size_t j = 0; j < exact.size(); ++j) {
    // Seven standard deviations of a mean, and of a variance of kurtosis at most 6.
    EXPECT_LT(std::abs(sums[j] / kDraws), 7 * std::sqrt(variance / kDraws)) << j;
    EXPECT_NEAR(squares[j] / kDraws / variance, 1, 7 * std::sqrt(5.0 / kDraws)) << j;
  }
}

TEST(NoisySums, AddNoiseOfTheStatedSpreadToEverySum) {
  for (const NoiseSpec& noise : {kLaplace, kGaussian}) {
    const GroupedSum sum = SumOf(SummedValue::Kind::kValue, kFarColumn);
    seeded::SeededBits bits(1);
    Kernel kernel(FiveRecords(), Table(), kRecord, Meter({{PriceOf(sum, kRecord, noise), kDraws}}), bits);
    ExpectNoiseAround({16, 26}, noise, [&] { return kernel.NoisySums(sum, noise).value(); });
  }
}

TEST(NoisyUnitCounts, AddNoiseOfTheStatedSpreadToEveryCount) {
  for (const NoiseSpec& noise : {kLaplace, kGaussian}) {
    seeded::SeededBits bits(2);
    Kernel kernel(FiveRecordsOfPersons(), Table(), kPerson,
                  Meter({{PriceOf(ByRegion(), kPerson, noise), kDraws}}), bits);
    ExpectNoiseAround({1, 2}, noise, [&] { return kernel.NoisyUnitCounts(ByRegion(), noise).value(); });
  }
}

TEST(SelectQuantiles, DrawEachGroupsCodeWithTheProbabilityOfItsLikelihood) {
  constexpr Epsilon kThree(3 * kEpsilonUnitsPerOne);
  seeded::SeededBits bits(3);
  Kernel kernel(FiveRecords(), Table(), kRecord, Meter({{{ExponentialMechanismEvent{kThree}}, kDraws}}),
                bits);
  std::vector<std::vector<int>> chosen(6, std::vector<int>(6));
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<int64_t> codes = kernel.SelectQuantiles(Median(), kThree).value();
    ASSERT_EQ(codes.size(), 2u);
    ++chosen.at(static_cast<size_t>(codes[0])).at(static_cast<size_t>(codes[1]));
  }
  double all = 0;
  for (int64_t one = 0; one < 6; ++one) {
    for (int64_t other = 0; other < 6; ++other) {
      const QuantilesDraw draw{.quantile = Median(), .epsilon = kThree, .selected = {one, other}};
      const double p = std::exp(LogProbability(draw, *FiveRecords(), Table(), kRecord).value().Upper());
      EXPECT_NEAR(chosen[static_cast<size_t>(one)][static_cast<size_t>(other)], kDraws * p,
                  7 * std::sqrt(kDraws * p * (1 - p)) + 1);
      all += p;
    }
  }
  EXPECT_NEAR(all, 1, 1e-9);
}

TEST(SelectQuantiles, FindTheMiddleOfManyRecords) {
  std::vector<std::vector<uint32_t>> rows(900, {0, 0, 1, 0});
  rows.insert(rows.end(), 800, {0, 0, 5, 0});
  rows.insert(rows.end(), 300, {1, 0, 4, 0});
  rows.insert(rows.end(), 5'000, {1, 0, 6, 0});  // no number
  seeded::SeededBits bits(4);
  Kernel kernel(SealRows(Table(), rows).value(), Table(), kRecord,
                Meter({{{ExponentialMechanismEvent{kOne}}, 1}}), bits);
  EXPECT_THAT(kernel.SelectQuantiles(Median(), kOne).value(), ElementsAre(1, 4));
}

// Every operator on a kernel that has paid for `schedule`.
std::vector<absl::StatusCode> AskAll(const UnitBound& unit, std::vector<CountedEvent> schedule,
                                     const NoiseSpec& noise, Epsilon epsilon) {
  NoBits bits;
  Kernel kernel(FiveRecords(), Table(), unit, Meter(std::move(schedule)), bits);
  return {kernel.NoisySums(SumOf(SummedValue::Kind::kValue, kFarColumn), noise).status().code(),
          kernel.NoisyUnitCounts(ByRegion(), noise).status().code(),
          kernel.SelectQuantiles(Median(), epsilon).status().code()};
}

TEST(GroupedDraws, AreRefusedBeforeAnyLookWhenNotOnTheSchedule) {
  const GroupedSum sum = SumOf(SummedValue::Kind::kValue, kFarColumn);
  const std::vector<CountedEvent> of_records = {{PriceOf(sum, kRecord, kLaplace), 1},
                                                {PriceOf(ByRegion(), kRecord, kLaplace), 1},
                                                {{ExponentialMechanismEvent{kOne}}, 1}};
  const auto refused = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(AskAll(kRecord, {}, kLaplace, kOne), ElementsAre(refused, refused, refused));
  EXPECT_THAT(AskAll(kRecord, of_records, kGaussian, Epsilon(2 * kOne.units())),
              ElementsAre(refused, refused, refused))
      << "other noise, another epsilon";
  EXPECT_THAT(AskAll(kReplaced, of_records, kLaplace, kOne), ElementsAre(refused, refused, refused))
      << "the prices of another relation; of several groups one selection";
}

TEST(GroupedDraws, AreRefusedOneDrawBeyondTheSchedule) {
  const GroupedSum sum = SumOf(SummedValue::Kind::kSquare, kBalanceColumn);
  seeded::SeededBits bits(5);
  Kernel kernel(FiveRecords(), Table(), kReplaced,
                Meter({{PriceOf(sum, kReplaced, kGaussian), 1},
                       {PriceOf(ByRegion(), kReplaced, kLaplace), 1},
                       {{ExponentialMechanismEvent{kOne}}, 3}}),
                bits);
  EXPECT_TRUE(kernel.NoisySums(sum, kGaussian).ok());
  EXPECT_FALSE(kernel.NoisySums(sum, kGaussian).ok());
  EXPECT_TRUE(kernel.NoisyUnitCounts(ByRegion(), kLaplace).ok());
  EXPECT_FALSE(kernel.NoisyUnitCounts(ByRegion(), kLaplace).ok());
  EXPECT_TRUE(kernel.SelectQuantiles(Median(), kOne).ok()) << "of two groups: two selections";
  GroupedQuantile of_all = Median();
  of_all.groups = GroupsBy(Table(), {}, {}, {}).value();
  EXPECT_TRUE(kernel.SelectQuantiles(of_all, kOne).ok()) << "of one group: one";
  EXPECT_FALSE(kernel.SelectQuantiles(of_all, kOne).ok());
}

TEST(GroupedDraws, AreRefusedWhereTheyMakeNoSense) {
  NoBits bits;
  Kernel kernel(FiveRecords(), Table(), kPerson, Meter({}), bits);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(kernel.NoisySums(SumOf(SummedValue::Kind::kValue, kRegionColumn), kLaplace).status().code(),
            invalid);
  EXPECT_EQ(kernel.NoisyUnitCounts({.attributes = {0}, .group_of_cell = {0}, .groups = 1}, kLaplace)
                .status()
                .code(),
            invalid);
  EXPECT_EQ(kernel.SelectQuantiles(Median(), Epsilon(0)).status().code(), invalid);
  GroupedQuantile fine = Median();
  fine.denominator = kLargestQuantileDenominator + 1;
  EXPECT_EQ(kernel.SelectQuantiles(fine, kOne).status().code(), invalid);
  EXPECT_EQ(kernel.NoisyUnitCounts(ByRegion(), kLaplace).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "the table does not say whose each record is";
}

TEST(GroupedDraws, OfUnitsWithoutABoundAreCountsOfUnitsAlone) {
  constexpr UnitBound kUnbounded{NeighbourRelation::kAddRemove, kNoRecordBound};
  seeded::SeededBits bits(6);
  Kernel kernel(FiveRecordsOfPersons(), Table(), kUnbounded,
                Meter({{PriceOf(ByRegion(), kUnbounded, kLaplace), 1}}), bits);
  EXPECT_EQ(kernel.NoisySums(SumOf(SummedValue::Kind::kOne, std::nullopt), kLaplace).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(kernel.SelectQuantiles(Median(), kOne).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(kernel.NoisyUnitCounts(ByRegion(), kLaplace).ok());
}

TEST(GroupedDraws, AreReplayedWithoutATable) {
  const GroupedSum sum = SumOf(SummedValue::Kind::kOne, kBalanceColumn);
  seeded::SeededBits bits(7);
  Kernel kernel(FiveRecords(), Table(), kRecord,
                Meter({{PriceOf(sum, kRecord, kLaplace), 1},
                       {PriceOf(ByRegion(), kRecord, kGaussian), 1},
                       {{ExponentialMechanismEvent{kOne}}, 1}}),
                bits);
  Transcript transcript;
  RecordingQueries recording(kernel, transcript);
  const std::vector<int64_t> sums = recording.NoisySums(sum, kLaplace).value();
  const std::vector<int64_t> units = recording.NoisyUnitCounts(ByRegion(), kGaussian).value();
  const std::vector<int64_t> codes = recording.SelectQuantiles(Median(), kOne).value();
  ReplayingQueries same(transcript, Table());
  EXPECT_EQ(same.NoisySums(sum, kLaplace).value(), sums);
  EXPECT_FALSE(same.NoisyUnitCounts(ByRegion(), kLaplace).ok()) << "another noise";
  EXPECT_EQ(same.NoisyUnitCounts(ByRegion(), kGaussian).value(), units);
  EXPECT_EQ(same.SelectQuantiles(Median(), kOne).value(), codes);
  EXPECT_FALSE(same.SelectQuantiles(Median(), kOne).ok());
}

TEST(GroupedDraws, ThatAKernelCouldNotHaveMadeHaveNoLikelihood) {
  const SealedTableHandle table = FiveRecords();
  const auto code_of = [&](const Draw& draw) {
    return LogProbability(draw, *table, Table(), kRecord).status().code();
  };
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code_of(SumsDraw{SumOf(SummedValue::Kind::kOne, std::nullopt), kLaplace, {1}}), invalid);
  EXPECT_EQ(code_of(UnitCountsDraw{ByRegion(), kLaplace, {1, 2, 3}}), invalid);
  EXPECT_EQ(code_of(QuantilesDraw{Median(), kOne, {1}}), invalid);
  EXPECT_EQ(code_of(QuantilesDraw{Median(), kOne, {1, 6}}), invalid);
  EXPECT_EQ(code_of(QuantilesDraw{Median(), kOne, {1, -1}}), invalid);
  EXPECT_EQ(code_of(QuantilesDraw{Median(), Epsilon(0), {1, 1}}), invalid);
}

}  // namespace
}  // namespace curator::dp
