#include "dp/synthesis/dpsyn/view_sampler.h"

#include <algorithm>

#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {

WordStream::WordStream(BitSource& bits, size_t expected)
    : bits_(bits), words_(std::clamp<size_t>(expected, 1, 512)), next_(words_.size()) {}

double WordStream::Share() {
  if (next_ == words_.size()) {
    bits_.Fill(words_);
    next_ = 0;
  }
  return static_cast<double>(words_[next_++] >> 11) * 0x1.0p-53;
}

ViewSampler::ViewSampler(std::span<const ViewTable> views, const AttributeSet& attributes) {
  // A wide view is a good start: it is drawn from as a whole.
  size_t first = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    if (views[i].set.size() > views[first].set.size()) first = i;
  }
  for (const OrderedView& ordered : TopologicalOrder(views, first)) {
    if (!ordered.added.empty()) steps_.push_back(MakeStep(views[ordered.view], ordered, attributes));
  }
}

ViewSampler::Step ViewSampler::MakeStep(const ViewTable& view, const OrderedView& ordered,
                                        const AttributeSet& attributes) {
  Step step;
  const std::vector<int64_t> known_strides = StridesWithin(view.set, view.sizes, ordered.known);
  for (size_t i = view.set.size(); i-- > 0;) {
    const size_t place = *PositionIn(attributes, view.set[i]);
    const auto size = static_cast<size_t>(view.sizes[i]);
    if (known_strides[i] > 0) {
      step.known_places.push_back(place);
      step.known_strides.push_back(static_cast<size_t>(known_strides[i]));
    } else {
      step.added_places.push_back(place);
      step.added_sizes.push_back(size);
      step.added_cells *= size;
    }
  }
  step.cumulative.assign(view.cells.size(), 0.0);
  std::vector<size_t> known(view.cells.size());
  Marginalization(view.set, view.sizes, ordered.known).ForEachCell([&](size_t cell, size_t of_subset) {
    known[cell] = of_subset;
  });
  Marginalization(view.set, view.sizes, ordered.added).ForEachCell([&](size_t cell, size_t of_subset) {
    step.cumulative[known[cell] * step.added_cells + of_subset] = view.cells[cell];
  });
  for (size_t start = 0; start < step.cumulative.size(); start += step.added_cells) {
    const auto slice = std::span(step.cumulative).subspan(start, step.added_cells);
    const bool empty = std::ranges::none_of(slice, [](double count) { return count > 0; });
    double sum = 0;
    for (double& count : slice) count = sum += empty ? 1 : count;
  }
  return step;
}

void ViewSampler::Draw(WordStream& words, std::span<uint32_t> codes) const {
  for (const Step& step : steps_) {
    size_t known = 0;
    for (size_t i = 0; i < step.known_places.size(); ++i)
      known += codes[step.known_places[i]] * step.known_strides[i];
    const auto slice = std::span(step.cumulative).subspan(known * step.added_cells, step.added_cells);
    const double mark = words.Share() * slice.back();
    // The first cell whose sum exceeds the mark; it has a count of its own.
    auto cell = static_cast<size_t>(std::ranges::upper_bound(slice, mark) - slice.begin());
    cell = std::min(cell, step.added_cells - 1);
    for (size_t i = 0; i < step.added_places.size(); ++i) {
      codes[step.added_places[i]] = static_cast<uint32_t>(cell % step.added_sizes[i]);
      cell /= step.added_sizes[i];
    }
  }
}

}  // namespace curator::dp
