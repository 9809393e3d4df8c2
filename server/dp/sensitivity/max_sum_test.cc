#include "dp/sensitivity/max_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "dp/domain/testing_domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

CellFunction RandomFunction(const Domain& domain, std::mt19937_64& random) {
  CellFunction function;
  for (uint32_t i = 0; i < domain.size(); ++i) {
    if (random() % 2 == 0) function.attributes.push_back(i);
  }
  if (function.attributes.empty()) function.attributes.push_back(0);
  const auto cells = static_cast<size_t>(domain.CellCount(function.attributes).value());
  for (size_t i = 0; i < cells; ++i) function.values.push_back(static_cast<int64_t>(random() % 10));
  return function;
}

int64_t BruteForce(const Domain& domain, const std::vector<CellFunction>& functions) {
  int64_t largest = 0;
  std::vector<int64_t> codes(domain.size());
  while (true) {
    int64_t sum = 0;
    for (const CellFunction& function : functions) {
      int64_t place = 0;
      for (const uint32_t attribute : function.attributes)
        place = place * domain.attributes()[attribute].size() + codes[attribute];
      sum += function.values[static_cast<size_t>(place)];
    }
    largest = std::max(largest, sum);
    size_t i = codes.size();
    while (i > 0 && ++codes[i - 1] == domain.attributes()[i - 1].size()) codes[--i] = 0;
    if (i == 0) return largest;
  }
}

TEST(LargestSum, IsExactForSmallTables) {
  std::mt19937_64 random(3);
  const Domain domain = CodedDomain({2, 3, 2, 4, 2});
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<CellFunction> functions;
    for (uint64_t i = 0; i < 1 + random() % 6; ++i) functions.push_back(RandomFunction(domain, random));
    EXPECT_EQ(LargestSum(domain, functions), BruteForce(domain, functions));
  }
}

// A record fulfils one of the ten at most, however many other attributes there are.
TEST(QueriesSensitivity, OfPredicatesThatExcludeEachOtherIsOne) {
  const Domain domain = CodedDomain({10, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50});
  std::vector<QueryGroup> groups;
  for (uint32_t i = 0; i < 10; ++i) groups.push_back({{0, i + 1}, Boxes{{{i, i}, {3, 20}}}});
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  EXPECT_EQ(QueriesSensitivity(domain, record, groups).value(), (Sensitivity{1, 1, 1}));
  const UnitBound replaced{NeighbourRelation::kReplaceOne, 1};
  EXPECT_EQ(QueriesSensitivity(domain, replaced, groups).value(), (Sensitivity{2, 2, 1}));
}

// Plans of MWEM are priced by the number of marginals, its draws by their queries.
TEST(QueriesSensitivity, OfWholeMarginalsIsThatOfMarginalsAlsoOfOneCell) {
  const Domain domain = CodedDomain({1, 3, 1});
  const std::vector<std::vector<QueryGroup>> workloads = {
      {{{0}, EveryCell()}},
      {{{0}, EveryCell()}, {{1}, EveryCell()}},
      {{{0}, EveryCell()}, {{2}, EveryCell()}, {{0, 2}, EveryCell()}, {{0, 1}, EveryCell()}}};
  for (const auto relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    for (const std::vector<QueryGroup>& groups : workloads) {
      for (const int64_t records : {1, 3}) {
        const UnitBound unit{relation, records};
        EXPECT_EQ(QueriesSensitivity(domain, unit, groups).value(),
                  MarginalsSensitivity(unit, static_cast<int64_t>(groups.size())).value());
      }
    }
  }
}

TEST(QueriesSensitivity, OfPredicatesThatOneRecordMayFulfilIsTheirNumber) {
  const Domain domain = CodedDomain({10, 50, 50, 50, 50, 50});
  std::vector<QueryGroup> groups;
  for (uint32_t i = 0; i < 5; ++i) groups.push_back({{0, i + 1}, Boxes{{{i, 9}, {3, 20}}}});
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  EXPECT_EQ(QueriesSensitivity(domain, record, groups).value(), (Sensitivity{5, 5, 1}));
}

// Too large to be joined: a bound, never above the number of predicates, never below what a record reaches.
TEST(LargestSum, OfTablesThatAreTooLargeIsABound) {
  const Domain domain = CodedDomain({1024, 1024, 1024, 1024});
  std::vector<CellFunction> functions;
  for (uint32_t i = 0; i < 4; ++i) {
    for (uint32_t j = i + 1; j < 4; ++j) {
      CellFunction function{{i, j}, std::vector<int64_t>(size_t{1} << 20)};
      function.values[5] = 1;
      functions.push_back(std::move(function));
    }
  }
  const int64_t bound = LargestSum(domain, functions);
  EXPECT_GE(bound, 1);
  EXPECT_LE(bound, 6);
}

// Sums of sums: without the limit the second elimination adds up beyond 2^63.
TEST(LargestSum, Saturates) {
  constexpr int64_t kMost = int64_t{1} << 55;
  const Domain domain = CodedDomain({2, 2, 2, 2, 2, 2, 2, 2});
  std::vector<CellFunction> functions;
  for (uint32_t i = 0; i < 7; ++i) {
    for (int copy = 0; copy < 18; ++copy) functions.push_back({{i, i + 1}, {0, kMost - copy, kMost, 1}});
  }
  EXPECT_EQ(LargestSum(domain, functions), kMost);
  for (int constant = 0; constant < 600; ++constant) functions.push_back({{0}, {kMost, kMost}});
  EXPECT_EQ(LargestSum(domain, functions), kMost);
}

TEST(LargestSumCanary, AMaximumOverOneFunctionOnlyIsCaught) {
  const Domain domain = CodedDomain({2, 2});
  const std::vector<CellFunction> functions = {{{0}, {0, 3}}, {{0, 1}, {4, 0, 0, 2}}};
  EXPECT_EQ(LargestSum(domain, functions), 5) << "neither 4 nor 3 nor 7";
}

}  // namespace
}  // namespace curator::dp
