#include "dp/synthesis/swift/swift.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/kernel/private_queries.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/swift/choice.h"
#include "dp/synthesis/swift/swift_schedule.h"

namespace curator::dp {
namespace {

constexpr double kConvergedBeforeALook = 0.05;

// The looks of one fit, and what follows each of them. Not thread-safe.
class SwiftLooks {
 public:
  // All must outlive it.
  SwiftLooks(const SwiftSchedule& schedule, PrivateQueries& kernel, Pacer& pacer, CliqueRun& run)
      : schedule_(schedule), kernel_(kernel), pacer_(pacer), run_(run) {}

  // Looks at all candidates, and chooses up to `count` of them.
  absl::StatusOr<std::vector<AttributeSet>> Look(int64_t count) {
    RETURN_IF_ERROR(run_.Replay(schedule_.settings.sweeps, kConvergedBeforeALook).status());
    ASSIGN_OR_RETURN(const std::vector<IntegerMarginal> estimates, Estimates());
    ASSIGN_OR_RETURN(const std::vector<int64_t> errors,
                     kernel_.NoisyErrors(estimates, schedule_.error_noise));
    const double noise = ForecastError(schedule_.loop.noise).expected_absolute_error;
    std::vector<SeenCandidate> seen;
    for (size_t i = 0; i < errors.size(); ++i) {
      const std::vector<double> cells(estimates[i].cells.begin(), estimates[i].cells.end());
      RETURN_IF_ERROR(pacer_.Advance(std::ssize(cells)));
      seen.push_back({.attributes = estimates[i].attributes,
                      .gain = static_cast<double>(errors[i]) - LeftByNoise(cells, noise),
                      .cells = std::ssize(cells)});
    }
    return Chosen(std::move(seen), count);
  }

 private:
  // Of all candidates, because a look has as many as were paid for.
  absl::StatusOr<std::vector<IntegerMarginal>> Estimates() {
    const std::vector<AttributeSet> sets = SetsOf(schedule_.loop.candidates);
    ASSIGN_OR_RETURN(std::vector<std::vector<double>> estimates, run_.fit().Marginals(sets, pacer_));
    std::vector<IntegerMarginal> rounded;
    for (size_t i = 0; i < sets.size(); ++i) {
      IntegerMarginal& own = rounded.emplace_back();
      own.attributes = sets[i];
      RETURN_IF_ERROR(pacer_.Advance(std::ssize(estimates[i])));
      for (const double cell : estimates[i]) own.cells.push_back(std::llround(cell));
      estimates[i] = {};
    }
    return rounded;
  }

  absl::StatusOr<std::vector<AttributeSet>> Chosen(std::vector<SeenCandidate> seen, int64_t count) {
    const RoomForCliques room{.max_cells = schedule_.loop.all_cells,
                              .max_separator = schedule_.loop.max_separator};
    ASSIGN_OR_RETURN(const std::vector<size_t> chosen,
                     ChooseSets(seen, run_.fit().graph(), room, count, pacer_));
    std::vector<AttributeSet> sets;
    for (const size_t i : chosen) sets.push_back(seen[i].attributes);
    return sets;
  }

  const SwiftSchedule& schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  CliqueRun& run_;
};

}  // namespace

std::string_view Swift::summary() const {
  return "A product over cliques of attributes, fitted once to the one-way marginals and to those marginals "
         "that independence answers worst; fast.";
}

const std::vector<Setting>& Swift::settings() const {
  return SwiftSettingsTable();
}

absl::StatusOr<SynthesisPlan> Swift::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(const SwiftSchedule schedule, MakeSwiftSchedule(input));
  RETURN_IF_ERROR(pacer.Check());
  return PlanOf(input, schedule.loop, WorkOfSwift(schedule), DescribeSchedule(schedule));
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Swift::Fit(const SynthesisInput& input,
                                                           PrivateQueries& kernel, Pacer& pacer,
                                                           const Progress& progress) const {
  ASSIGN_OR_RETURN(const SwiftSchedule schedule, MakeSwiftSchedule(input));
  CliqueRun run(input, schedule.loop, kernel, pacer);
  RETURN_IF_ERROR(run.Begin());
  SwiftLooks looks(schedule, kernel, pacer, run);
  int64_t left = schedule.loop.measurements;
  for (int64_t look = 0; look < schedule.looks; ++look) {
    const int64_t count = left / (schedule.looks - look);
    ASSIGN_OR_RETURN(const std::vector<AttributeSet> sets, looks.Look(count));
    RETURN_IF_ERROR(run.MeasureInTurn(sets, count));
    left -= count;
    progress(static_cast<double>(look + 1) / static_cast<double>(schedule.looks + 1));
  }
  if (schedule.looks == 0) {
    ASSIGN_OR_RETURN(const std::vector<AttributeSet> all, run.JoinAllThatFit());
    RETURN_IF_ERROR(run.MeasureInTurn(all, left));
  }
  return run.Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Swift::RestoreWith(const Domain& domain,
                                                                   std::string_view bytes,
                                                                   Pacer& pacer) const {
  return CliqueModel::Restore(domain, bytes, pacer);
}

absl::StatusOr<int64_t> Swift::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return CliqueModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
