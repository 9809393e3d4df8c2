#include "dp/synthesis/aim/aim.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/aim/aim_schedule.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/clique_fit.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/nearest_non_negative.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// One-way marginals are counts that a table can have once they are projected, and have less noise than
// before: the fit follows them closely.
constexpr double kTrustInOneWays = 0.1;  // a factor of the variance

constexpr double kConvergedInRounds = 0.05;
constexpr double kConvergedAtLast = 0.01;

std::vector<double> AsReals(const std::vector<int64_t>& counts) {
  return {counts.begin(), counts.end()};
}

std::vector<AttributeSet> SetsOf(const std::vector<AimCandidate>& candidates) {
  std::vector<AttributeSet> sets;
  for (const AimCandidate& candidate : candidates) sets.push_back(candidate.attributes);
  return sets;
}

// One fit, from its first draw to its model. Not thread-safe.
class AimRun {
 public:
  // All must outlive it.
  AimRun(const SynthesisInput& input, AimSchedule schedule, PrivateQueries& kernel, Pacer& pacer)
      : input_(input),
        schedule_(std::move(schedule)),
        kernel_(kernel),
        pacer_(pacer),
        times_measured_(schedule_.candidates.size()) {}

  // Draws what the schedule lists, and fits. Errors: those of the kernel; CANCELLED as in Pacer.
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress) {
    RETURN_IF_ERROR(CountRecords());
    RETURN_IF_ERROR(MeasureOneWays());
    for (int64_t round = 0; round < schedule_.rounds; ++round) {
      RETURN_IF_ERROR(pacer_.Check());
      RETURN_IF_ERROR(Round(round));
      progress(static_cast<double>(round + 1) / static_cast<double>(schedule_.rounds + 1));
    }
    ASSIGN_OR_RETURN(const Replayed last, Replay(schedule_.settings.last_sweeps, kConvergedAtLast));
    const CliqueTree tree = fit_->tree();
    transcript_.push_back(absl::StrCat(
        tree.size(), tree.size() == 1 ? " clique of " : " cliques of ", CellsOfTree(tree),
        " cells; last fit: ", last.sweeps, last.sweeps == 1 ? " sweep, " : " sweeps, ",
        last.largest_move <= kConvergedAtLast ? "converged" : "stopped before it had converged",
        absl::StrFormat(": no answer moved by more than %.3g standard deviations", last.largest_move)));
    progress(1);
    return CliqueModel::Create(input_.domain,
                               {.attributes = schedule_.attributes,
                                .records = std::max<int64_t>(1, std::llround(fit_->records())),
                                .tree = tree,
                                .factors = fit_->factors(),
                                .transcript = std::move(transcript_)},
                               pacer_);
  }

 private:
  absl::Status Add(const AttributeSet& set, std::vector<double> answers, double deviation) {
    return fit_->Add({.group = {.attributes = set, .queries = EveryCell()},
                      .answers = std::move(answers),
                      .standard_deviation = deviation},
                     pacer_);
  }

  absl::Status CountRecords() {
    RETURN_IF_ERROR(pacer_.Check());
    ASSIGN_OR_RETURN(const int64_t count, kernel_.NoisyRecordCount(schedule_.record_noise));
    transcript_.push_back(absl::StrCat("number of records: ", count));
    const NoisyRecords records{.answer = static_cast<double>(count),
                               .standard_deviation = DeviationForFit(schedule_.record_noise)};
    fit_ = std::make_unique<CliqueFit>(input_.domain, schedule_.attributes, records, schedule_.all_cells);
    return Add({}, {records.answer}, records.standard_deviation);
  }

  absl::Status MeasureOneWays() {
    ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                     kernel_.NoisyCounts(schedule_.one_ways, schedule_.one_way_noise));
    const double deviation = DeviationForFit(schedule_.one_way_noise);
    const double total = fit_->records();
    for (size_t i = 0; i < counts.size(); ++i) {
      RETURN_IF_ERROR(pacer_.Advance(std::ssize(counts[i])));
      RETURN_IF_ERROR(Add(schedule_.one_ways[i], NearestNonNegative(AsReals(counts[i]), total),
                          deviation * std::sqrt(kTrustInOneWays)));
    }
    transcript_.push_back(
        absl::StrCat("every one-way marginal, each cell within about ", std::llround(2 * deviation)));
    return absl::OkStatus();
  }

  // The candidates that a round may choose from: those that fit and were measured least often. So draws that
  // are paid for are used, also when nothing new fits any more.
  std::vector<size_t> Open() const {
    std::vector<size_t> open;
    int64_t least = 0;
    for (size_t i = 0; i < schedule_.candidates.size(); ++i) {
      if (!open.empty() && times_measured_[i] > least) continue;
      if (!fit_->Fits(schedule_.candidates[i].attributes)) continue;
      if (open.empty() || times_measured_[i] < least) {
        open.clear();
        least = times_measured_[i];
      }
      open.push_back(i);
    }
    return open;
  }

  // None where the estimates of all of them would take too much memory.
  absl::StatusOr<std::optional<size_t>> Choose(std::vector<size_t> open) {
    RETURN_IF_ERROR(Replay(schedule_.settings.sweeps, kConvergedInRounds).status());
    std::erase_if(open, [&](size_t i) {
      return fit_->CellsToEstimate(schedule_.candidates[i].attributes) > kMostCellsOfAnEstimate;
    });
    if (open.empty()) return std::optional<size_t>();
    std::vector<AttributeSet> sets;
    for (const size_t i : open) sets.push_back(schedule_.candidates[i].attributes);
    ASSIGN_OR_RETURN(std::vector<std::vector<double>> estimates, fit_->Marginals(sets, pacer_));
    const double noise = ForecastError(schedule_.noise).expected_absolute_error;
    std::vector<CandidateFamily> families;
    for (size_t i = 0; i < open.size(); ++i) {
      CandidateFamily& family = families.emplace_back();
      family.group = {.attributes = std::move(sets[i]), .queries = EveryCell()};
      family.weight = schedule_.candidates[open[i]].weight;
      // What a measurement would leave of the error: in a cell of few records the fit follows less noise.
      for (const double cell : estimates[i]) family.penalty += std::min(noise, cell);
      family.estimate = std::move(estimates[i]);
      RETURN_IF_ERROR(pacer_.Advance(std::ssize(family.estimate)));
    }
    ASSIGN_OR_RETURN(const FamilyChoice choice, kernel_.SelectWorstCandidate(families, *schedule_.selection));
    return std::optional(open[choice.family]);
  }

  absl::Status Round(int64_t round) {
    const std::vector<size_t> open = Open();
    if (open.empty()) return absl::OkStatus();
    std::optional<size_t> chosen = open.front();
    if (schedule_.selection) {
      ASSIGN_OR_RETURN(chosen, Choose(open));
    }
    if (!chosen) return absl::OkStatus();
    ++times_measured_[*chosen];
    const AttributeSet& set = schedule_.candidates[*chosen].attributes;
    ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                     kernel_.NoisyCounts(std::span(&set, 1), schedule_.noise));
    const double deviation = DeviationForFit(schedule_.noise);
    transcript_.push_back(absl::StrCat("round ", round + 1, ": counts of ", NamesOf(input_.domain, set), ": ",
                                       counts[0].size(), " cells, each within about ",
                                       std::llround(2 * deviation)));
    return Add(set, AsReals(counts[0]), deviation);
  }

  absl::StatusOr<Replayed> Replay(int64_t most_sweeps, double converged) {
    const NoiseSpec& noise = schedule_.rounds > 0 ? schedule_.noise : schedule_.one_way_noise;
    return fit_->Replay({.most_sweeps = most_sweeps,
                         .converged = converged,
                         .prior_weight = schedule_.settings.slack / DeviationForFit(noise)},
                        pacer_);
  }

  const SynthesisInput& input_;
  const AimSchedule schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  std::unique_ptr<CliqueFit> fit_;
  std::vector<int64_t> times_measured_;  // each candidate
  std::vector<std::string> transcript_;
};

}  // namespace

