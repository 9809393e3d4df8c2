// The two ways to make records: sorted_records.h (STS), record_flow.h and flow_records.h (MCF).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "dp/synthesis/dpsyn/flow_records.h"
#include "dp/synthesis/dpsyn/record_flow.h"
#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/dpsyn/testing_views.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

ViewTable Pair(uint32_t first, std::vector<double> cells) {
  return {.set = {first, first + 1}, .sizes = {2, 2}, .cells = std::move(cells), .variance = 1};
}

// Li, Zhang, Wang 2018, figure 3.
TEST(SortedRecords, ReproducesTheWorkedExampleOfThePaper) {
  const std::vector<ViewTable> views = {Pair(0, {3, 2, 4, 1}), Pair(1, {2, 3, 3, 2}), Pair(2, {4, 3, 1, 2})};
  const std::vector<OrderedView> order = TopologicalOrder(views, 0);
  ASSERT_EQ(order.size(), 3U);
  EXPECT_THAT(order[1].known, ElementsAre(1));
  EXPECT_THAT(order[1].added, ElementsAre(2));
  SortedRecords sorted(views, order, {0, 1, 2, 3});
  std::vector<uint32_t> record(4);
  sorted.Next(record);
  EXPECT_THAT(record, ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(sorted.Left(0), ElementsAre(3, 2, 3, 1));
  EXPECT_THAT(sorted.Left(1), ElementsAre(2, 2, 3, 2));
  EXPECT_THAT(sorted.Left(2), ElementsAre(4, 3, 1, 1));
}

TEST(SortedRecords, UseUpTheCountsOfViewsThatAgree) {
  const Domain domain = CodedDomain({2, 3, 4});
  const TestRows rows = ChainedRows({2, 3, 4}, 300, 1);
  const std::vector<ViewTable> views = {CountedView(domain, {0, 1}, rows), CountedView(domain, {1, 2}, rows)};
  SortedRecords sorted(views, TopologicalOrder(views, 0), {0, 1, 2});
  std::vector<uint32_t> record(3);
  for (int i = 0; i < 300; ++i) sorted.Next(record);
  for (size_t step : {0U, 1U}) EXPECT_THAT(sorted.Left(step), testing::Each(0));
}

TEST(RecordTable, RefusesNumbersOfRecordsWhoseBitsWrapAround) {
  EXPECT_EQ(RecordTable::Unpacked({0}, {256}, int64_t{1} << 61, "").status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(TopologicalOrder, TakesTheViewWithTheFewestNewAttributesNext) {
  const Domain domain = CodedDomain({2, 2, 2, 2, 2, 2});
  const std::vector<ViewTable> views = {MakeView(domain, {0, 1, 2, 3}, 1, 1),
                                        MakeView(domain, {0, 1, 4, 5}, 1, 1),
                                        MakeView(domain, {0, 1, 2, 4}, 1, 1), MakeView(domain, {1, 2}, 1, 1)};
  std::vector<size_t> taken;
  for (const OrderedView& step : TopologicalOrder(views, 0)) taken.push_back(step.view);
  EXPECT_THAT(taken, ElementsAre(0, 2, 1));
}

TEST(FewChanges, TakesMoreAttributesOfOneValueThanAMaskHasBits) {
  std::vector<int64_t> sizes(70, 1);
  sizes.front() = 2;
  sizes.back() = 2;
  const std::vector<Move> moves =
      FewChanges(sizes, std::vector<int64_t>{5, 0, 0, 0}, std::vector<int64_t>{3, 2, 0, 0});
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].from, 0U);
  EXPECT_EQ(moves[0].to, 1U);
  EXPECT_EQ(moves[0].count, 2);
}

int64_t Records(const std::vector<Move>& moves) {
  int64_t records = 0;
  for (const Move& move : moves) records += move.count;
  return records;
}

int64_t ChangedValues(const std::vector<Move>& moves, const std::vector<int64_t>& sizes) {
  int64_t values = 0;
  for (const Move& move : moves) {
    size_t from = move.from;
    size_t to = move.to;
    for (size_t i = sizes.size(); i-- > 0;) {
      values += from % static_cast<size_t>(sizes[i]) != to % static_cast<size_t>(sizes[i]) ? move.count : 0;
      from /= static_cast<size_t>(sizes[i]);
      to /= static_cast<size_t>(sizes[i]);
    }
  }
  return values;
}

std::vector<int64_t> After(std::vector<int64_t> counts, const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    counts[move.from] -= move.count;
    counts[move.to] += move.count;
  }
  return counts;
}

TEST(LeastChanges, MovesTheFewestRecordsAndChangesTheFewestValues) {
  const std::vector<int64_t> sizes = {3, 2, 4};
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> counts(24);
    std::vector<int64_t> goal(24);
    for (int i = 0; i < 200; ++i) ++counts[random() % 24], ++goal[random() % 24];
    int64_t surplus = 0;
    for (size_t i = 0; i < 24; ++i) surplus += std::max<int64_t>(0, counts[i] - goal[i]);
    const std::vector<Move> least = LeastChanges(sizes, counts, goal);
    const std::vector<Move> few = FewChanges(sizes, counts, goal);
    EXPECT_EQ(After(counts, least), goal);
    EXPECT_EQ(After(counts, few), goal);
    EXPECT_EQ(Records(least), surplus);
    EXPECT_EQ(Records(few), surplus);
    EXPECT_LE(ChangedValues(least, sizes), ChangedValues(few, sizes));
    EXPECT_LE(ChangedValues(few, sizes), ChangedValues(least, sizes) * 3 / 2);
  }
}

