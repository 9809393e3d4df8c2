// Layer 3 of the audit, on the operators of groups: from what the kernel released on two neighbouring tables
// no onlooker proves a loss above the price; and variants that are priced or drawn wrongly are proved to lose
// more.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_numbers.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/units.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/black_box.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::NeighbourRelation;
using dp::UnitBound;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{NeighbourRelation::kReplaceOne, 1};
constexpr UnitBound kPerson{NeighbourRelation::kAddRemove, 2};
constexpr dp::Epsilon kOne(dp::kEpsilonUnitsPerOne);

const dp::Domain& Table() {
  static const dp::Domain domain = dp::NumbersDomain();
  return domain;
}

using Records = dp::UnitRecords;

// One output of a release, as an integer.
using Release = std::function<int64_t(dp::PrivateQueries& kernel)>;

// `paid` is what one release takes of the meter.
PairOfSamples Sampled(const dp::Units& one, const dp::Units& other, const UnitBound& unit,
                      const dp::CountedEvent& paid, const Release& release, size_t size, uint64_t seed) {
  PairOfSamples samples;
  for (const auto& [units, outputs] :
       {std::pair(&one, &samples.on_table), std::pair(&other, &samples.on_neighbour)}) {
    seeded::SeededBits bits(AuditSeed(seed++));
    dp::Kernel kernel(dp::SealUnits(Table(), *units), Table(), unit,
                      dp::Meter({{paid.event, paid.count * static_cast<int64_t>(size)}}), bits);
    for (size_t i = 0; i < size; ++i) outputs->push_back(release(kernel));
  }
  return samples;
}

dp::NoiseSpec SoldForOne(int64_t l1) {
  return {dp::Mechanism::kDiscreteLaplace, {l1, 1}};
}

dp::GroupedSum SumOfAll(uint32_t column) {
  return {.groups = dp::GroupsBy(Table(), {}, {}, {}).value(),
          .blocks = std::nullopt,
          .value = {.kind = dp::SummedValue::Kind::kValue, .column = column, .centre = 0}};
}

// The sum of a column on two tables, with noise that `l1` of a unit's move would sell for an epsilon of 1.
LowerBound LossOfSum(uint32_t column, const dp::Units& one, const dp::Units& other, const UnitBound& unit,
                     int64_t l1, size_t size, uint64_t seed) {
  const dp::GroupedSum sum = SumOfAll(column);
  const dp::NoiseSpec noise = SoldForOne(l1);
  const auto range = dp::RangeOf(Table(), sum.value).value();
  const dp::Event event = dp::NoiseEvent(noise, dp::SumsSensitivity(unit, range, 1).value());
  return PureLossLowerBound(Sampled(
      one, other, unit, {event, 1},
      [&](dp::PrivateQueries& kernel) { return kernel.NoisySums(sum, noise).value()[0]; }, size, seed));
}

const dp::Units kLowBalance = {Records{{0, 0, 0, 0}}};
const dp::Units kHighBalance = {Records{{0, 0, 5, 2}}};

