// QueriesSensitivity() against all pairs of small units.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "dp/domain/testing_domain.h"
#include "dp/queries/box_sums.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/testing/largest_change.h"

namespace curator::dp {
namespace {

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};

// Over the six cells of {0, 1}.
QueryGroup Joint(std::vector<LinearQuery> queries) {
  return {{0, 1}, std::move(queries)};
}
const QueryGroup kWhole{{0, 1}, EveryCell{}};
const QueryGroup kOneCell = Joint({{{4, 1}}});
const QueryGroup kNestedRanges = Joint({{{0, 1}}, {{0, 1}, {1, 1}}, {{0, 1}, {1, 1}, {2, 1}}});
const QueryGroup kParity = Joint({{{0, 1}, {1, -1}, {2, 1}, {3, -1}, {4, 1}, {5, -1}}});
const QueryGroup kWeighted = Joint({{{0, 3}, {5, -2}}, {{0, 1}, {2, 7}}});

const QueryGroup kDisjointBoxes{{0, 1}, Boxes{{{0, 0}, {0, 1}, {1, 1}, {1, 2}}}};
const QueryGroup kAllRanges{{1}, AllIntervals(3)};

// A unit's records are cells; it is absent when it has none.
std::vector<std::vector<uint32_t>> AllUnits(int64_t max_records) {
  std::vector<std::vector<uint32_t>> units = {{}};
  size_t start = 0;
  for (int64_t size = 1; size <= max_records; ++size) {
    const size_t end = units.size();
    for (size_t i = start; i < end; ++i) {
      for (uint32_t cell = units[i].empty() ? 0 : units[i].back(); cell < 6; ++cell) {
        units.push_back(units[i]);
        units.back().push_back(cell);
      }
    }
    start = end;
  }
  return units;
}

std::vector<int64_t> AnswersOf(const std::vector<QueryGroup>& groups, const std::vector<uint32_t>& unit) {
  std::vector<int64_t> answers;
  for (const QueryGroup& group : groups) {
    std::vector<int64_t> counts(static_cast<size_t>(Questions().CellCount(group.attributes).value()));
    const AttributeSet& set = group.attributes;
    for (const uint32_t cell : unit) ++counts[set.size() == 2 ? cell : set[0] == 0 ? cell / 3 : cell % 3];
    const std::vector<int64_t> own = AnswersFromCounts(Questions(), group, counts);
    answers.insert(answers.end(), own.begin(), own.end());
  }
  return answers;
}

Sensitivity BruteForce(const std::vector<QueryGroup>& groups, const UnitBound& unit) {
  return LargestChange(AllUnits(unit.max_records), unit.relation,
                       [&](const std::vector<uint32_t>& one) { return AnswersOf(groups, one); });
}

Sensitivity Claimed(const std::vector<QueryGroup>& groups, const UnitBound& unit) {
  return QueriesSensitivity(Questions(), unit, groups).value();
}

const std::vector<UnitBound> kUnits = {
    kRecord, kReplacedRecord, {NeighbourRelation::kAddRemove, 3}, {NeighbourRelation::kReplaceOne, 3}};

TEST(QueriesSensitivity, IsExactForTheUsualQueries) {
  for (const UnitBound& unit : kUnits) {
    for (const QueryGroup& group : {kWhole, kOneCell, kNestedRanges, kParity, kDisjointBoxes})
      EXPECT_EQ(Claimed({group}, unit), BruteForce({group}, unit));
    EXPECT_EQ(Claimed({kWhole, QueryGroup{{0}, EveryCell{}}}, unit),
              BruteForce({kWhole, QueryGroup{{0}, EveryCell{}}}, unit));
  }
}

TEST(QueriesSensitivity, OfAllRangesIsTheMostThatShareABin) {
  EXPECT_EQ(Claimed({kAllRanges}, kRecord), (Sensitivity{4, 4, 1}));
  EXPECT_EQ(Claimed({kAllRanges}, kRecord), BruteForce({kAllRanges}, kRecord));
  EXPECT_GE(Claimed({kAllRanges}, kReplacedRecord).l1, BruteForce({kAllRanges}, kReplacedRecord).l1);
  const Domain long_domain = CodedDomain({1000});
  const QueryGroup ranges{{0}, AllIntervals(1000)};
  EXPECT_EQ(NumberOfQueries(long_domain, ranges), 500'500);
  EXPECT_EQ(QueriesSensitivity(long_domain, kRecord, std::span(&ranges, 1)).value(),
            (Sensitivity{250'500, 250'500, 1}));
}

TEST(QueriesSensitivityCanary, OverlappingBoxesTakenForDisjointOnesAreCaught) {
  EXPECT_LT(1, BruteForce({kAllRanges}, kRecord).l1);
  EXPECT_LT(2, BruteForce({kAllRanges}, kReplacedRecord).l1);
}

TEST(QueriesSensitivity, OfMarginalsIsThatOfMarginals) {
  for (const UnitBound& unit : kUnits) {
    EXPECT_EQ(Claimed({{{0}, EveryCell{}}, {{1}, EveryCell{}}, kWhole}, unit),
              MarginalsSensitivity(unit, 3).value());
  }
}

TEST(QueriesSensitivity, OfASingleQueryIsOneUnderBothRelations) {
  EXPECT_EQ(Claimed({kOneCell}, kRecord), (Sensitivity{1, 1, 1}));
  EXPECT_EQ(Claimed({kOneCell}, kReplacedRecord), (Sensitivity{1, 1, 1}));
  EXPECT_EQ(Claimed({kParity}, kReplacedRecord), (Sensitivity{2, 4, 2}));
}

// Beside other queries of every kind, too.
TEST(QueriesSensitivity, OfAParityIsThatOfTheQueryThatItIs) {
  const QueryGroup parity{{0}, Parity{3}};
  const QueryGroup listed{{0}, std::vector<LinearQuery>{{{0, 3}, {1, -3}}}};
  for (const UnitBound& unit : kUnits) {
    for (const std::vector<QueryGroup>& others :
         std::vector<std::vector<QueryGroup>>{{}, {kWhole}, {kWeighted}, {kAllRanges, kWhole}}) {
      std::vector<QueryGroup> with_parity = others;
      with_parity.push_back(parity);
      std::vector<QueryGroup> with_listed = others;
      with_listed.push_back(listed);
      const Sensitivity claimed = Claimed(with_parity, unit);
      EXPECT_EQ(claimed, Claimed(with_listed, unit));
      const Sensitivity moved = BruteForce(with_parity, unit);
      EXPECT_GE(claimed.l1, moved.l1);
      EXPECT_GE(claimed.l2_squared, moved.l2_squared);
      EXPECT_GE(claimed.linf, moved.linf);
    }
  }
}

TEST(QueriesSensitivityCanary, AParityThatCountsOnceUnderReplacementIsCaught) {
  const QueryGroup parity{{0}, Parity{3}};
  EXPECT_LT(3, BruteForce({parity}, kReplacedRecord).l1);
  EXPECT_LT(2 * 9, BruteForce({parity}, kReplacedRecord).l2_squared);
}

TEST(QueriesSensitivity, IsNeverTooSmallForRandomQueries) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<QueryGroup> groups;
    for (uint64_t g = 0; g < 1 + random() % 2; ++g) {
      std::vector<LinearQuery> queries(1 + random() % 3);
      for (LinearQuery& query : queries) {
        query.push_back({static_cast<uint32_t>(random() % 3), static_cast<int32_t>(1 + random() % 4)});
        if (random() % 2 == 0) query.push_back({5, static_cast<int32_t>(random() % 2) * 2 - 1});
      }
      groups.push_back(Joint(std::move(queries)));
    }
    const UnitBound& unit = kUnits[random() % kUnits.size()];
    const Sensitivity claimed = Claimed(groups, unit);
    const Sensitivity moved = BruteForce(groups, unit);
    EXPECT_GE(claimed.l1, moved.l1);
    EXPECT_GE(claimed.l2_squared, moved.l2_squared);
    EXPECT_GE(claimed.linf, moved.linf);
    EXPECT_GE(claimed.l1, claimed.linf);
  }
}

