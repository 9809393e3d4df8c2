// The parts of a table over several attributes: one for each subset of them, which depends on that subset
// alone (marginal_consistency.h).
//
// In place, a part's coordinates are at the places that are not the first along exactly its axes.
//
// Thread-safe: immutable after creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace curator::dp {

// Subsets are bit masks: the first axis has the lowest bit.
class Subsets {
 public:
  explicit Subsets(std::vector<size_t> sizes) : sizes_(std::move(sizes)) {}

  // Calls `visit(mask, position)` for each coordinate in order: the axes where it is not 0, and how many
  // coordinates with these axes came before.
  template <typename Visit>
  void ForEachCoordinate(size_t cells, const Visit& visit) const {
    std::vector<size_t> digits(sizes_.size(), 0);
    std::vector<uint32_t> seen(size_t{1} << sizes_.size(), 0);
    size_t mask = 0;
    for (size_t cell = 0; cell < cells; ++cell) {
      visit(mask, seen[mask]++);
      for (size_t axis = sizes_.size(); axis-- > 0;) {
        const size_t bit = size_t{1} << axis;
        if (++digits[axis] < sizes_[axis]) {
          mask |= bit;
          break;
        }
        digits[axis] = 0;
        mask &= ~bit;
      }
    }
  }

  // The cells of the axes outside `mask`.
  double CellsOutside(size_t mask) const {
    double cells = 1;
    for (size_t axis = 0; axis < sizes_.size(); ++axis)
      if ((mask >> axis & 1) == 0) cells *= static_cast<double>(sizes_[axis]);
    return cells;
  }

  // How many coordinates r_S has; 0 where an axis of it has one value only.
  size_t CoordinatesOf(size_t mask) const {
    size_t coordinates = 1;
    for (size_t axis = 0; axis < sizes_.size(); ++axis)
      if ((mask >> axis & 1) == 1) coordinates *= sizes_[axis] - 1;
    return coordinates;
  }

  // prod over S of (1 - 1/d).
  double KeptShare(size_t mask) const {
    double share = 1;
    for (size_t axis = 0; axis < sizes_.size(); ++axis)
      if ((mask >> axis & 1) == 1) share *= 1 - 1 / static_cast<double>(sizes_[axis]);
    return share;
  }

  size_t count() const { return size_t{1} << sizes_.size(); }

 private:
  std::vector<size_t> sizes_;
};

}  // namespace curator::dp