TEST(LeastChanges, GoesOverAThirdCellRatherThanChangeMoreValues) {
  // (0,0) has one too many, (1,1) one too few: two values change however it is done.
  const std::vector<Move> moves =
      LeastChanges({2, 2}, std::vector<int64_t>{2, 1, 1, 0}, std::vector<int64_t>{1, 1, 1, 1});
  EXPECT_THAT(moves, ElementsAre(Move{.from = 0, .to = 3, .count = 1}));
}

TEST(WholeGoal, LeavesCountsThatLieBesideTheirGoal) {
  const std::vector<double> goal = {2.5, 0.25, 3.25, 4};
  EXPECT_THAT(WholeGoal(std::vector<int64_t>{3, 0, 3, 4}, goal), ElementsAre(3, 0, 3, 4));
  EXPECT_THAT(WholeGoal(std::vector<int64_t>{10, 0, 0, 0}, goal), ElementsAre(3, 0, 3, 4));
  EXPECT_EQ(std::ranges::count(WholeGoal(std::vector<int64_t>{0, 0, 0, 10}, goal), 4), 1);
}

TEST(FlowRecords, MatchEveryViewOfARealPopulationExactly) {
  const std::vector<int64_t> sizes = {2, 3, 4, 2, 5};
  const Domain domain = CodedDomain(sizes);
  const TestRows rows = ChainedRows(sizes, 2000, 1);
  std::vector<ViewTable> views;
  for (const AttributeSet& set : std::vector<AttributeSet>{{0, 1, 2}, {2, 3}, {3, 4}, {0, 4}, {1, 3}})
    views.push_back(CountedView(domain, set, rows));
  Pacer pacer{std::stop_token()};
  const FlowResult flow =
      MakeFlowRecords(views, {0, 1, 2, 3, 4}, sizes, 2000, {.most_passes = 60}, pacer).value();
  EXPECT_GT(flow.passes.front().moves, 0);  // a loop that moves nothing would be at once "settled"
  EXPECT_LT(flow.passes.back().moves, flow.passes.front().moves / 10);
  for (const ViewTable& view : views) {
    std::vector<double> counts(view.cells.size());
    const std::vector<uint32_t> cells = flow.records.CellsOf(view.set, pacer).value();
    for (const uint32_t cell : cells) counts[cell] += 1;
    double off = 0;
    for (size_t cell = 0; cell < counts.size(); ++cell) off += std::abs(counts[cell] - view.cells[cell]);
    EXPECT_LE(off, 20) << view.set[0];
  }
}

TEST(MatchView, ChangesNoMoreRecordsThanNeedBe) {
  const std::vector<int64_t> sizes = {3, 4, 2};
  const Domain domain = CodedDomain(sizes);
  Pacer pacer{std::stop_token()};
  RecordTable records({0, 1, 2}, sizes, 500);
  const TestRows rows = ChainedRows(sizes, 500, 1);
  for (size_t row = 0; row < 500; ++row) {
    for (size_t column = 0; column < 3; ++column) records.Set(column, row, rows[row][column]);
  }
  const RecordTable before = records;
  const ViewTable goal = CountedView(domain, {0, 1}, ChainedRows(sizes, 500, 2));
  const int64_t moves = MatchView(goal, MoveBy::kChange, 123, records, pacer).value();
  int64_t changed = 0;
  std::vector<double> counts(12);
  for (size_t row = 0; row < 500; ++row) {
    bool same = true;
    for (size_t column = 0; column < 3; ++column)
      same &= records.Code(column, row) == before.Code(column, row);
    changed += same ? 0 : 1;
    ++counts[records.Code(0, row) * 4 + records.Code(1, row)];
    EXPECT_EQ(records.Code(2, row), before.Code(2, row));
  }
  EXPECT_EQ(changed, moves);
  EXPECT_EQ(counts, goal.cells);
}

TEST(RecordTable, IsTheSameAfterPacking) {
  const std::vector<int64_t> sizes = {2, 300, 1, 7, 256};
  RecordTable records({0, 2, 3, 5, 9}, sizes, 33);
  std::mt19937_64 random(1);
  for (size_t row = 0; row < 33; ++row) {
    for (size_t column = 0; column < 5; ++column)
      records.Set(column, row, static_cast<uint32_t>(random() % static_cast<uint64_t>(sizes[column])));
  }
  const std::string bytes = records.Packed();
  EXPECT_EQ(bytes.size(), (33 * (1 + 9 + 0 + 3 + 8) + 7) / 8);
  const RecordTable again = RecordTable::Unpacked({0, 2, 3, 5, 9}, sizes, 33, bytes).value();
  EXPECT_EQ(again.Packed(), bytes);
  EXPECT_EQ(again.Code(1, 20), records.Code(1, 20));
  EXPECT_FALSE(RecordTable::Unpacked({0, 2, 3, 5, 9}, sizes, 32, bytes).ok());
  EXPECT_FALSE(RecordTable::Unpacked({0}, {3}, 4, "\xff").ok());  // 3 is no code
}

}  // namespace
}  // namespace curator::dp
