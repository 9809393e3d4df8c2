// Layer 5 of the audit, without a clock: for the same random bits, the kernel executes the same instructions
// whatever the records are. So its time tells of a table no more than its number of rows (see "What Curator
// does not protect" in docs/PRIVACY.md), apart from caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/bit_source.h"
#include "dp/queries/grouped_sums.h"
#include "dp/sensitivity/product_cost.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/instruction_trace.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using Row = std::vector<uint32_t>;
using Rows = std::vector<Row>;

constexpr dp::UnitBound kRecord{dp::NeighbourRelation::kReplaceOne, 1};
constexpr dp::Epsilon kEpsilon(dp::kEpsilonUnitsPerOne / 10);
constexpr size_t kRows = 40;

// Of sizes 3, 2 and 4; the last one has numbers.
const dp::Domain& SmallDomain() {
  static const dp::Domain domain =
      dp::Domain::Create({dp::Attribute::Create("a", dp::CodedKind{3}).value(),
                          dp::Attribute::Create("b", dp::CodedKind{2}).value(),
                          dp::Attribute::Create("c", dp::IntegerKind{5, 8, 1}).value()})
          .value();
  return domain;
}

Rows RandomRows() {
  std::mt19937_64 random(AuditSeed(71));
  Rows rows(kRows);
  for (Row& row : rows) {
    for (const uint64_t size : {3, 2, 4}) row.push_back(static_cast<uint32_t>(random() % size));
  }
  return rows;
}

// As many rows as RandomRows(): one record replaced, and none left as it was.
std::vector<Rows> TablesOfOneSize() {
  Rows replaced = RandomRows();
  replaced[7] = {2, 1, 3};
  return {RandomRows(), replaced, Rows(kRows, {2, 1, 3})};
}

// One question to a kernel, which is ready when the stepping begins.
using Question = std::function<bool(dp::PrivateQueries& kernel)>;

// Each table is sealed in the fork that asks it, so that all lie at the same addresses: how many steps the C
// library takes to compare or copy bytes depends on whether they cross a page.
Trace TraceOfQuestion(const Rows& rows, const dp::Event& price, const Question& ask) {
  const std::optional<Trace> trace = TraceOf([&]() -> std::function<void()> {
    const auto bits = std::make_shared<seeded::SeededBits>(AuditSeed(72));
    const auto table = std::make_shared<dp::SealedTableHandle>(dp::SealRows(SmallDomain(), rows).value());
    const auto kernel =
        std::make_shared<dp::Kernel>(*table, SmallDomain(), kRecord, dp::Meter({{price, 1}}), *bits);
    return [bits, table, kernel, &ask] {
      if (!ask(*kernel)) std::abort();
    };
  });
  EXPECT_TRUE(trace.has_value());
  return trace.value_or(Trace{});
}

void ExpectTheSameSteps(const dp::Event& price, const Question& ask) {
  const std::vector<Rows> tables = TablesOfOneSize();
  const Trace first = TraceOfQuestion(tables[0], price, ask);
  EXPECT_GT(first.instructions, 1000u);
  for (size_t i = 1; i < tables.size(); ++i)
    EXPECT_EQ(TraceOfQuestion(tables[i], price, ask), first) << first.instructions;
}

const std::vector<dp::AttributeSet> kSets = {{0}, {1, 2}};

dp::Event CountsPrice(const dp::NoiseSpec& noise) {
  return dp::NoiseEvent(noise, dp::MarginalsSensitivity(kRecord, 2).value());
}
Question Counts(const dp::NoiseSpec& noise) {
  return [noise](dp::PrivateQueries& kernel) { return kernel.NoisyCounts(kSets, noise).ok(); };
}

const dp::NoiseSpec kLaplace{dp::Mechanism::kDiscreteLaplace, {10, 1}};
const dp::NoiseSpec kGaussian{dp::Mechanism::kDiscreteGaussian, {100, 1}};

TEST(ConstantSteps, CountsWithLaplaceNoise) {
  ExpectTheSameSteps(CountsPrice(kLaplace), Counts(kLaplace));
}

