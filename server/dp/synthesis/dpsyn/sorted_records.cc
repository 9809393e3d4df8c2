#include "dp/synthesis/dpsyn/sorted_records.h"

#include <algorithm>

#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

// Whether the first cell comes later than the second: a heap's top is the largest count, then the first cell.
struct ComesLater {
  const std::vector<double>& left;
  bool operator()(size_t a, size_t b) const { return left[a] < left[b] || (left[a] == left[b] && a > b); }
};

}  // namespace

SortedRecords::SortedRecords(std::span<const ViewTable> views, const std::vector<OrderedView>& order,
                             const AttributeSet& attributes) {
  for (const OrderedView& ordered : order) {
    const ViewTable& view = views[ordered.view];
    Step step;
    step.left = view.cells;
    step.sizes.assign(view.sizes.begin(), view.sizes.end());
    step.strides = RowMajorStrides(step.sizes);
    for (size_t i = 0; i < view.set.size(); ++i) {
      step.places.push_back(*PositionIn(attributes, view.set[i]));
      step.known.push_back(Contains(ordered.known, view.set[i]));
    }
    const Marginalization map(view.set, view.sizes, ordered.known);
    step.slice_of.resize(view.cells.size());
    step.largest.resize(map.cells());
    map.ForEachCell([&](size_t cell, size_t of_subset) {
      step.slice_of[cell] = of_subset;
      step.largest[of_subset].push_back(cell);
    });
    for (std::vector<size_t>& heap : step.largest) std::ranges::make_heap(heap, ComesLater{step.left});
    steps_.push_back(std::move(step));
  }
}

void SortedRecords::SiftDown(const std::vector<double>& left, std::vector<size_t>& heap) {
  const ComesLater later{left};
  for (size_t at = 0;;) {
    size_t child = 2 * at + 1;
    if (child >= heap.size()) return;
    if (child + 1 < heap.size() && later(heap[child], heap[child + 1])) ++child;
    if (!later(heap[at], heap[child])) return;
    std::swap(heap[at], heap[child]);
    at = child;
  }
}

void SortedRecords::Next(std::span<uint32_t> codes) {
  for (Step& step : steps_) {
    // Any cell that agrees with the known attributes identifies the slice.
    size_t cell = 0;
    for (size_t i = 0; i < step.places.size(); ++i) {
      if (step.known[i]) cell += codes[step.places[i]] * step.strides[i];
    }
    std::vector<size_t>& heap = step.largest[step.slice_of[cell]];
    const size_t chosen = heap.front();
    for (size_t i = 0; i < step.places.size(); ++i)
      codes[step.places[i]] = static_cast<uint32_t>(chosen / step.strides[i] % step.sizes[i]);
    step.left[chosen] -= 1;
    SiftDown(step.left, heap);
  }
}

absl::StatusOr<RecordTable> MakeSortedRecords(std::span<const ViewTable> views,
                                              const AttributeSet& attributes,
                                              const std::vector<int64_t>& sizes, int64_t rows,
                                              int64_t repeats, Pacer& pacer) {
  RecordTable records(attributes, sizes, rows);
  std::vector<size_t> starts;
  for (size_t view = 0; view < views.size(); ++view) {
    if (views[view].set.size() > 1 || views.size() == 1) starts.push_back(view);
  }
  if (starts.empty()) starts.push_back(0);
  std::vector<uint32_t> codes(attributes.size());
  size_t row = 0;
  for (int64_t run = 0; run < repeats; ++run) {
    const auto end = static_cast<size_t>(rows * (run + 1) / repeats);
    const double share = rows == 0 ? 0 : static_cast<double>(end - row) / static_cast<double>(rows);
    std::vector<ViewTable> dealt(views.begin(), views.end());
    for (ViewTable& view : dealt) {
      const double total = TotalOf(view);
      const double scale = total > 0 ? share * static_cast<double>(rows) / total : 0;
      for (double& cell : view.cells) cell *= scale;
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(view.cells.size())));
    }
    const size_t first = starts[static_cast<size_t>(run) * starts.size() / static_cast<size_t>(repeats)];
    SortedRecords sorted(dealt, TopologicalOrder(dealt, first), attributes);
    for (; row < end; ++row) {
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(attributes.size())));
      sorted.Next(codes);
      for (size_t column = 0; column < codes.size(); ++column) records.Set(column, row, codes[column]);
    }
  }
  return records;
}

}  // namespace curator::dp
