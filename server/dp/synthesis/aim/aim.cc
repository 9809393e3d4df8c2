#include "dp/synthesis/aim/aim.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/aim/aim_schedule.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/models/clique_model.h"

namespace curator::dp {
namespace {

constexpr double kConvergedInRounds = 0.05;

// The rounds of one fit. Not thread-safe.
class AimRounds {
 public:
  // All must outlive it.
  AimRounds(const AimSchedule& schedule, PrivateQueries& kernel, Pacer& pacer, CliqueRun& run)
      : schedule_(schedule),
        candidates_(schedule.loop.candidates),
        kernel_(kernel),
        pacer_(pacer),
        run_(run),
        times_measured_(candidates_.size()) {}

  absl::Status Round(int64_t round) {
    const std::vector<size_t> open = Open();
    if (open.empty()) return absl::OkStatus();
    std::optional<size_t> chosen = open.front();
    if (schedule_.selection) {
      ASSIGN_OR_RETURN(chosen, Choose(open));
    }
    if (!chosen) return absl::OkStatus();
    ++times_measured_[*chosen];
    return run_.Measure(candidates_[*chosen].attributes, absl::StrCat("round ", round + 1));
  }

 private:
  // The candidates that a round may choose from: those that fit and were measured least often. So draws that
  // are paid for are used, also when nothing new fits any more.
  std::vector<size_t> Open() const {
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

  // None where the estimates of all of them would take too much memory.
  absl::StatusOr<std::optional<size_t>> Choose(std::vector<size_t> open) {
    RETURN_IF_ERROR(run_.Replay(schedule_.settings.sweeps, kConvergedInRounds).status());
    std::erase_if(open, [&](size_t i) {
      return run_.fit().CellsToEstimate(candidates_[i].attributes) > kMostCellsOfAnEstimate;
    });
    if (open.empty()) return std::optional<size_t>();
    std::vector<AttributeSet> sets;
    for (const size_t i : open) sets.push_back(candidates_[i].attributes);
    ASSIGN_OR_RETURN(std::vector<std::vector<double>> estimates, run_.fit().Marginals(sets, pacer_));
    const double noise = ForecastError(schedule_.loop.noise).expected_absolute_error;
    std::vector<CandidateFamily> families;
    for (size_t i = 0; i < open.size(); ++i) {
      CandidateFamily& family = families.emplace_back();
      family.group = {.attributes = std::move(sets[i]), .queries = EveryCell()};
      family.weight = candidates_[open[i]].weight;
      family.penalty = LeftByNoise(estimates[i], noise);
      family.estimate = std::move(estimates[i]);
      RETURN_IF_ERROR(pacer_.Advance(std::ssize(family.estimate)));
    }
    ASSIGN_OR_RETURN(const FamilyChoice choice, kernel_.SelectWorstCandidate(families, *schedule_.selection));
    return std::optional(open[choice.family]);
  }

  const AimSchedule& schedule_;
  const std::vector<MarginalCandidate>& candidates_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  CliqueRun& run_;
  std::vector<int64_t> times_measured_;  // each candidate
};

}  // namespace

std::string_view Aim::summary() const {
  return "A product over cliques of attributes, fitted to the one-way marginals and to those marginals that "
         "it answers worst.";
}

const std::vector<Setting>& Aim::settings() const {
  return AimSettingsTable();
}

absl::StatusOr<SynthesisPlan> Aim::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(const AimSchedule schedule, MakeAimSchedule(input));
  RETURN_IF_ERROR(pacer.Check());
  return PlanOf(input, schedule.loop, WorkOfAim(schedule), DescribeSchedule(schedule));
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Aim::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                         Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(const AimSchedule schedule, MakeAimSchedule(input));
  CliqueRun run(input, schedule.loop, kernel, pacer);
  RETURN_IF_ERROR(run.Begin());
  AimRounds rounds(schedule, kernel, pacer, run);
  for (int64_t round = 0; round < schedule.loop.measurements; ++round) {
    RETURN_IF_ERROR(pacer.Check());
    RETURN_IF_ERROR(rounds.Round(round));
    progress(static_cast<double>(round + 1) / static_cast<double>(schedule.loop.measurements + 1));
  }
  return run.Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Aim::RestoreWith(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer) const {
  return CliqueModel::Restore(domain, bytes, pacer);
}

absl::StatusOr<int64_t> Aim::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return CliqueModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