TEST(ConstantSteps, CountsWithGaussianNoise) {
  ExpectTheSameSteps(CountsPrice(kGaussian), Counts(kGaussian));
}

TEST(ConstantSteps, SelectionsOfTheWorstMarginal) {
  const std::vector<dp::CandidateFamily> candidates = {
      {{{0}, dp::EveryCell{}}, {10, 20, 10}}, {{{1, 2}, dp::EveryCell{}}, std::vector<double>(8, 5.0), 2}};
  ExpectTheSameSteps({dp::ExponentialMechanismEvent{kEpsilon}}, [&candidates](dp::PrivateQueries& kernel) {
    return kernel.SelectWorstCandidate(candidates, kEpsilon).ok();
  });
}

TEST(ConstantSteps, SelectionsBetweenMeasuringAndPublicCounts) {
  const std::vector<dp::SubstitutableMarginal> candidates = {
      {.attributes = {0}, .estimate = {10, 20, 10}, .penalty = 3, .substitute = {20, 10, 10}},
      {.attributes = {1, 2},
       .estimate = std::vector<double>(8, 5.0),
       .substitute = {0, 0, 0, 0, 10, 10, 10, 10},
       .weight = 2}};
  ExpectTheSameSteps({dp::ExponentialMechanismEvent{kEpsilon}}, [&candidates](dp::PrivateQueries& kernel) {
    return kernel.SelectMeasuredOrPublic(candidates, kEpsilon).ok();
  });
}

// A range and a parity.
const dp::QueryGroup kQueries{{1, 2}, std::vector<dp::LinearQuery>{{{1, 1}, {2, 1}}, {{0, 1}, {3, -1}}}};

TEST(ConstantSteps, CountsOfGroupsOfQueries) {
  const std::vector<dp::QueryGroup> groups = {kQueries};
  const auto sensitivity = dp::QueriesSensitivity(SmallDomain(), kRecord, groups).value();
  ExpectTheSameSteps(dp::NoiseEvent(kLaplace, sensitivity), [&groups](dp::PrivateQueries& kernel) {
    return kernel.NoisyCounts(groups, kLaplace).ok();
  });
}

// The number of records, contrasts, and weighted queries.
TEST(ConstantSteps, ProductsOfQueries) {
  const dp::ProductQueries products{
      .axes = {{}, {.weights = {2, -1, -1, 0, 3, -3}}},
      .groups = {{{}, {}}, {{0}, {1}}, {{2}, {0}, 3}, {{0, 1}, {1, 0}}, {{0, 1, 2}, {0, 0, 0}}}};
  const std::vector<dp::Rational> noise(products.groups.size(), dp::Rational{100, 1});
  const dp::Rho rho = dp::CostOfProducts(SmallDomain(), kRecord, products, noise).value();
  ExpectTheSameSteps({dp::ZcdpEvent{rho}},
                     [&](dp::PrivateQueries& kernel) { return kernel.NoisyProducts(products, noise).ok(); });
}

TEST(ConstantSteps, SelectionsOfTheWorstQuery) {
  const std::vector<dp::CandidateFamily> candidates = {
      {.group = kQueries, .estimate = {10, 0}}, {.group = {{0}, dp::EveryCell{}}, .estimate = {20, 10, 10}}};
  ExpectTheSameSteps({dp::ExponentialMechanismEvent{kEpsilon}}, [&candidates](dp::PrivateQueries& kernel) {
    return kernel.SelectWorstCandidate(candidates, kEpsilon).ok();
  });
}

// By each utility, where a unit is one record. (Of a person with several, the steps tell how many.)
void ExpectTheSameStepsBy(const dp::Utility& utility) {
  ExpectTheSameSteps({dp::ExponentialMechanismEvent{kEpsilon}}, [&utility](dp::PrivateQueries& kernel) {
    return kernel.SelectByUtility(utility, {}, kEpsilon).ok();
  });
}

