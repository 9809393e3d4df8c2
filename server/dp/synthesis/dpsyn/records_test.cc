// The two ways to make records: sorted_records.h (STS) and view_matching.h (MCF).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/dpsyn/testing/views.h"
#include "dp/synthesis/dpsyn/view_matching.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

ViewTable Pair(uint32_t first, std::vector<double> cells) {
  return {.set = {first, first + 1}, .sizes = {2, 2}, .cells = std::move(cells), .variance = 1};
}

// The counts of a view without those of records that were made.
std::vector<double> CountsLeft(ViewTable view, const TestRows& made) {
  for (const auto& record : made) {
    size_t cell = 0;
    for (size_t i = 0; i < view.set.size(); ++i)
      cell = cell * static_cast<size_t>(view.sizes[i]) + record[view.set[i]];
    view.cells[cell] -= 1;
  }
  return view.cells;
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
  EXPECT_THAT(CountsLeft(views[order[0].view], {record}), ElementsAre(3, 2, 3, 1));
  EXPECT_THAT(CountsLeft(views[order[1].view], {record}), ElementsAre(2, 2, 3, 2));
  EXPECT_THAT(CountsLeft(views[order[2].view], {record}), ElementsAre(4, 3, 1, 1));
}

TEST(SortedRecords, UseUpTheCountsOfViewsThatAgree) {
  const Domain domain = CodedDomain({2, 3, 4});
  const TestRows rows = ChainedRows({2, 3, 4}, 300, 1);
  const std::vector<ViewTable> views = {CountedView(domain, {0, 1}, rows), CountedView(domain, {1, 2}, rows)};
  SortedRecords sorted(views, TopologicalOrder(views, 0), {0, 1, 2});
  TestRows made(300, std::vector<uint32_t>(3));
  for (std::vector<uint32_t>& record : made) sorted.Next(record);
  for (const ViewTable& view : views) EXPECT_THAT(CountsLeft(view, made), testing::Each(0));
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

RecordTable TableOf(const TestRows& rows, const std::vector<int64_t>& sizes) {
  AttributeSet all(sizes.size());
  std::iota(all.begin(), all.end(), 0U);
  RecordTable table(all, sizes, static_cast<int64_t>(rows.size()));
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t column = 0; column < sizes.size(); ++column) table.Set(column, row, rows[row][column]);
  }
  return table;
}

// The L1 distance of the records' counts from each view, the largest.
double FarthestView(const RecordTable& records, const std::vector<ViewTable>& views) {
  Pacer pacer{std::stop_token()};
  double farthest = 0;
  for (const ViewTable& view : views) {
    std::vector<double> counts(view.cells.size());
    const std::vector<uint32_t> cells = records.CellsOf(view.set, pacer).value();
    for (const uint32_t cell : cells) counts[cell] += 1;
    double off = 0;
    for (size_t cell = 0; cell < counts.size(); ++cell) off += std::abs(counts[cell] - view.cells[cell]);
    farthest = std::max(farthest, off);
  }
  return farthest;
}

std::vector<ViewTable> CountedViews(const std::vector<AttributeSet>& sets, const std::vector<int64_t>& sizes,
                                    const TestRows& rows) {
  std::vector<ViewTable> views;
  for (const AttributeSet& set : sets) views.push_back(CountedView(CodedDomain(sizes), set, rows));
  return views;
}

TEST(FlowRecords, MatchEveryViewOfARealPopulation) {
  const std::vector<int64_t> sizes = {2, 3, 4, 2, 5};
  const std::vector<ViewTable> views =
      CountedViews({{0, 1, 2}, {2, 3}, {3, 4}, {0, 4}, {1, 3}}, sizes, ChainedRows(sizes, 2000, 1));
  Pacer pacer{std::stop_token()};
  const FlowResult flow =
      MakeFlowRecords(views, {0, 1, 2, 3, 4}, sizes, 2000, {.most_passes = 60}, pacer).value();
  EXPECT_GT(flow.moves.front(), 0);  // a loop that moves nothing would be at once "settled"
  EXPECT_LT(flow.moves.back(), 10);
  EXPECT_LT(flow.distance_at_last, 0.1 * flow.distance_at_first);
  EXPECT_LE(FarthestView(flow.records, views), 20);
}