TEST(QueriesSensitivityCanary, WeightsForgottenOrCountedOncePerGroupAreCaught) {
  EXPECT_LT(Claimed({kOneCell}, kRecord).l1, BruteForce({kWeighted}, kRecord).l1);
  EXPECT_LT(1, BruteForce({kNestedRanges}, kRecord).l1) << "a group is not one query";
}

TEST(QueriesSensitivityCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  for (const QueryGroup& group : {kWhole, kParity, kWeighted})
    EXPECT_LT(Claimed({group}, kRecord).l1, BruteForce({group}, kReplacedRecord).l1);
}

TEST(QueriesSensitivity, RefusesWhatItCannotCount) {
  const std::vector<QueryGroup> heavy(1000, Joint({{{0, 1 << 20}}}));
  EXPECT_EQ(QueriesSensitivity(Questions(), {NeighbourRelation::kReplaceOne, 1 << 20}, heavy).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(
      QueriesSensitivity(Questions(), {NeighbourRelation::kAddRemove, kNoRecordBound}, heavy).status().code(),
      absl::StatusCode::kFailedPrecondition);
}

// Few boxes over many cells: cells that no box distinguishes are merged, and no sensitivity changes.
TEST(QuerySensitivity, OfFewBoxesIsThatOfTheirCells) {
  std::mt19937_64 random(20261123);
  const Domain domain = CodedDomain({60, 50});
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int i = 0; i < 50; ++i) {
    Boxes boxes;
    for (int box = 0; box < 8; ++box) {
      for (const uint32_t size : {60u, 50u}) {
        const uint32_t first = below(size);
        boxes.sides.push_back({first, first + below(size - first)});
      }
    }
    const std::vector<int64_t> sizes = {60, 50};
    const std::vector<int64_t> cover = BoxCover(sizes, boxes.sides);
    const int64_t most = *std::ranges::max_element(cover);
    const QueryGroup group{{0, 1}, boxes};
    const auto sensitivity = [&](NeighbourRelation relation) {
      return QueriesSensitivity(domain, {relation, 1}, std::span(&group, 1)).value();
    };
    EXPECT_EQ(sensitivity(NeighbourRelation::kAddRemove).l1, most);
    EXPECT_EQ(sensitivity(NeighbourRelation::kAddRemove).l2_squared, most);
    EXPECT_EQ(sensitivity(NeighbourRelation::kReplaceOne).l1, std::min<int64_t>(2 * most, 8));
  }
}

TEST(QuerySensitivity, OfOneIntervalOfTheWidestAttributeIsOne) {
  const Domain domain = CodedDomain({kMaxAttributeSize});
  const QueryGroup group{{0}, Boxes{{{7, 7}}}};
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne})
    EXPECT_EQ(QueriesSensitivity(domain, {relation, 1}, std::span(&group, 1))->l1, 1);
}

}  // namespace
}  // namespace curator::dp
