#include "dp/data/sum_sealed_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

using Rows = std::vector<std::vector<uint32_t>>;

Rows RandomRows(const Domain& domain, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows(count);
  for (std::vector<uint32_t>& row : rows) {
    for (const int64_t size : SizesOf(domain))
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(size)));
  }
  return rows;
}

int32_t GroupOf(const Domain& domain, const AttributeSet& attributes,
                const std::vector<int32_t>& group_of_cell, const std::vector<uint32_t>& row) {
  size_t cell = 0;
  for (const uint32_t attribute : attributes)
    cell = cell * static_cast<size_t>(domain.attributes()[attribute].size()) + row[attribute];
  return group_of_cell[cell];
}

int64_t NumberOf(const RowNumbers& numbers, const std::vector<uint32_t>& row) {
  const uint32_t code = numbers.column ? row[*numbers.column] : 0;
  if (numbers.column && code >= numbers.codes) return 0;
  if (numbers.kind == RowNumbers::Kind::kSame) return numbers.first;
  const int64_t number = int64_t{numbers.first} + code;
  if (numbers.kind == RowNumbers::Kind::kLinear) return number;
  const int64_t step = int64_t{1} << numbers.shift;
  return (number * number + step / 2) / step - numbers.centre;
}

// Row by row.
std::vector<int64_t> PlainSums(const Domain& domain, const Rows& table, const GroupedRows& rows) {
  std::vector<int64_t> sums(static_cast<size_t>(rows.sums()));
  for (const std::vector<uint32_t>& row : table) {
    const int32_t group = GroupOf(domain, rows.attributes, rows.group_of_cell, row);
    if (group < 0) continue;
    int64_t sum = group;
    if (rows.blocks) {
      if (row[rows.blocks->column] >= rows.blocks->codes) continue;
      sum = sum * rows.blocks->blocks() + row[rows.blocks->column] / rows.blocks->width;
    }
    sums[static_cast<size_t>(sum)] += NumberOf(rows.numbers, row);
  }
  return sums;
}

std::vector<int32_t> RandomGroups(int64_t cells, int64_t groups, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> group_of_cell(static_cast<size_t>(cells));
  for (int32_t& group : group_of_cell)
    group = static_cast<int32_t>(random() % static_cast<uint64_t>(groups + 1)) - 1;
  return group_of_cell;
}

// Runs the calls on threads of their own.
class Threads final : public Executor {
 public:
  void RunOnFreeCores(int most, const std::function<void(int)>& work) override {
    std::vector<std::jthread> threads;
    for (int core = 1; core < std::min(most, 3); ++core) threads.emplace_back(work, core);
    work(0);
  }
};

