#include "dp/queries/box_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace curator::dp {
namespace {

struct Table {
  std::vector<int64_t> sizes;
  std::vector<CodeInterval> sides;
  std::vector<int64_t> cells;
};

Table RandomTable(std::mt19937_64& random) {
  Table table;
  const size_t dimensions = 1 + random() % 4;
  size_t cells = 1;
  for (size_t i = 0; i < dimensions; ++i) {
    table.sizes.push_back(static_cast<int64_t>(1 + random() % 6));
    cells *= static_cast<size_t>(table.sizes.back());
  }
  for (uint64_t box = 0; box < 1 + random() % 20; ++box) {
    for (const int64_t size : table.sizes) {
      const auto first = static_cast<uint32_t>(random() % static_cast<uint64_t>(size));
      table.sides.push_back(
          {first, first + static_cast<uint32_t>(random() % (static_cast<uint64_t>(size) - first))});
    }
  }
  for (size_t i = 0; i < cells; ++i) table.cells.push_back(static_cast<int64_t>(random() % 2001) - 1000);
  return table;
}

bool IsInside(const Table& table, size_t box, size_t cell) {
  for (size_t i = table.sizes.size(); i-- > 0;) {
    const auto size = static_cast<size_t>(table.sizes[i]);
    const CodeInterval& side = table.sides[box * table.sizes.size() + i];
    if (cell % size < side.first || cell % size > side.last) return false;
    cell /= size;
  }
  return true;
}

size_t BoxesOf(const Table& table) {
  return table.sides.size() / table.sizes.size();
}

TEST(BoxSums, AreTheSumsOfTheCellsInside) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const Table table = RandomTable(random);
    const std::vector<int64_t> sums = BoxSums(table.sizes, table.sides, table.cells);
    const std::vector<double> reals(table.cells.begin(), table.cells.end());
    const std::vector<double> real_sums = BoxSums(table.sizes, table.sides, std::span<const double>(reals));
    ASSERT_EQ(sums.size(), BoxesOf(table));
    for (size_t box = 0; box < sums.size(); ++box) {
      int64_t sum = 0;
      for (size_t cell = 0; cell < table.cells.size(); ++cell)
        sum += IsInside(table, box, cell) ? table.cells[cell] : 0;
      EXPECT_EQ(sums[box], sum);
      EXPECT_EQ(real_sums[box], static_cast<double>(sum));
    }
  }
}

TEST(BoxSums, AreExactWhereSumsBetweenDoNotFit) {
  const int64_t large = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> cells = {large, large, large, 5, -large, -large};
  const std::vector<int64_t> sizes = {6};
  EXPECT_EQ(BoxSums(sizes, std::vector<CodeInterval>{{3, 3}, {2, 4}}, cells), (std::vector<int64_t>{5, 5}));
}

TEST(BoxCover, CountsTheBoxesOnEachCell) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Table table = RandomTable(random);
    const std::vector<int64_t> cover = BoxCover(table.sizes, table.sides);
    ASSERT_EQ(cover.size(), table.cells.size());
    for (size_t cell = 0; cell < cover.size(); ++cell) {
      int64_t boxes = 0;
      for (size_t box = 0; box < BoxesOf(table); ++box) boxes += IsInside(table, box, cell) ? 1 : 0;
      EXPECT_EQ(cover[cell], boxes);
    }
  }
}

TEST(BoxSteps, AreTheFewerOfCellsAndCorners) {
  EXPECT_EQ(BoxSteps(std::vector<CodeInterval>{{0, 0}}), 1);
  EXPECT_EQ(BoxSteps(std::vector<CodeInterval>{{3, 900}}), 2);
  EXPECT_EQ(BoxSteps(std::vector<CodeInterval>{{3, 900}, {1, 700}, {2, 2}}), 8);
  EXPECT_EQ(BoxSteps(std::vector<CodeInterval>(100, CodeInterval{2, 2})), 1);
  EXPECT_EQ(BoxSteps(std::vector<CodeInterval>(100, CodeInterval{1, 2})), int64_t{1} << 62);
  EXPECT_EQ(BoxCells(std::vector<CodeInterval>(100, CodeInterval{1, 2})), int64_t{1} << 62);
}

}  // namespace
}  // namespace curator::dp
