#include "dp/synthesis/aim/aim_rounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/loop/components.h"

namespace curator::dp {
namespace {

constexpr double kConvergedInRounds = 0.05;
// Of the cliques' cells: what public marginals take before the rounds is room that no measurement has.
constexpr int64_t kPartBeforeTheRounds = 16;
// Of a measurement's deviation: answers that are trusted far more than that take very many sweeps to fit.
constexpr double kLeastOfNoise = 1.0 / 16;

double Distance(const std::vector<double>& one, const std::vector<double>& other) {
  double distance = 0;
  for (size_t i = 0; i < one.size(); ++i) distance += std::abs(one[i] - other[i]);
  return distance;
}

}  // namespace

absl::Status AimRounds::Begin() {
  if (!schedule_.uses_public) return absl::OkStatus();
  const LoopSchedule& loop = schedule_.loop;
  ASSIGN_OR_RETURN(PublicSource source, PublicSource::Of(input_.domain, *input_.prior, SetsOf(candidates_),
                                                         loop.one_ways, kernel_.executor(), pacer_));
  public_.emplace(std::move(source));
  RETURN_IF_ERROR(run_.Replay(schedule_.settings.sweeps, kConvergedInRounds).status());
  ASSIGN_OR_RETURN(const std::vector<std::vector<double>> one_ways,
                   run_.fit().Marginals(loop.one_ways, pacer_));
  RETURN_IF_ERROR(public_->LearnFromOneWays(one_ways, DeviationForFit(loop.one_way_noise), pacer_));
  for (int64_t i = 0; i < kPublicForests; ++i)
    RETURN_IF_ERROR(TakeForest(schedule_.loop.all_cells / kPartBeforeTheRounds, "before the rounds"));
  return absl::OkStatus();
}

absl::Status AimRounds::Round(int64_t round) {
  const std::vector<size_t> open = Open();
  if (open.empty()) return absl::OkStatus();
  const std::string step = absl::StrCat("round ", round + 1);
  if (!schedule_.selection) return Measure(open.front(), nullptr, step);
  ASSIGN_OR_RETURN(Estimates estimates, EstimatesOf(open));
  if (estimates.candidates.empty()) return absl::OkStatus();
  std::vector<std::vector<double>> said;
  if (public_) {
    ASSIGN_OR_RETURN(said, PublicCountsOf(estimates));
  }
  ASSIGN_OR_RETURN(const SubstitutionChoice choice,
                   public_ ? ChooseWithPublic(estimates, said) : ChooseMeasurement(estimates));
  const size_t chosen = estimates.candidates[choice.candidate];
  if (!choice.is_public) return Measure(chosen, public_ ? &said[choice.candidate] : nullptr, step);
  ++spared_;
  return Take(chosen, std::move(said[choice.candidate]), step);
}

absl::Status AimRounds::End() {
  if (!public_) return absl::OkStatus();
  for (; spared_ > 0; --spared_) {
    ASSIGN_OR_RETURN(const Estimates estimates, EstimatesOf(Open()));
    if (estimates.candidates.empty()) break;
    ASSIGN_OR_RETURN(const std::vector<std::vector<double>> said, PublicCountsOf(estimates));
    const size_t furthest = FurthestOf(estimates, said);
    RETURN_IF_ERROR(Measure(estimates.candidates[furthest], &said[furthest], "after the rounds"));
  }
  for (int64_t i = 0; i < kPublicForests; ++i)
    RETURN_IF_ERROR(TakeForest(schedule_.loop.all_cells, "after the rounds"));
  return absl::OkStatus();
}

// The candidates that a round may choose from: those that fit and were measured least often. So draws that
// are paid for are used, also when nothing new fits any more.
std::vector<size_t> AimRounds::Open() const {
  std::vector<size_t> open;
  int64_t least = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!open.empty() && times_measured_[i] > least) continue;
    if (!run_.fit().Fits(candidates_[i].attributes)) continue;
    if (open.empty() || times_measured_[i] < least) {
      open.clear();
      least = times_measured_[i];
    }
    open.push_back(i);
  }
  return open;
}

absl::StatusOr<AimRounds::Estimates> AimRounds::EstimatesOf(std::vector<size_t> open) {
  RETURN_IF_ERROR(run_.Replay(schedule_.settings.sweeps, kConvergedInRounds).status());
  Estimates estimates;
  std::erase_if(open, [&](size_t i) {
    return run_.fit().CellsToEstimate(candidates_[i].attributes) > kMostCellsOfAnEstimate;
  });
  if (open.empty()) return estimates;
  for (const size_t i : open) estimates.sets.push_back(candidates_[i].attributes);
  estimates.candidates = std::move(open);
  ASSIGN_OR_RETURN(estimates.cells, run_.fit().Marginals(estimates.sets, pacer_));
  return estimates;
}

// What a measurement would leave of each candidate's error.
absl::StatusOr<std::vector<double>> AimRounds::PenaltiesOf(const Estimates& estimates) {
  const double noise = ForecastError(schedule_.loop.noise).expected_absolute_error;
  std::vector<double> penalties;
  for (const std::vector<double>& cells : estimates.cells) {
    RETURN_IF_ERROR(pacer_.Advance(std::ssize(cells)));
    penalties.push_back(LeftByNoise(cells, noise));
  }
  return penalties;
}