// Columns of one, two and four bytes.
const Domain& Widths() {
  static const Domain domain = CodedDomain({3, 300, 70'000, 5, 90, 7});
  return domain;
}

RowNumbers Linear(uint32_t column, int64_t codes, int32_t first) {
  return {.kind = RowNumbers::Kind::kLinear, .column = column, .codes = codes, .first = first};
}

RowNumbers Square(uint32_t column, int64_t codes, int32_t first, int32_t shift, int32_t centre) {
  return {.kind = RowNumbers::Kind::kSquare,
          .column = column,
          .codes = codes,
          .first = first,
          .shift = shift,
          .centre = centre};
}

RowNumbers Same(std::optional<uint32_t> column, int64_t codes, int32_t first) {
  return {.kind = RowNumbers::Kind::kSame, .column = column, .codes = codes, .first = first};
}

void ExpectPlainSums(const AttributeSet& attributes, int64_t groups, const std::optional<RowBlocks>& blocks,
                     const RowNumbers& numbers, size_t rows) {
  const Domain& domain = Widths();
  const Rows table = RandomRows(domain, rows, rows + attributes.size());
  const GroupedRows asked{
      .attributes = attributes,
      .group_of_cell = RandomGroups(*domain.CellCount(attributes), groups, static_cast<uint64_t>(groups)),
      .groups = groups,
      .blocks = blocks,
      .numbers = numbers};
  const SealedTableHandle sealed = SealRows(domain, table).value();
  Threads threads;
  const std::vector<int64_t> expected = PlainSums(domain, table, asked);
  EXPECT_EQ(SumGroups(*sealed, domain, asked).value(), expected);
  EXPECT_EQ(SumGroups(*sealed, domain, asked, threads).value(), expected);
}

TEST(SumGroups, AddsUpWhatRowsAddWhateverTheColumns) {
  const std::vector<AttributeSet> sets = {{}, {0}, {1}, {0, 3}, {0, 1, 3}, {0, 1, 4}, {0, 3, 4, 5}};
  const std::vector<RowNumbers> all = {{},
                                       Same(std::nullopt, 0, -3),
                                       Same(3, 4, 7),
                                       Linear(3, 5, -2),
                                       Linear(3, 4, 2),
                                       Linear(1, 299, -150),
                                       Linear(2, 69'999, -60'000),
                                       Square(0, 3, -1, 0, 0),
                                       Square(1, 200, -90, 1, 4'000),
                                       Square(2, 70'000, -35'000, 11, 300'000),
                                       Square(2, 69'999, -(1 << 20), 20, 524'288),
                                       Square(1, 300, (1 << 15) - 300, 10, 0),
                                       Square(1, 300, (1 << 15) - 299, 10, 0)};
  for (const AttributeSet& set : sets) {
    for (const RowNumbers& numbers : all) ExpectPlainSums(set, 4, std::nullopt, numbers, 2'500);
  }
}

TEST(SumGroups, DividesGroupsIntoBlocksOfCodesOfAnyWidth) {
  for (const auto& [column, codes] :
       {std::pair<uint32_t, int64_t>{3, 4}, {1, 300}, {1, 255}, {2, 69'999}, {2, 70'000}}) {
    for (const int64_t width :
         {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{10}, int64_t{256}, codes, codes + 5}) {
      const RowBlocks blocks{.column = column, .width = width, .codes = codes};
      ExpectPlainSums({0}, 3, blocks, {}, 1'500);
      ExpectPlainSums({0, 3}, 5, blocks, Linear(4, 80, 3), 1'500);
      ExpectPlainSums({}, 1, blocks, Square(2, 70'000, -35'000, 11, 9), 1'500);
    }
  }
}

TEST(SumGroups, TakesAnyNumberOfRows) {
  for (const size_t rows : {0, 1, 3, 4, 5, 1023, 1024, 1025, 70'000}) {
    ExpectPlainSums({0}, 2, std::nullopt, Linear(3, 4, -1), rows);
    ExpectPlainSums({0}, 2, RowBlocks{.column = 1, .width = 7, .codes = 299}, {}, rows);
  }
}

TEST(SumGroups, DividesByEveryWidthExactly) {
  const Domain domain = CodedDomain({1 << 24});
  std::mt19937_64 random(3);
  Rows table;
  for (int i = 0; i < 3'000; ++i) table.push_back({static_cast<uint32_t>(random() % (1 << 24))});
  for (const uint32_t end : {0u, (1u << 24) - 1}) table.push_back({end});
  const SealedTableHandle sealed = SealRows(domain, table).value();
  for (const int64_t width : {int64_t{1} << 3, int64_t{9}, int64_t{641}, int64_t{65'535}, int64_t{65'537},
                              (int64_t{1} << 23) + 1, (int64_t{1} << 24) - 1, int64_t{1} << 24}) {
    const RowBlocks blocks{.column = 0, .width = width, .codes = int64_t{1} << 24};
    const GroupedRows asked{
        .attributes = {}, .group_of_cell = {0}, .groups = 1, .blocks = blocks, .numbers = {}};
    EXPECT_EQ(SumGroups(*sealed, domain, asked).value(), PlainSums(domain, table, asked)) << width;
  }
}

TEST(SumGroups, OnSeveralCoresIsTheSame) {
  const Domain domain = CodedDomain({40, 60});
  constexpr int64_t kRows = (1 << 22) + 777;
  CodedColumns columns({40, 60});
  std::mt19937_64 random(5);
  std::vector<std::byte> first(kRows);
  std::vector<std::byte> second(kRows);
  std::vector<int64_t> expected(40);
  for (size_t row = 0; row < static_cast<size_t>(kRows); ++row) {
    const uint64_t bits = random();
    first[row] = static_cast<std::byte>(bits % 40);
    second[row] = static_cast<std::byte>((bits >> 32) % 60);
    expected[bits % 40] += static_cast<int64_t>((bits >> 32) % 60) - 30;
  }
  columns.AppendCodes(0, first);
  columns.AppendCodes(1, second);
  SealedTableBuilder builder(domain);
  builder.SetColumns(std::move(columns), {});
  const SealedTableHandle sealed = std::move(builder).Build().value();
  GroupedRows asked{
      .attributes = {0}, .group_of_cell = {}, .groups = 40, .blocks = {}, .numbers = Linear(1, 60, -30)};
  for (int32_t group = 0; group < 40; ++group) asked.group_of_cell.push_back(group);
  Threads threads;
  EXPECT_EQ(SumGroups(*sealed, domain, asked, threads).value(), expected);
}

TEST(SumGroups, RefusesWhatDoesNotFitTheTable) {
  const Domain domain = CodedDomain({2, 3});
  const SealedTableHandle sealed = SealRows(domain, {{0, 1}}).value();
  const GroupedRows good{
      .attributes = {0}, .group_of_cell = {0, 1}, .groups = 2, .blocks = {}, .numbers = Linear(1, 3, 0)};
  ASSERT_TRUE(SumGroups(*sealed, domain, good).ok());
  const auto code_of = [&](const std::function<void(GroupedRows&)>& spoil) {
    GroupedRows asked = good;
    spoil(asked);
    return SumGroups(*sealed, domain, asked).status().code();
  };
  const std::vector<std::function<void(GroupedRows&)>> spoils = {
      [](GroupedRows& rows) { rows.attributes = {2}; },
      [](GroupedRows& rows) { rows.group_of_cell = {0}; },
      [](GroupedRows& rows) {
        rows.group_of_cell = {0, 2};
      },
      [](GroupedRows& rows) { rows.groups = 0; },
      [](GroupedRows& rows) { rows.numbers.column = 2; },
      [](GroupedRows& rows) { rows.numbers.codes = 4; },
      [](GroupedRows& rows) { rows.numbers.column = std::nullopt; },
      [](GroupedRows& rows) { rows.numbers.first = 1 << 21; },
      [](GroupedRows& rows) { rows.numbers.first = -(1 << 20) - 1; },
      [](GroupedRows& rows) { rows.numbers.shift = 21; },
      [](GroupedRows& rows) { rows.blocks = RowBlocks{.column = 2}; },
      [](GroupedRows& rows) { rows.blocks = RowBlocks{.column = 1, .width = 0, .codes = 3}; },
      [](GroupedRows& rows) { rows.blocks = RowBlocks{.column = 1, .width = 1, .codes = 4}; },
      [](GroupedRows& rows) { rows.blocks = RowBlocks{.column = 1, .width = 1, .codes = 0}; }};
  for (const auto& spoil : spoils) EXPECT_EQ(code_of(spoil), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SumGroups(*sealed, CodedDomain({2, 4}), good).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

SealedTableHandle SealOwned(const Domain& domain, const Rows& rows, const std::vector<uint32_t>& units) {
  SealedTableBuilder builder(domain, RowOwner::kUnit);
  for (size_t row = 0; row < rows.size(); ++row) EXPECT_TRUE(builder.AppendRow(rows[row], units[row]).ok());
  return std::move(builder).Build().value();
}

TEST(CountUnitsOfGroups, CountsEachUnitOnceInEachGroup) {
  const Domain domain = CodedDomain({3});
  const SealedTableHandle sealed = SealOwned(domain, {{0}, {1}, {0}, {2}, {0}, {2}}, {0, 1, 0, 1, 2, 1});
  EXPECT_THAT(CountUnitsOfGroups(*sealed, domain, {0}, std::vector<int32_t>{0, 1, 2}, 3).value(),
              ElementsAre(2, 1, 1));
  EXPECT_THAT(CountUnitsOfGroups(*sealed, domain, {0}, std::vector<int32_t>{0, 0, -1}, 1).value(),
              ElementsAre(3));
  EXPECT_THAT(CountUnitsOfGroups(*sealed, domain, {}, std::vector<int32_t>{1}, 2).value(), ElementsAre(0, 3));
}

TEST(CountUnitsOfGroups, IsTheNumberOfDifferentUnitsOfARandomTable) {
  const Domain& domain = Widths();
  for (const size_t rows : {size_t{1}, size_t{900}, size_t{5'000}}) {
    const Rows table = RandomRows(domain, rows, 8);
    std::mt19937_64 random(rows);
    std::vector<uint32_t> units(rows);
    for (size_t row = 0; row < rows; ++row)  // numbered without a gap
      units[row] = static_cast<uint32_t>(row < rows / 3 ? row : random() % std::max<size_t>(1, rows / 3));
    for (const AttributeSet& set : {AttributeSet{0}, AttributeSet{0, 3}, AttributeSet{0, 1, 4}}) {
      const std::vector<int32_t> groups = RandomGroups(*domain.CellCount(set), 9, 4);
      std::vector<std::set<uint32_t>> units_of(9);
      for (size_t row = 0; row < rows; ++row) {
        const int32_t group = GroupOf(domain, set, groups, table[row]);
        if (group >= 0) units_of[static_cast<size_t>(group)].insert(units[row]);
      }
      std::vector<int64_t> expected;
      for (const std::set<uint32_t>& each : units_of) expected.push_back(std::ssize(each));
      EXPECT_EQ(CountUnitsOfGroups(*SealOwned(domain, table, units), domain, set, groups, 9).value(),
                expected);
    }
  }
}

TEST(CountUnitsOfGroups, IsZeroOfAnEmptyTableAndRefusedWhereUnitsAreNotKnown) {
  const Domain domain = CodedDomain({2});
  const std::vector<int32_t> groups = {0, 1};
  EXPECT_THAT(CountUnitsOfGroups(*SealOwned(domain, {}, {}), domain, {0}, groups, 2).value(),
              ElementsAre(0, 0));
  EXPECT_EQ(CountUnitsOfGroups(*SealRows(domain, {{0}}).value(), domain, {0}, groups, 2).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CountUnitsOfGroups(*SealOwned(domain, {}, {}), domain, {0}, groups, 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace curator::dp
