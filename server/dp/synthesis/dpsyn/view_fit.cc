#include "dp/synthesis/dpsyn/view_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/dpsyn/view_noise.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

// Answers are never trusted further than this: noise may vanish at enormous budgets, weights divide by it.
constexpr double kLeastVariance = 0.0025;

double TrustedVariance(const NoiseSpec& noise) {
  const double deviation = ForecastError(noise).standard_deviation;
  return std::max(kLeastVariance, deviation * deviation);
}

class Drawing {
 public:
  Drawing(const Domain& domain, const ViewSchedule& schedule, Kernel& kernel, Pacer& pacer)
      : domain_(domain), schedule_(schedule), kernel_(kernel), pacer_(pacer) {}

  absl::StatusOr<FittedViews> Finish(const Progress& progress, double share) {
    RETURN_IF_ERROR(pacer_.Look());
    ASSIGN_OR_RETURN(const int64_t records, kernel_.NoisyRecordCount(schedule_.record_noise));
    fitted_.transcript.push_back(absl::StrCat("number of records: ", records));
    Add({}, {records}, schedule_.record_noise);
    for (const ViewGroup& group : schedule_.groups) RETURN_IF_ERROR(Measure(group.views, group.noise));
    if (schedule_.selected) RETURN_IF_ERROR(Select(*schedule_.selected));
    progress(0.3 * share);
    RETURN_IF_ERROR(pacer_.Look());
    std::vector<AttributeSet> sets;
    for (const ViewTable& view : fitted_.views) sets.push_back(view.set);
    ASSIGN_OR_RETURN(const std::vector<SharedSet> shared, SharedSets(sets, pacer_));
    ASSIGN_OR_RETURN(fitted_.views,
                     EstimateViews(schedule_.estimation, shared, std::move(fitted_.views), pacer_));
    fitted_.records =
        std::max<int64_t>(1, static_cast<int64_t>(std::llround(TotalOf(fitted_.views.front()))));
    progress(share);
    RETURN_IF_ERROR(pacer_.Look());
    return std::move(fitted_);
  }

 private:
  void Add(const AttributeSet& set, const std::vector<int64_t>& answers, const NoiseSpec& noise) {
    ViewTable& view = fitted_.views.emplace_back(MakeView(domain_, set, 0, TrustedVariance(noise)));
    view.cells.assign(answers.begin(), answers.end());
  }

  absl::Status Measure(const std::vector<AttributeSet>& sets, const NoiseSpec& noise) {
    for (const AttributeSet& set : sets) RETURN_IF_ERROR(pacer_.Advance(CellsOf(domain_, set)));
    ASSIGN_OR_RETURN(const auto answers, kernel_.NoisyCounts(sets, noise));
    const double deviation = ForecastError(noise).standard_deviation;
    for (size_t i = 0; i < sets.size(); ++i) {
      Add(sets[i], answers[i], noise);
      fitted_.transcript.push_back(
          absl::StrCat("counts of ", NamesOf(domain_, sets[i]), ", standard deviation ", deviation));
    }
    return absl::OkStatus();
  }

  // The candidates with their estimates by independence.
  absl::StatusOr<std::vector<ApproximatedMarginal>> Approximated(const SelectedViews& selected) {
    std::vector<std::vector<double>> singles(domain_.size());
    const double total = std::max(1.0, fitted_.views.front().cells[0]);
    for (const ViewTable& view : fitted_.views) {
      if (view.set.size() == 1) singles[view.set[0]] = NearestNonNegative(view.cells, total);
    }
    const double noise = ForecastError(selected.noise).expected_absolute_error;
    std::vector<ApproximatedMarginal> candidates;
    for (const AttributeSet& pair : selected.candidates) {
      RETURN_IF_ERROR(pacer_.Advance(CellsOf(domain_, pair)));
      ApproximatedMarginal& candidate = candidates.emplace_back();
      candidate.attributes = pair;
      for (const double left : singles[pair[0]]) {
        for (const double right : singles[pair[1]]) {
          candidate.estimate.push_back(left * right / total);
          candidate.penalty += std::min(noise, candidate.estimate.back());
        }
      }
    }
    return candidates;
  }

  absl::Status Select(const SelectedViews& selected) {
    ASSIGN_OR_RETURN(std::vector<ApproximatedMarginal> candidates, Approximated(selected));
    for (int64_t round = 0; round < selected.rounds; ++round) {
      RETURN_IF_ERROR(pacer_.Look());
      ASSIGN_OR_RETURN(const size_t chosen, kernel_.SelectWorstApproximated(candidates, selected.selection));
      RETURN_IF_ERROR(Measure({candidates[chosen].attributes}, selected.noise));
      candidates.erase(candidates.begin() + static_cast<ptrdiff_t>(chosen));
    }
    return absl::OkStatus();
  }

  const Domain& domain_;
  const ViewSchedule& schedule_;
  Kernel& kernel_;
  Pacer& pacer_;
  FittedViews fitted_;
};

}  // namespace

absl::StatusOr<FittedViews> FitViews(const Domain& domain, const ViewSchedule& schedule, Kernel& kernel,
                                     Pacer& pacer, const Progress& progress, double share) {
  return Drawing(domain, schedule, kernel, pacer).Finish(progress, share);
}

}  // namespace curator::dp