absl::StatusOr<SubstitutionChoice> AimRounds::ChooseMeasurement(Estimates& estimates) {
  ASSIGN_OR_RETURN(const std::vector<double> penalties, PenaltiesOf(estimates));
  std::vector<CandidateFamily> families;
  for (size_t i = 0; i < penalties.size(); ++i) {
    families.push_back({.group = {.attributes = std::move(estimates.sets[i]), .queries = EveryCell()},
                        .estimate = std::move(estimates.cells[i]),
                        .penalty = penalties[i],
                        .weight = candidates_[estimates.candidates[i]].weight});
  }
  ASSIGN_OR_RETURN(const FamilyChoice choice, kernel_.SelectWorstCandidate(families, *schedule_.selection));
  return SubstitutionChoice{.candidate = choice.family, .is_public = false};
}

absl::StatusOr<SubstitutionChoice> AimRounds::ChooseWithPublic(Estimates& estimates,
                                                               const std::vector<std::vector<double>>& said) {
  ASSIGN_OR_RETURN(const std::vector<double> penalties, PenaltiesOf(estimates));
  std::vector<SubstitutableMarginal> marginals;
  for (size_t i = 0; i < penalties.size(); ++i) {
    const size_t candidate = estimates.candidates[i];
    marginals.push_back({.attributes = std::move(estimates.sets[i]),
                         .estimate = std::move(estimates.cells[i]),
                         .penalty = penalties[i],
                         .weight = candidates_[candidate].weight});
    if (!public_->is_taken(candidate) && IsBetterThanAMeasurement(candidate, said[i]))
      marginals.back().substitute = said[i];
  }
  return kernel_.SelectMeasuredOrPublic(marginals, *schedule_.selection);
}

absl::StatusOr<std::vector<std::vector<double>>> AimRounds::PublicCountsOf(const Estimates& estimates) {
  std::vector<std::vector<double>> said;
  for (size_t i = 0; i < estimates.candidates.size(); ++i) {
    ASSIGN_OR_RETURN(std::vector<double> own,
                     public_->CountsOf(estimates.candidates[i], estimates.cells[i], pacer_));
    said.push_back(std::move(own));
  }
  return said;
}

absl::Status AimRounds::Measure(size_t candidate, const std::vector<double>* said, const std::string& step) {
  ++times_measured_[candidate];
  ASSIGN_OR_RETURN(const std::vector<int64_t> counts, run_.Measure(candidates_[candidate].attributes, step));
  if (said == nullptr) return absl::OkStatus();
  return public_->LearnFrom(candidate, counts, *said, DeviationForFit(schedule_.loop.noise), pacer_);
}

absl::Status AimRounds::Take(size_t candidate, std::vector<double> said, const std::string& step) {
  public_->Take(candidate);
  const double deviation =
      std::max(public_->DeviationOf(candidate, said), kLeastOfNoise * DeviationForFit(schedule_.loop.noise));
  return run_.AddPublic(candidates_[candidate].attributes, std::move(said), deviation, step);
}

bool AimRounds::IsBetterThanAMeasurement(size_t candidate, const std::vector<double>& said) const {
  return public_->DeviationOf(candidate, said) < DeviationForFit(schedule_.loop.noise);
}

absl::Status AimRounds::TakeForest(int64_t most_cells, const std::string& step) {
  std::vector<size_t> left;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const bool is_new = !public_->is_taken(i) && times_measured_[i] == 0;
    if (is_new && run_.fit().FitsInto(candidates_[i].attributes, most_cells)) left.push_back(i);
  }
  ASSIGN_OR_RETURN(const Estimates estimates, EstimatesOf(std::move(left)));
  ASSIGN_OR_RETURN(std::vector<std::vector<double>> said, PublicCountsOf(estimates));
  std::vector<double> distances;
  std::vector<size_t> order;
  for (size_t i = 0; i < said.size(); ++i) {
    RETURN_IF_ERROR(pacer_.Advance(std::ssize(said[i])));
    distances.push_back(Distance(said[i], estimates.cells[i]));
    if (!IsBetterThanAMeasurement(estimates.candidates[i], said[i])) continue;
    if (public_->Contradicts(estimates.candidates[i], said[i], estimates.cells[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return distances[a] > distances[b]; });
  Components components(schedule_.loop.attributes);
  for (const size_t i : order) {
    if (!run_.fit().FitsInto(estimates.sets[i], most_cells) || !components.Separates(estimates.sets[i]))
      continue;
    components.Join(estimates.sets[i]);
    RETURN_IF_ERROR(Take(estimates.candidates[i], std::move(said[i]), step));
  }
  return absl::OkStatus();
}

size_t AimRounds::FurthestOf(const Estimates& estimates, const std::vector<std::vector<double>>& said) const {
  const double noise = ForecastError(schedule_.loop.noise).expected_absolute_error;
  std::vector<double> gains;
  for (size_t i = 0; i < said.size(); ++i) {
    gains.push_back(static_cast<double>(candidates_[estimates.candidates[i]].weight) *
                    (Distance(said[i], estimates.cells[i]) - LeftByNoise(estimates.cells[i], noise)));
  }
  return static_cast<size_t>(std::ranges::max_element(gains) - gains.begin());
}

}  // namespace curator::dp
