#include "dp/synthesis/aim/aim.h"

#include <cstdint>

#include "base/status_macros.h"
#include "dp/kernel/private_queries.h"
#include "dp/synthesis/aim/aim_rounds.h"
#include "dp/synthesis/aim/aim_schedule.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/models/clique_model.h"

namespace curator::dp {
std::string_view Aim::summary() const {
  return "A product over cliques of attributes, fitted to the one-way marginals and to those marginals that "
         "it answers worst; with a public table, each either measured or taken from there.";
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
  AimRounds rounds(input, schedule, kernel, pacer, run);
  RETURN_IF_ERROR(rounds.Begin());
  for (int64_t round = 0; round < schedule.loop.measurements; ++round) {
    RETURN_IF_ERROR(pacer.Check());
    RETURN_IF_ERROR(rounds.Round(round));
    progress(static_cast<double>(round + 1) / static_cast<double>(schedule.loop.measurements + 1));
  }
  RETURN_IF_ERROR(rounds.End());
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