std::string_view Aim::summary() const {
  return "A product over cliques of attributes, fitted to the one-way marginals and to those marginals that "
         "it "
         "answers worst.";
}

const std::vector<Setting>& Aim::settings() const {
  return AimSettingsTable();
}

absl::StatusOr<SynthesisPlan> Aim::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(AimSchedule schedule, MakeAimSchedule(input));
  RETURN_IF_ERROR(pacer.Check());
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  std::vector<std::string> lines = DescribeSchedule(schedule);
  const SynthesisMemory memory = MemoryOfAim(input, schedule);
  const double cpu_seconds = SecondsOfAim(input, schedule);
  return SynthesisPlan{
      .draws = std::move(schedule.draws),
      .event = std::move(event),
      .settings = std::move(schedule.used_settings),
      .schedule = std::move(lines),
      .model_cells = schedule.model_cells,
      .memory = memory,
      .cpu_seconds = cpu_seconds,
      .linear = std::move(schedule.linear),
      .drawn_from = {WholeMarginals(schedule.one_ways), WholeMarginals(SetsOf(schedule.candidates))}};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Aim::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                         Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(AimSchedule schedule, MakeAimSchedule(input));
  return AimRun(input, std::move(schedule), kernel, pacer).Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Aim::RestoreWith(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer) const {
  return CliqueModel::Restore(domain, bytes, pacer);
}

absl::StatusOr<int64_t> Aim::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return CliqueModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
