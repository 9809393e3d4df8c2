#include "dp/synthesis/mwem/mwem.h"

#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/dense/product_model.h"
#include "dp/synthesis/factored/factored_model.h"
#include "dp/synthesis/mwem/mwem_run.h"
#include "dp/synthesis/mwem/mwem_schedule.h"

namespace curator::dp {

std::string_view Mwem::summary() const {
  return "Multiplicative weights over the cells of the domain, fitted to the marginals and queries that are "
         "approximated worst.";
}

const std::vector<Setting>& Mwem::settings() const {
  return MwemSettingsForPeople();
}

absl::StatusOr<SynthesisPlan> Mwem::Plan(const SynthesisInput& input) const {
  ASSIGN_OR_RETURN(MwemSchedule schedule, MakeMwemSchedule(input));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  ASSIGN_OR_RETURN(Event event, ChargeFor(input.rule, budget, schedule.draws, input.charged));
  std::vector<std::string> lines = DescribeSchedule(schedule);
  return SynthesisPlan{.draws = std::move(schedule.draws),
                       .event = std::move(event),
                       .settings = std::move(schedule.used_settings),
                       .schedule = std::move(lines),
                       .model_cells = schedule.model_cells,
                       .linear = std::move(schedule.linear)};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mwem::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                          Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(MwemSchedule schedule, MakeMwemSchedule(input));
  return MwemRun(input, std::move(schedule), kernel, pacer).Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mwem::Restore(const Domain& domain,
                                                              std::string_view bytes) const {
  if (FactoredModel::Wrote(bytes)) return FactoredModel::Restore(domain, bytes);
  return ProductModel::Restore(domain, bytes);
}

}  // namespace curator::dp