TEST(ConstantSteps, SelectionsByACellFrequency) {
  ExpectTheSameStepsBy(dp::CellFrequency{{1, 2}, 1});
}
TEST(ConstantSteps, SelectionsByAClippedSum) {
  ExpectTheSameStepsBy(dp::ClippedSum{{0}, {{0, 1, 2}, {2, 0, 1}}, 0, 1});
}
TEST(ConstantSteps, SelectionsByAClippedLogLikelihood) {
  ExpectTheSameStepsBy(dp::ClippedLogLikelihood{{0}, {{-1, -2, -0.5}, {-3, -0.1, -4}}, 1});
}
TEST(ConstantSteps, SelectionsByAQuantile) {
  ExpectTheSameStepsBy(dp::QuantileValue{2, 1, 2});
}

TEST(ConstantSteps, SumsOfGroups) {
  using Kind = dp::SummedValue::Kind;
  const dp::SummedValue one{.kind = Kind::kOne, .column = std::nullopt, .centre = 0};
  const dp::SummedValue value{.kind = Kind::kValue, .column = 2, .centre = 6};
  const dp::SummedValue square{.kind = Kind::kSquare, .column = 2, .centre = 6};
  const dp::RecordGroups groups = dp::GroupsBy(SmallDomain(), {1}, {0}, {0, 2}).value();
  for (const dp::GroupedSum& sum :
       {dp::GroupedSum{.groups = groups, .blocks = dp::CodeBlocks{2, 3}, .value = one},
        dp::GroupedSum{.groups = groups, .blocks = std::nullopt, .value = value},
        dp::GroupedSum{.groups = groups, .blocks = std::nullopt, .value = square}}) {
    const auto range = dp::RangeOf(SmallDomain(), sum.value).value();
    const auto sensitivity =
        dp::SumsSensitivity(kRecord, range, dp::NumberOfSums(SmallDomain(), sum)).value();
    ExpectTheSameSteps(dp::NoiseEvent(kLaplace, sensitivity),
                       [&sum](dp::PrivateQueries& kernel) { return kernel.NoisySums(sum, kLaplace).ok(); });
  }
}

TEST(ConstantSteps, QuantilesOfOneGroup) {
  const dp::GroupedQuantile quantile{.groups = dp::GroupsBy(SmallDomain(), {}, {0}, {0, 2}).value(),
                                     .column = 2,
                                     .numerator = 1,
                                     .denominator = 4};
  ExpectTheSameSteps({dp::ExponentialMechanismEvent{kEpsilon}}, [&quantile](dp::PrivateQueries& kernel) {
    return kernel.SelectQuantiles(quantile, kEpsilon).ok();
  });
}

// Of persons: for any assignment of rows to them, and for any order of the rows.
TEST(ConstantSteps, NumbersOfUnitsInGroups) {
  constexpr dp::UnitBound kPerson{dp::NeighbourRelation::kReplaceOne, 5};
  const dp::RecordGroups groups = dp::GroupsBy(SmallDomain(), {0}, {}, {}).value();
  const dp::Event price = dp::NoiseEvent(kLaplace, dp::UnitCountsSensitivity(kPerson, groups.groups).value());
  const auto trace_of = [&](const Rows& rows, size_t persons) {
    const std::optional<Trace> trace = TraceOf([&]() -> std::function<void()> {
      const auto bits = std::make_shared<seeded::SeededBits>(AuditSeed(72));
      dp::SealedTableBuilder builder(SmallDomain(), dp::RowOwner::kUnit);
      for (size_t row = 0; row < rows.size(); ++row)
        (void)builder.AppendRow(rows[row], static_cast<uint32_t>(row % persons));
      const auto table = std::make_shared<dp::SealedTableHandle>(std::move(builder).Build().value());
      const auto kernel =
          std::make_shared<dp::Kernel>(*table, SmallDomain(), kPerson, dp::Meter({{price, 1}}), *bits);
      return [bits, table, kernel, &groups] {
        if (!kernel->NoisyUnitCounts(groups, kLaplace).ok()) std::abort();
      };
    });
    EXPECT_TRUE(trace.has_value());
    return trace.value_or(Trace{});
  };
  const Trace first = trace_of(RandomRows(), 10);
  EXPECT_GT(first.instructions, 1000u);
  for (const Rows& rows : TablesOfOneSize()) {
    for (const size_t persons : {8, 10, 40}) EXPECT_EQ(trace_of(rows, persons), first) << persons;
  }
}