// Thirty views of attributes that depend strongly on each other: each pass of the paper's form undoes what
// the one before it did; of the other, the passes come to an end.
TEST(FlowRecords, SettleWhereAttributesDependOnEachOtherIfOnlyMovesThatComeCloserAreMade) {
  const std::vector<int64_t> sizes(12, 2);
  std::vector<AttributeSet> sets;
  for (uint32_t a = 0; a < 12; ++a) {
    for (uint32_t step = 1; step < 6; step += 2) {
      AttributeSet set = {a, (a + step) % 12, (a + step + 3) % 12};
      std::ranges::sort(set);
      sets.push_back(set);
    }
  }
  const std::vector<ViewTable> views = CountedViews(sets, sizes, ChainedRows(sizes, 4000, 1));
  const auto flow = [&](FlowMoveRule moves) {
    Pacer pacer{std::stop_token()};
    AttributeSet all(12);
    std::iota(all.begin(), all.end(), 0U);
    return MakeFlowRecords(views, all, sizes, 4000, {.most_passes = 40, .moves = moves}, pacer).value();
  };
  const FlowResult closer = flow(FlowMoveRule::kCloser);
  EXPECT_LT(closer.moves.size(), 40U);
  EXPECT_LT(closer.moves.back(), 20);
  EXPECT_LT(closer.distance_at_last, 0.003);
  const FlowResult every = flow(FlowMoveRule::kEvery);
  EXPECT_EQ(every.moves.size(), 40U);
  EXPECT_GT(every.distance_at_last, 3 * closer.distance_at_last);
}

// Goals that contradict each other: every pass of the paper's form moves about as many records as the last.
TEST(FlowRecords, EndAfterSoManyStepsThoughTheViewsCannotAllBeMet) {
  const std::vector<int64_t> sizes = {4, 4, 4};
  std::vector<ViewTable> views;
  for (uint32_t table = 1; table <= 3; ++table) {
    for (const AttributeSet& set : {AttributeSet{0, 1}, AttributeSet{1, 2}, AttributeSet{0, 2}})
      views.push_back(CountedView(CodedDomain(sizes), set, ChainedRows(sizes, 1000, table)));
  }
  const auto flow = [&](int64_t most_steps, int64_t most_steps_of_view) {
    Pacer pacer{std::stop_token()};
    return MakeFlowRecords(views, {0, 1, 2}, sizes, 1000,
                           {.most_passes = 1000,
                            .moves = FlowMoveRule::kEvery,
                            .most_steps = most_steps,
                            .most_steps_of_view = most_steps_of_view},
                           pacer)
        .value();
  };
  // A view's turn takes a look at each record, and loads three codes of those that may move.
  const int64_t longest_turn = 4 * 1000 + 16;
  const FlowResult bounded = flow(100, 10);
  EXPECT_TRUE(bounded.reached_bound);
  EXPECT_GE(bounded.steps, 1000 * (100 + 9 * 10));
  EXPECT_LE(bounded.steps, 1000 * (100 + 9 * 10) + longest_turn);
  const FlowResult longer = flow(200, 20);
  EXPECT_GT(longer.moves.size(), bounded.moves.size());
  EXPECT_LE(longer.steps, 1000 * (200 + 9 * 20) + longest_turn);
  const FlowResult none = flow(0, 0);
  EXPECT_TRUE(none.reached_bound);
  EXPECT_TRUE(none.moves.empty());
}

