#include "dp/data/joint_counter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dp/data/cell_index.h"

namespace curator::dp {
namespace {

constexpr int64_t kBlockRows = 4096;  // the numbers of a block's cells stay in the first cache
constexpr int64_t kFewCells = 2048;   // up to here counts are kept in several copies
constexpr size_t kCopies = 4;         // neighbouring rows often share a cell; a copy each keeps them apart

size_t CopiesFor(int64_t cells) {
  return cells <= kFewCells ? kCopies : 1;
}

bool IsNarrow(std::span<const ColumnView> columns) {
  return !columns.empty() && columns.size() <= kMostNarrowColumns &&
         std::ranges::all_of(columns,
                             [](const ColumnView& column) { return column.width == CodeWidth::kOneByte; });
}

}  // namespace

size_t CounterNumbers(int64_t cells) {
  return static_cast<size_t>(cells) * CopiesFor(cells);
}

JointCounter::JointCounter(std::vector<ColumnView> columns, int64_t cells, std::span<uint32_t> zeros)
    : columns_(std::move(columns)),
      cells_(static_cast<size_t>(cells)),
      copies_(CopiesFor(cells)),
      counts_(zeros) {}

void JointCounter::CountRows(int64_t begin, int64_t end) {
  const bool is_small = cells_ <= size_t{1} << 16;
  if (is_small && IsNarrow(columns_)) {
    CountNarrowRows(columns_, begin, end, Arrays());
  } else if (is_small) {
    CountBlocks<uint16_t>(begin, end);
  } else {
    CountBlocks<uint32_t>(begin, end);
  }
}

// The copies by turns, so that the increments of neighbouring rows do not wait for one another.
CountArrays JointCounter::Arrays() {
  CountArrays arrays;
  for (size_t i = 0; i < arrays.size(); ++i) arrays[i] = counts_.data() + i % copies_ * cells_;
  return arrays;
}

void JointCounter::Add(const JointCounter& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::span<const uint32_t> JointCounter::Finish() {
  for (size_t copy = 1; copy < copies_; ++copy) {
    for (size_t cell = 0; cell < cells_; ++cell) counts_[cell] += counts_[copy * cells_ + cell];
  }
  return counts_.first(cells_);
}

template <typename Number>
void JointCounter::CountBlocks(int64_t begin, int64_t end) {
  std::array<Number, kBlockRows> cells;
  for (int64_t first_row = begin; first_row < end; first_row += kBlockRows) {
    const std::span<Number> block =
        std::span(cells).first(static_cast<size_t>(std::min(kBlockRows, end - first_row)));
    CellsOfRows(columns_, first_row, block);
    Increment<Number>(block);
  }
}

template <typename Number>
void JointCounter::Increment(std::span<const Number> block) {
  const auto [first, second, third, fourth] = Arrays();
  size_t row = 0;
  for (; row + 4 <= block.size(); row += 4) {
    ++first[block[row]];
    ++second[block[row + 1]];
    ++third[block[row + 2]];
    ++fourth[block[row + 3]];
  }
  for (; row < block.size(); ++row) ++first[block[row]];
}

}  // namespace curator::dp