// For any assignment of rows to groups.
TEST(ConstantSteps, NumbersOfGroupsByWhatDescribesThem) {
  constexpr dp::UnitBound kGroup{dp::NeighbourRelation::kAddRemove, dp::kNoRecordBound};
  const std::vector<dp::GroupMarginal> marginals = {{{0, 1}, {}}, {{0}, dp::MeanBins{2, {0, 1, 3}}}};
  const dp::Event price = dp::NoiseEvent(kLaplace, dp::GroupMarginalsSensitivity(kGroup.relation, 2).value());
  const auto trace_of = [&](const Rows& rows, size_t groups) {
    const std::optional<Trace> trace = TraceOf([&]() -> std::function<void()> {
      const auto bits = std::make_shared<seeded::SeededBits>(AuditSeed(74));
      dp::SealedTableBuilder builder(SmallDomain(), dp::RowOwner::kUnit);
      for (size_t row = 0; row < rows.size(); ++row)
        (void)builder.AppendRow(rows[row], static_cast<uint32_t>(row % groups));
      const auto table = std::make_shared<dp::SealedTableHandle>(std::move(builder).Build().value());
      const auto kernel =
          std::make_shared<dp::Kernel>(*table, SmallDomain(), kGroup, dp::Meter({{price, 1}}), *bits);
      return [bits, table, kernel, &marginals] {
        if (!kernel->NoisyGroupMarginals(marginals, kLaplace).ok()) std::abort();
      };
    });
    EXPECT_TRUE(trace.has_value());
    return trace.value_or(Trace{});
  };
  const std::vector<Rows> tables = TablesOfOneSize();
  const Trace first = trace_of(tables[0], 10);
  EXPECT_GT(first.instructions, 1000u);
  for (const Rows& rows : tables) {
    for (const size_t groups : {1, 8, 40}) EXPECT_EQ(trace_of(rows, groups), first) << groups;
  }
}

// What remains under ADD_REMOVE: a row more takes a few instructions more, the same whatever it holds.
TEST(ConstantSteps, OneRecordMoreTakesTheSameFewInstructionsWhateverItHolds) {
  const auto steps = [](const Rows& rows) {
    return TraceOfQuestion(rows, CountsPrice(kLaplace), Counts(kLaplace)).instructions;
  };
  Rows first = RandomRows();
  first.push_back({0, 0, 0});
  Rows last = RandomRows();
  last.push_back({2, 1, 3});
  const uint64_t without = steps(RandomRows());
  const uint64_t with = steps(first);
  EXPECT_EQ(with, steps(last));
  EXPECT_GT(with, without);
  EXPECT_LT(with - without, 200u);
}

// A mechanism that is exact and private, but whose steps tell the scores.
TEST(ConstantStepsCanary, ASelectionByRejectionIsCaught) {
  const auto trace = [](const std::vector<int64_t>& scores) {
    return TraceOf([&scores]() -> std::function<void()> {
      const auto bits = std::make_shared<seeded::SeededBits>(AuditSeed(73));
      return [bits, &scores] {
        const int64_t best = *std::max_element(scores.begin(), scores.end());
        dp::BitBuffer buffer(*bits, 1);
        uint64_t chosen = 0;
        do {  // accepted with a probability of 2^-gap
          chosen = buffer.NextBelow(scores.size());
        } while (buffer.NextBelow(uint64_t{1} << (best - scores[chosen])) != 0);
      };
    });
  };
  std::vector<int64_t> dominated(6, -10);
  dominated[4] = 0;
  EXPECT_NE(trace(std::vector<int64_t>(6, 0)), trace(dominated));
}

TEST(ConstantStepsCanary, ACountThatBranchesOnARecordIsCaught) {
  const auto trace = [](const std::vector<uint8_t>& codes) {
    return TraceOf([&codes]() -> std::function<void()> {
      return [&codes] {
        volatile int64_t first = 0;
        for (const uint8_t code : codes) {
          if (code == 0) first = first + 1;
        }
      };
    });
  };
  EXPECT_NE(trace({0, 1, 0, 1}), trace({0, 1, 0, 0}));
}

}  // namespace
}  // namespace curator::statistics