// What is looked at is counted too, not only what is passed by.
TEST(ViewMatching, CountsWhatItReadsOfTheViewsOfWhatMayChange) {
  const std::vector<int64_t> sizes = {3, 4, 2};
  const std::vector<ViewTable> views = CountedViews({{0, 1}, {1, 2}}, sizes, ChainedRows(sizes, 500, 2));
  const auto steps = [&](FlowMoveRule rule) {
    Pacer pacer{std::stop_token()};
    ViewMatching matching =
        ViewMatching::Create(views, TableOf(ChainedRows(sizes, 500, 1), sizes), pacer).value();
    const int64_t before = pacer.steps();
    EXPECT_GT(matching.Match(0, rule, 0, pacer).value(), 0);
    return pacer.steps() - before;
  };
  EXPECT_LE(steps(FlowMoveRule::kEvery), 12 + 500 * (1 + 3));
  EXPECT_GT(steps(FlowMoveRule::kCloser), steps(FlowMoveRule::kEvery));
}

TEST(ViewMatching, MovesNoMoreRecordsThanNeedBeAndMeetsTheView) {
  const std::vector<int64_t> sizes = {3, 4, 2};
  const TestRows rows = ChainedRows(sizes, 500, 1);
  const std::vector<ViewTable> views = CountedViews({{0, 1}}, sizes, ChainedRows(sizes, 500, 2));
  for (const FlowMoveRule rule : {FlowMoveRule::kCloser, FlowMoveRule::kEvery}) {
    Pacer pacer{std::stop_token()};
    ViewMatching matching = ViewMatching::Create(views, TableOf(rows, sizes), pacer).value();
    const int64_t moves = matching.Match(0, rule, 123, pacer).value();
    int64_t changed = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      bool same = true;
      for (size_t column = 0; column < 3; ++column)
        same &= matching.records().Code(column, row) == rows[row][column];
      changed += same ? 0 : 1;
      EXPECT_EQ(matching.records().Code(2, row), rows[row][2]);
    }
    EXPECT_EQ(changed, moves);
    EXPECT_EQ(FarthestView(matching.records(), views), 0);
    EXPECT_NEAR(matching.MeanDistance(), 0, 1e-12);
  }
}

// What it keeps up to date is what a count from scratch says, and no move takes it farther away.
TEST(ViewMatching, EveryMoveThatComesCloserLowersTheSumOfSquares) {
  const std::vector<int64_t> sizes = {3, 4, 2, 5};
  const std::vector<ViewTable> views =
      CountedViews({{0, 1}, {1, 2, 3}, {0, 3}}, sizes, ChainedRows(sizes, 300, 2));
  Pacer pacer{std::stop_token()};
  ViewMatching matching =
      ViewMatching::Create(views, TableOf(ChainedRows(sizes, 300, 1), sizes), pacer).value();
  const auto squares = [&](const RecordTable& records) {
    double sum = 0;
    for (const ViewTable& view : views) {
      std::vector<double> off = view.cells;
      const std::vector<uint32_t> cells = records.CellsOf(view.set, pacer).value();
      for (const uint32_t cell : cells) off[cell] -= 1;
      for (const double each : off) sum += each * each;
    }
    return sum;
  };
  double last = squares(matching.records());
  int64_t moves = 0;
  for (int turn = 0; turn < 30; ++turn) {
    const int64_t moved =
        matching.Match(static_cast<size_t>(turn) % 3, FlowMoveRule::kCloser, 7, pacer).value();
    const double now = squares(matching.records());
    EXPECT_LE(now, last - 1e-9 * static_cast<double>(moved));
    last = now;
    moves += moved;
    const ViewMatching counted = ViewMatching::Create(views, matching.records(), pacer).value();
    EXPECT_NEAR(matching.MeanDistance(), counted.MeanDistance(), 1e-12);
  }
  EXPECT_GT(moves, 0);
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
  std::string with_a_bit_behind = bytes;
  with_a_bit_behind.back() = static_cast<char>(with_a_bit_behind.back() | 1);
  EXPECT_FALSE(RecordTable::Unpacked({0, 2, 3, 5, 9}, sizes, 33, with_a_bit_behind).ok());
  EXPECT_FALSE(RecordTable::Unpacked({0}, {3}, 4, "\xff").ok());  // 3 is no code
}

}  // namespace
}  // namespace curator::dp
