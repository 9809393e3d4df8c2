#include "dp/synthesis/dpsyn/estimate_views.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/row_major.h"
#include "dp/synthesis/dpsyn/reconstruction.h"
#include "dp/synthesis/models/nearest_non_negative.h"

namespace curator::dp {
namespace {

// A round has converged when it leaves no cell below minus this.
constexpr double kConverged = 1e-3;
constexpr double kRakedEnough = 1e-10;

double LeastCell(const std::vector<ViewTable>& views) {
  double least = 0;
  for (const ViewTable& view : views) least = std::min(least, *std::ranges::min_element(view.cells));
  return least;
}

absl::Status AlternateWithRipple(const ViewEstimation& rule, const std::vector<SharedSet>& shared,
                                 std::vector<ViewTable>& views, Pacer& pacer) {
  double threshold = rule.threshold;
  for (int round = 0; round < rule.rounds && LeastCell(views) < -kConverged; ++round) {
    for (ViewTable& view : views) RETURN_IF_ERROR(Ripple(threshold, view, pacer));
    RETURN_IF_ERROR(MakeConsistent(shared, views, pacer));
    threshold /= 2;  // what the first rounds leave must be removed, too
  }
  return absl::OkStatus();
}

// The counts of each attribute, from the view that knows it best; all have the same total.
std::vector<std::vector<double>> SingleCounts(const std::vector<ViewTable>& views) {
  std::vector<std::vector<double>> singles;
  std::vector<double> variances;
  for (const ViewTable& view : views) {
    for (const uint32_t attribute : view.set) {
      if (attribute >= singles.size()) {
        singles.resize(attribute + 1);
        variances.resize(attribute + 1);
      }
      const double variance =
          view.variance * static_cast<double>(Marginalization(view.set, view.sizes, {attribute}).ratio());
      if (!singles[attribute].empty() && variances[attribute] <= variance) continue;
      variances[attribute] = variance;
      singles[attribute] = NearestNonNegative(Marginalized(view, {attribute}), TotalOf(view));
    }
  }
  return singles;
}

absl::Status ShrinkAndRake(const ViewEstimation& rule, const std::vector<SharedSet>& shared,
                           std::vector<ViewTable>& views, Pacer& pacer) {
  const std::vector<std::vector<double>> singles = SingleCounts(views);
  for (ViewTable& view : views) RETURN_IF_ERROR(ShrinkView(singles, view, pacer));
  return RakeConsistent(shared, kRakedEnough, rule.rounds, views, pacer);
}

void LiftAboveZero(std::vector<ViewTable>& views) {
  double share = 0;  // of the uniform table
  for (const ViewTable& view : views) {
    const double uniform = TotalOf(view) / static_cast<double>(view.cells.size());
    const double least = *std::ranges::min_element(view.cells);
    if (least < 0) share = std::max(share, -least / (uniform - least));
  }
  for (ViewTable& view : views) {
    const double uniform = TotalOf(view) / static_cast<double>(view.cells.size());
    for (double& cell : view.cells) cell = std::max(0.0, cell + share * (uniform - cell));
  }
}

}  // namespace

absl::StatusOr<std::vector<ViewTable>> EstimateViews(const ViewEstimation& rule,
                                                     const std::vector<SharedSet>& shared,
                                                     std::vector<ViewTable> views, Pacer& pacer) {
  RETURN_IF_ERROR(MakeConsistent(shared, views, pacer));
  if (TotalOf(views.front()) <= 0) {
    for (ViewTable& view : views) std::ranges::fill(view.cells, 0.0);
    return views;
  }
  RETURN_IF_ERROR(rule.estimator == Estimator::kRipple ? AlternateWithRipple(rule, shared, views, pacer)
                                                       : ShrinkAndRake(rule, shared, views, pacer));
  RETURN_IF_ERROR(MakeConsistent(shared, views, pacer));
  LiftAboveZero(views);
  return views;
}

namespace {

// The cells of a view, each with its stride and size per attribute.
class Neighbours {
 public:
  explicit Neighbours(const ViewTable& view)
      : sizes_(view.sizes.begin(), view.sizes.end()), strides_(RowMajorStrides(sizes_)) {
    for (const int64_t size : view.sizes) number_ += size - 1;
  }

  int64_t number() const { return number_; }

  template <typename Visit>
  void Of(size_t cell, Visit visit) const {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const size_t digit = cell / strides_[i] % sizes_[i];
      const size_t first = cell - digit * strides_[i];
      for (size_t other = 0; other < sizes_[i]; ++other) {
        if (other != digit) visit(first + other * strides_[i]);
      }
    }
  }

