#include "dp/synthesis/dpsyn/estimate_views.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/ripple.h"
#include "dp/synthesis/dpsyn/shrinkage.h"

namespace curator::dp {
namespace {

// A round that leaves no cell below this has settled.
constexpr double kSettled = 1e-3;
constexpr double kRakedEnough = 1e-10;

double LeastCell(const std::vector<ViewTable>& views) {
  double least = 0;
  for (const ViewTable& view : views) least = std::min(least, *std::ranges::min_element(view.cells));
  return least;
}

absl::Status AlternateWithRipple(const ViewEstimation& rule, const std::vector<SharedSet>& shared,
                                 std::vector<ViewTable>& views, Pacer& pacer) {
  double threshold = rule.threshold;
  for (int round = 0; round < rule.rounds && LeastCell(views) < -kSettled; ++round) {
    for (ViewTable& view : views) RETURN_IF_ERROR(Ripple(threshold, view, pacer));
    RETURN_IF_ERROR(MakeConsistent(shared, views, pacer));
    threshold /= 2;  // what the first rounds let pass must go too
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
          view.variance * static_cast<double>(Fold(view.set, view.sizes, {attribute}).ratio());
      if (!singles[attribute].empty() && variances[attribute] <= variance) continue;
      variances[attribute] = variance;
      singles[attribute] = NearestNonNegative(Folded(view, {attribute}), TotalOf(view));
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

}  // namespace curator::dp
