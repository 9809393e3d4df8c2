#include "dp/data/joint_counter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "dp/data/coded_columns.h"

namespace curator::dp {
namespace {

CodedColumns RandomColumns(const std::vector<int64_t>& sizes, int64_t rows) {
  std::mt19937_64 random(4);
  CodedColumns columns(sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::byte> codes(static_cast<size_t>(rows));
    for (std::byte& code : codes) code = static_cast<std::byte>(random() % static_cast<uint64_t>(sizes[i]));
    columns.AppendCodes(i, codes);
  }
  return columns;
}

// By the definition, in one array.
std::vector<uint32_t> Plainly(const ColumnsView& view, int64_t begin, int64_t end, size_t cells) {
  std::vector<uint32_t> counts(cells);
  for (int64_t row = begin; row < end; ++row) {
    size_t cell = 0;
    for (const ColumnView& column : view.columns)
      cell = cell * static_cast<size_t>(column.size) + column[row];
    ++counts[cell];
  }
  return counts;
}

TEST(CountNarrowRows, AgreesWithTheDefinitionOnEveryInstructionSet) {
  const std::vector<int64_t> all_sizes = {7, 3, 16, 5, 2, 19};  // 63,840 cells together
  for (size_t columns = 1; columns <= kMostNarrowColumns; ++columns) {
    const std::vector<int64_t> sizes(all_sizes.begin(), all_sizes.begin() + static_cast<long>(columns));
    const CodedColumns coded = RandomColumns(sizes, 1000);
    const ColumnsView view = coded.View();
    size_t cells = 1;
    for (const int64_t size : sizes) cells *= static_cast<size_t>(size);
    // Groups of 64 rows, parts of them, none at all.
    for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 1000}, {0, 64}, {1, 128}, {3, 3}, {5, 6}, {10, 73}, {936, 1000}}) {
      const std::vector<uint32_t> expected = Plainly(view, begin, end, cells);
      for (const InstructionSet instructions :
           {InstructionSet::kEveryMachines, InstructionSet::kThisMachines}) {
        std::vector<uint32_t> counts(4 * cells);
        uint32_t* const first = counts.data();
        CountNarrowRows(view.columns, begin, end,
                        {first, first + cells, first + 2 * cells, first + 3 * cells}, instructions);
        for (size_t cell = 0; cell < cells; ++cell) {
          ASSERT_EQ(counts[cell] + counts[cell + cells] + counts[cell + 2 * cells] + counts[cell + 3 * cells],
                    expected[cell])
              << columns << " columns, rows " << begin << " to " << end << ", cell " << cell;
        }
      }
    }
  }
}

TEST(CountNarrowRows, TheArraysMayBeOneAndTheSame) {
  const CodedColumns coded = RandomColumns({4}, 500);
  std::vector<uint32_t> counts(4);
  CountNarrowRows(coded.View().columns, 0, 500, {counts.data(), counts.data(), counts.data(), counts.data()});
  EXPECT_EQ(counts, Plainly(coded.View(), 0, 500, 4));
}

TEST(CountNarrowRowsCanary, ARowThatIsMissedIsCaught) {
  const CodedColumns coded = RandomColumns({4}, 500);
  std::vector<uint32_t> counts(4);
  CountNarrowRows(coded.View().columns, 0, 499, {counts.data(), counts.data(), counts.data(), counts.data()});
  EXPECT_NE(counts, Plainly(coded.View(), 0, 500, 4));
}

}  // namespace
}  // namespace curator::dp