 private:
  std::vector<size_t> sizes_;
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

namespace {

constexpr double kStandardErrors = 2;
constexpr size_t kFewestCells = 16;  // of one class of cells with about the same expectation
constexpr int kClasses = 64;

// Classes of cells by the power of two of what is expected in them: 0 for next to nothing.
int ClassOf(double expected) {
  int exponent = 0;
  std::frexp(expected, &exponent);
  return std::clamp(exponent + 16, 0, kClasses - 1);
}

struct CellClass {
  size_t cells = 0;
  double squares = 0;  // of the deviations
  double kept = 0;     // the share of a deviation that is signal
};

// Neighbouring classes share one estimate until they have enough cells for it.
void EstimateSignal(double noise, std::vector<CellClass>& classes) {
  for (size_t first = 0; first < classes.size();) {
    size_t cells = 0;
    double squares = 0;
    size_t end = first;
    size_t rest = 0;
    for (size_t i = first; i < classes.size(); ++i) rest += classes[i].cells;
    while (end < classes.size() && (cells < kFewestCells || rest - cells < kFewestCells)) {
      cells += classes[end].cells;
      squares += classes[end].squares;
      ++end;
    }
    const auto number = static_cast<double>(cells);
    const double by_chance = noise * (number + kStandardErrors * std::sqrt(2 * number));
    const double signal = cells == 0 ? 0 : std::max(0.0, squares - by_chance) / number;
    for (size_t i = first; i < end; ++i) classes[i].kept = signal > 0 ? signal / (signal + noise) : 0;
    first = end;
  }
}

std::vector<double> Independent(const std::vector<std::vector<double>>& singles, const ViewTable& view) {
  double total = 0;
  std::vector<double> expected(view.cells.size());
  size_t repeats = 1;
  for (size_t i = view.set.size(); i-- > 0;) {
    const std::vector<double>& counts = singles[view.set[i]];
    total = std::max(1e-9, std::accumulate(counts.begin(), counts.end(), 0.0));
    for (size_t cell = 0; cell < expected.size(); ++cell) {
      const double share = counts[cell / repeats % counts.size()];
      expected[cell] = repeats == 1 ? share : expected[cell] * share / total;
    }
    // The first factor is a count, all others shares, whatever the sizes.
    repeats *= counts.size();
  }
  return expected;
}

double FreedomOf(const ViewTable& view) {
  double freedom = 1;
  for (const int64_t size : view.sizes) freedom *= static_cast<double>(size - 1);
  return freedom;
}

// Noise that is merely cut off at 0 adds to every total, and most where cells are many and small; scaled
// back, the large ones pay for it. So it is taken back where it came from, by subtraction.
absl::Status MeetSingles(const std::vector<std::vector<double>>& singles, ViewTable& view, Pacer& pacer) {
  std::vector<ViewTable> known;
  for (size_t i = 0; i < view.set.size(); ++i) {
    known.push_back(
        {.set = {view.set[i]}, .sizes = {view.sizes[i]}, .cells = singles[view.set[i]], .variance = 0});
  }
  return ProjectOnto(known, 1e-6, 30, view, pacer);
}

// All pairs of the view's attributes, shrunk.
absl::StatusOr<std::vector<ViewTable>> ShrunkPairs(const std::vector<std::vector<double>>& singles,
                                                   const ViewTable& view, Pacer& pacer) {
  std::vector<ViewTable> pairs;
  for (size_t i = 0; i < view.set.size(); ++i) {
    for (size_t j = i + 1; j < view.set.size(); ++j) {
      RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(view.cells.size())));
      const AttributeSet set = {view.set[i], view.set[j]};
      const Marginalization map(view.set, view.sizes, set);
      ViewTable pair{.set = set,
                     .sizes = {view.sizes[i], view.sizes[j]},
                     .cells = Marginalized(view, set),
                     .variance = view.variance * static_cast<double>(map.ratio())};
      RETURN_IF_ERROR(ShrinkView(singles, pair, pacer));
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace

void ShrinkTowards(const std::vector<double>& expected, double freedom, ViewTable& view) {
  const double noise = view.variance * freedom / static_cast<double>(view.cells.size());
  std::vector<CellClass> classes(kClasses);
  for (size_t cell = 0; cell < expected.size(); ++cell) {
    const double deviation = view.cells[cell] - expected[cell];
    CellClass& in = classes[static_cast<size_t>(ClassOf(expected[cell]))];
    ++in.cells;
    in.squares += deviation * deviation;
  }
  EstimateSignal(noise, classes);
  for (size_t cell = 0; cell < expected.size(); ++cell) {
    const double kept = classes[static_cast<size_t>(ClassOf(expected[cell]))].kept;
    view.cells[cell] = expected[cell] + kept * (view.cells[cell] - expected[cell]);
  }
}

absl::Status ShrinkView(const std::vector<std::vector<double>>& singles, ViewTable& view, Pacer& pacer) {
  if (view.set.empty()) return absl::OkStatus();
  if (view.set.size() == 1) {
    view.cells = singles[view.set[0]];
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(pacer.Advance(static_cast<int64_t>(view.cells.size())));
  ViewTable expected = view;
  expected.cells = Independent(singles, view);
  if (view.set.size() == 2) {
    ShrinkTowards(expected.cells, FreedomOf(view), view);
    return MeetSingles(singles, view, pacer);
  }
  ASSIGN_OR_RETURN(const std::vector<ViewTable> pairs, ShrunkPairs(singles, view, pacer));
  RETURN_IF_ERROR(FitProportionally(pairs, 1e-6, 30, expected, pacer));
  double freedom = static_cast<double>(view.cells.size()) - 1;
  for (const ViewTable& pair : pairs) freedom -= FreedomOf(pair);
  for (const int64_t size : view.sizes) freedom -= static_cast<double>(size - 1);
  ShrinkTowards(expected.cells, std::max(1.0, freedom), view);
  return MeetSingles(singles, view, pacer);
}

}  // namespace curator::dp
