#include "dp/synthesis/dpsyn/ripple.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

// The cells of a view, each with its stride and size per attribute.
class Neighbours {
 public:
  explicit Neighbours(const ViewTable& view) : sizes_(view.sizes), strides_(view.sizes.size()) {
    size_t stride = 1;
    for (size_t i = sizes_.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= static_cast<size_t>(sizes_[i]);
      number_ += sizes_[i] - 1;
    }
  }

  int64_t number() const { return number_; }

  template <typename Visit>
  void Of(size_t cell, Visit visit) const {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const auto size = static_cast<size_t>(sizes_[i]);
      const size_t digit = cell / strides_[i] % size;
      const size_t first = cell - digit * strides_[i];
      for (size_t other = 0; other < size; ++other) {
        if (other != digit) visit(first + other * strides_[i]);
      }
    }
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<size_t> strides_;
  int64_t number_ = 0;
};

}  // namespace

absl::Status Ripple(double threshold, ViewTable& view, Pacer& pacer) {
  const double total = TotalOf(view);
  const Neighbours neighbours(view);
  std::deque<size_t> waiting;
  for (size_t cell = 0; cell < view.cells.size(); ++cell) {
    if (view.cells[cell] < -threshold) waiting.push_back(cell);
  }
  RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(view.cells.size())));
  int64_t left = total > 0 && neighbours.number() > 0 ? 4 * static_cast<int64_t>(view.cells.size()) : 0;
  while (!waiting.empty() && left-- > 0) {
    const size_t cell = waiting.front();
    waiting.pop_front();
    const double deficit = -view.cells[cell];
    if (deficit <= threshold) continue;  // it waited twice
    view.cells[cell] = 0;
    const double share = deficit / static_cast<double>(neighbours.number());
    RETURN_IF_ERROR(pacer.Advance(neighbours.number()));
    neighbours.Of(cell, [&](size_t other) {
      const bool waits = view.cells[other] < -threshold;
      view.cells[other] -= share;
      if (!waits && view.cells[other] < -threshold) waiting.push_back(other);
    });
  }
  if (!waiting.empty()) view.cells = NearestNonNegative(std::move(view.cells), std::max(0.0, total));
  return absl::OkStatus();
}

}  // namespace curator::dp