TEST(BlackBoxOfSums, NobodyProvesMoreThanTheirEpsilonAndNearlyThatIsProved) {
  // The balance has -2 to 3 steps; one record replaces another.
  const LowerBound bound =
      LossOfSum(dp::kBalanceColumn, kLowBalance, kHighBalance, kReplaced, 5, AuditSize(200'000), 301);
  EXPECT_LE(bound.value, 1) << bound.event;
  EXPECT_GT(bound.value, 0.93) << "the check is no blank";
  // "far" has 7 to 9; one record enters.
  EXPECT_LE(LossOfSum(dp::kFarColumn, {}, kHighBalance, kRecord, 9, AuditSize(50'000), 303).value, 1);
}

TEST(BlackBoxOfSumsCanary, HighMinusLowInPlaceOfTheWidthWithZeroIsProved) {
  EXPECT_GT(LossOfSum(dp::kFarColumn, {}, kHighBalance, kRecord, 9 - 7, AuditSize(50'000), 311).value, 1);
}

TEST(BlackBoxOfSumsCanary, TheLargestNumberInPlaceOfTheWidthUnderReplacementIsProved) {
  EXPECT_GT(
      LossOfSum(dp::kBalanceColumn, kLowBalance, kHighBalance, kReplaced, 3, AuditSize(100'000), 313).value,
      1);
}

// Of two regions: the output is the difference of their counts.
LowerBound LossOfUnitCounts(const UnitBound& unit, int64_t l1, const dp::Units& one, const dp::Units& other,
                            size_t size, uint64_t seed) {
  const dp::RecordGroups groups = dp::GroupsBy(Table(), {dp::kRegionColumn}, {}, {}).value();
  const dp::NoiseSpec noise = SoldForOne(l1);
  const dp::Event event = dp::NoiseEvent(noise, dp::UnitCountsSensitivity(unit, 2).value());
  return PureLossLowerBound(Sampled(
      one, other, unit, {event, 1},
      [&](dp::PrivateQueries& kernel) {
        const std::vector<int64_t> counts = kernel.NoisyUnitCounts(groups, noise).value();
        return counts[0] - counts[1];
      },
      size, seed));
}

TEST(BlackBoxOfUnitCounts, NobodyProvesMoreThanTheirEpsilon) {
  EXPECT_LE(LossOfUnitCounts(kReplaced, 2, {Records{{0, 0, 0, 0}}}, {Records{{1, 0, 0, 0}}},
                             AuditSize(100'000), 321)
                .value,
            1);
  EXPECT_LE(
      LossOfUnitCounts(kPerson, 2, {}, {Records{{0, 0, 0, 0}, {0, 0, 1, 0}}}, AuditSize(50'000), 323).value,
      0.5)
      << "both records in one region: a person counts once";
}

TEST(BlackBoxOfUnitCountsCanary, OneUnitWhereTwoAreExchangedIsProved) {
  EXPECT_GT(LossOfUnitCounts(kReplaced, 1, {Records{{0, 0, 0, 0}}}, {Records{{1, 0, 0, 0}}},
                             AuditSize(100'000), 325)
                .value,
            1);
}

// Medians of the balance, of three records, one of which moves from the least balance to the largest; `drawn`
// is the unit whose range the kernel uses. With two regions the output is both codes.
LowerBound LossOfMedians(const dp::AttributeSet& by, const UnitBound& drawn, size_t size, uint64_t seed) {
  dp::Units one(2, Records{{0, 0, 1, 0}});
  dp::Units other = one;
  one.push_back({{0, 0, 0, 0}});
  other.push_back({{0, 0, 5, 0}});
  const dp::GroupedQuantile median{.groups = dp::GroupsBy(Table(), by, {}, {}).value(),
                                   .column = dp::kBalanceColumn,
                                   .numerator = 1,
                                   .denominator = 2};
  return PureLossLowerBound(Sampled(
      one, other, drawn, {{dp::ExponentialMechanismEvent{kOne}}, 2},
      [&](dp::PrivateQueries& kernel) {
        const std::vector<int64_t> codes = kernel.SelectQuantiles(median, kOne).value();
        int64_t output = 0;
        for (const int64_t code : codes) output = 6 * output + code;
        return output;
      },
      size, seed));
}

TEST(BlackBoxOfQuantiles, NobodyProvesMoreThanTheirEpsilon) {
  EXPECT_LE(LossOfMedians({}, kReplaced, AuditSize(100'000), 331).value, 1);
  EXPECT_LE(LossOfMedians({dp::kRegionColumn}, kReplaced, AuditSize(50'000), 333).value, 2);
}

TEST(BlackBoxOfQuantilesCanary, TheAddRemoveRangeUsedUnderReplacementIsProved) {
  EXPECT_GT(LossOfMedians({}, kRecord, AuditSize(100'000), 341).value, 1);
}

}  // namespace
}  // namespace curator::statistics
