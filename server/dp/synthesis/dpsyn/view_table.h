// Views: estimated counts of one marginal each, how they are marginalized, and the order in which they make
// up records.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// No view has more cells: one pass over a view is one step of a Pacer.
inline constexpr int64_t kMostViewCells = int64_t{1} << 19;

// Row-major: the last attribute of the set varies fastest. The empty set has one cell, the number of records.
struct ViewTable {
  AttributeSet set;
  std::vector<int64_t> sizes;  // of the set's attributes
  std::vector<double> cells;
  double variance = 0;  // of each cell's noise

  bool operator==(const ViewTable&) const = default;
};

// A view of `set` with all cells at `value`.
ViewTable MakeView(const Domain& domain, const AttributeSet& set, double value, double variance);

double TotalOf(const ViewTable& view);

// The map from the cells of a set of attributes to those of a subset.
class Marginalization {
 public:
  // `subset` lies in `set`; `sizes` are those of `set`.
  Marginalization(const AttributeSet& set, std::span<const int64_t> sizes, const AttributeSet& subset);

  // Of the subset.
  size_t cells() const { return subset_cells_; }
  // How many cells of the set each of them sums up.
  size_t ratio() const { return whole_cells_ / subset_cells_; }

  // Calls visit(cell, cell of the subset) for every cell of the set, in order.
  template <typename Visit>
  void ForEachCell(Visit visit) const {
    std::vector<int64_t> digits(outer_sizes_.size());
    size_t base = 0;
    for (size_t cell = 0; cell < whole_cells_;) {
      size_t of_subset = base;
      for (int64_t i = 0; i < last_size_; ++i, of_subset += last_stride_) visit(cell++, of_subset);
      for (size_t d = outer_sizes_.size(); d-- > 0;) {
        base += outer_strides_[d];
        if (++digits[d] < outer_sizes_[d]) break;
        base -= outer_strides_[d] * static_cast<size_t>(outer_sizes_[d]);
        digits[d] = 0;
      }
    }
  }

 private:
  std::vector<int64_t> outer_sizes_;  // of all attributes but the last
  std::vector<size_t> outer_strides_;
  int64_t last_size_ = 1;
  size_t last_stride_ = 0;
  size_t whole_cells_ = 1;
  size_t subset_cells_ = 1;
};

// The counts of the marginal of `subset`.
std::vector<double> Marginalized(const ViewTable& view, const AttributeSet& subset);

// One step of an order in which views make up a record: the view determines its new attributes, given those
// that are known already.
struct OrderedView {
  size_t view = 0;
  AttributeSet known;
  AttributeSet added;
};

// Starts with views[first]; then always the view that adds the fewest attributes, at least one (Li, Zhang,
// Wang 2018, "topologically sorted marginals"). Among equals the one in which the new attributes depend most
// on the known ones (the L1 distance of the table from independence of the two), then the first. Ends when
// all attributes of the views are known; some views may not be needed.
std::vector<OrderedView> TopologicalOrder(std::span<const ViewTable> views, size_t first);

}  // namespace curator::dp
