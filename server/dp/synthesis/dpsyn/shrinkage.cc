#include "dp/synthesis/dpsyn/shrinkage.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/reconstruction.h"

namespace curator::dp {
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
      const Fold fold(view.set, view.sizes, set);
      ViewTable pair{.set = set,
                     .sizes = {view.sizes[i], view.sizes[j]},
                     .cells = Folded(view, set),
                     .variance = view.variance * static_cast<double>(fold.ratio())};
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
