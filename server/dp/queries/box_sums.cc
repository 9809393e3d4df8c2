#include "dp/queries/box_sums.h"

#include <algorithm>
#include <type_traits>

#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

constexpr int64_t kMost = int64_t{1} << 62;

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kMost ? kMost : product;
}

// Replaces each cell by the sum of all cells up to and including it, along every side.
template <typename T>
void SumUp(std::span<const int64_t> sizes, std::vector<T>& cells) {
  const std::vector<int64_t> strides = RowMajorStrides(sizes);
  const auto all = static_cast<int64_t>(cells.size());
  for (size_t side = 0; side < sizes.size(); ++side) {
    const int64_t stride = strides[side];
    for (int64_t block = 0; block < all; block += stride * sizes[side]) {
      for (int64_t i = block + stride; i < block + stride * sizes[side]; ++i)
        cells[static_cast<size_t>(i)] += cells[static_cast<size_t>(i - stride)];
    }
  }
}

struct Corner {
  int64_t cell = 0;
  bool is_taken_away = false;
};

// The cells of a summed-area table that make up the sum of `box`.
void FindSumCorners(std::span<const int64_t> strides, std::span<const CodeInterval> box,
                    std::vector<Corner>& corners) {
  corners.assign(1, {});
  for (size_t side = 0; side < box.size(); ++side) {
    const size_t before = corners.size();
    for (size_t i = 0; i < before; ++i) {
      if (box[side].first > 0) {
        corners.push_back(
            {corners[i].cell + (int64_t{box[side].first} - 1) * strides[side], !corners[i].is_taken_away});
      }
      corners[i].cell += int64_t{box[side].last} * strides[side];
    }
  }
}

// The cells at which a table of differences changes, so that summing it up adds 1 inside `box`.
void FindStepCorners(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                     std::span<const CodeInterval> box, std::vector<Corner>& corners) {
  corners.assign(1, {});
  for (size_t side = 0; side < box.size(); ++side) {
    const size_t before = corners.size();
    for (size_t i = 0; i < before; ++i) {
      if (int64_t{box[side].last} + 1 < sizes[side]) {
        corners.push_back(
            {corners[i].cell + (int64_t{box[side].last} + 1) * strides[side], !corners[i].is_taken_away});
      }
      corners[i].cell += int64_t{box[side].first} * strides[side];
    }
  }
}

// Calls `visit` with each cell of `box`.
template <typename Visit>
void ForEachCell(std::span<const int64_t> strides, std::span<const CodeInterval> box, const Visit& visit) {
  std::vector<uint32_t> codes(box.size());
  int64_t cell = 0;
  for (size_t side = 0; side < box.size(); ++side) {
    codes[side] = box[side].first;
    cell += int64_t{codes[side]} * strides[side];
  }
  while (true) {
    visit(static_cast<size_t>(cell));
    size_t side = box.size();
    while (side > 0 && codes[side - 1] == box[side - 1].last) {
      --side;
      cell -= int64_t{codes[side] - box[side].first} * strides[side];
      codes[side] = box[side].first;
    }
    if (side == 0) return;
    ++codes[side - 1];
    cell += strides[side - 1];
  }
}

int64_t CornersOf(std::span<const CodeInterval> box) {
  int64_t corners = 1;
  for (const CodeInterval& side : box) corners = Times(corners, side.first > 0 ? 2 : 1);
  return corners;
}

// The differences that a box makes are at its far ends, too.
bool IsSummedCellByCell(std::span<const CodeInterval> box) {
  return BoxCells(box) <= CornersOf(box);
}

// Sum is an unsigned type for integers: its arithmetic wraps, so that sums that fit are exact whatever lies
// between.
template <typename Sum, typename T>
std::vector<T> SumsOf(std::span<const int64_t> sizes, std::span<const CodeInterval> sides,
                      std::span<const T> cells) {
  const std::vector<int64_t> strides = RowMajorStrides(sizes);
  std::vector<Sum> table;
  std::vector<Corner> corners;
  std::vector<T> sums;
  sums.reserve(sides.size() / sizes.size());
  for (size_t at = 0; at < sides.size(); at += sizes.size()) {
    const std::span<const CodeInterval> box = sides.subspan(at, sizes.size());
    Sum sum = 0;
    if (IsSummedCellByCell(box)) {
      ForEachCell(strides, box, [&](size_t cell) { sum += static_cast<Sum>(cells[cell]); });
    } else {
      if (table.empty()) {
        table.assign(cells.begin(), cells.end());
        SumUp(sizes, table);
      }
      FindSumCorners(strides, box, corners);
      for (const Corner& corner : corners) {
        const Sum part = table[static_cast<size_t>(corner.cell)];
        sum = corner.is_taken_away ? sum - part : sum + part;
      }
    }
    sums.push_back(static_cast<T>(sum));
  }
  return sums;
}

}  // namespace

std::vector<int64_t> BoxSums(std::span<const int64_t> sizes, std::span<const CodeInterval> sides,
                             std::span<const int64_t> cells) {
  return SumsOf<uint64_t, int64_t>(sizes, sides, cells);
}

std::vector<double> BoxSums(std::span<const int64_t> sizes, std::span<const CodeInterval> sides,
                            std::span<const double> cells) {
  return SumsOf<double, double>(sizes, sides, cells);
}

std::vector<int64_t> BoxCover(std::span<const int64_t> sizes, std::span<const CodeInterval> sides) {
  const std::vector<int64_t> strides = RowMajorStrides(sizes);
  std::vector<int64_t> cover(static_cast<size_t>(strides[0] * sizes[0]));
  std::vector<Corner> corners;
  const auto each_box = [&](const auto& visit) {
    for (size_t at = 0; at < sides.size(); at += sizes.size()) visit(sides.subspan(at, sizes.size()));
  };
  each_box([&](std::span<const CodeInterval> box) {
    if (IsSummedCellByCell(box)) return;
    FindStepCorners(sizes, strides, box, corners);
    for (const Corner& corner : corners)
      cover[static_cast<size_t>(corner.cell)] += corner.is_taken_away ? -1 : 1;
  });
  SumUp(sizes, cover);
  each_box([&](std::span<const CodeInterval> box) {
    if (!IsSummedCellByCell(box)) return;
    ForEachCell(strides, box, [&](size_t cell) { ++cover[cell]; });
  });
  return cover;
}

int64_t BoxSteps(std::span<const CodeInterval> box) {
  // Differences have a corner more on each side that ends before the attribute does.
  const int64_t corners = box.size() < 62 ? int64_t{1} << box.size() : kMost;
  return IsSummedCellByCell(box) ? BoxCells(box) : corners;
}

int64_t BoxCells(std::span<const CodeInterval> box) {
  int64_t cells = 1;
  for (const CodeInterval& side : box) cells = Times(cells, int64_t{side.last} - side.first + 1);
  return cells;
}

}  // namespace curator::dp
