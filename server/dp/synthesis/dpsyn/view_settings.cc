#include "dp/synthesis/dpsyn/view_settings.h"

#include <algorithm>

#include "base/status_macros.h"
#include "dp/synthesis/dpsyn/covering_design.h"
#include "dp/synthesis/dpsyn/view_choice.h"
#include "dp/synthesis/dpsyn/view_schedule.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

// Attributes with many values need counts of their own; a few binary ones are counted in many views anyhow.
int64_t DefaultSinglePercent(const Domain& domain, const AttributeSet& attributes, Estimator estimator) {
  if (estimator == Estimator::kRipple) return 0;
  const bool large = std::ranges::any_of(
      attributes, [&](uint32_t attribute) { return domain.attributes()[attribute].size() > 8; });
  return large ? 30 : 5;
}

}  // namespace

absl::StatusOr<ViewSettings> ReadViewSettings(const Domain& domain, const std::vector<AttributeSet>& workload,
                                              SettingsReader& reader) {
  ViewSettings settings;
  settings.views = reader.Text("views", "design");
  ASSIGN_OR_RETURN(const std::string estimator, reader.Choice("estimator", {"shrunk", "ripple"}));
  settings.estimation.estimator = estimator == "ripple" ? Estimator::kRipple : Estimator::kShrunk;
  const bool shrunk = settings.estimation.estimator == Estimator::kShrunk;
  ASSIGN_OR_RETURN(settings.max_view_cells,
                   reader.Integer("max_view_cells", settings.max_view_cells, 1, kMostViewCells));
  ASSIGN_OR_RETURN(const std::string split, shrunk ? reader.Choice("split", {"equal", "squared_error"})
                                                   : reader.Choice("split", {"squared_error", "equal"}));
  settings.split = split == "equal" ? BudgetSplit::kEqual : BudgetSplit::kSquaredError;
  const AttributeSet attributes = UnionOf(workload);
  ASSIGN_OR_RETURN(
      settings.single_percent,
      reader.Integer("single_percent",
                     DefaultSinglePercent(domain, attributes, settings.estimation.estimator), 0, 90));
  const auto pairs = static_cast<int64_t>(SubsetsWithin(workload, 2).size());
  const int64_t most = std::clamp<int64_t>(pairs, 1, kMostViews);
  ASSIGN_OR_RETURN(
      settings.selections,
      reader.Integer("selections", std::clamp<int64_t>(2 * static_cast<int64_t>(attributes.size()), 1, most),
                     1, most));
  ASSIGN_OR_RETURN(settings.selection_percent,
                   reader.Integer("selection_percent", settings.selection_percent, 1, 90));
  ASSIGN_OR_RETURN(settings.estimation.threshold, reader.Real("threshold", 1, 0, 1e9));
  ASSIGN_OR_RETURN(const int64_t rounds, reader.Integer("rounds", shrunk ? 50 : 20, 1, 1000));
  settings.estimation.rounds = static_cast<int>(rounds);
  return settings;
}

const std::vector<Setting>& ViewSettingsForPeople() {
  static const auto* const settings = new std::vector<Setting>{
      {"views",
       "which marginals are measured. design: a covering design of the workload's pairs or triples; "
       "selected: "
       "the pairs that independence misses most, chosen by looking, at a price; or a list such as "
       "\"age,sex;sex,income,race\" (attributes by name, or by index as #3)",
       "design"},
      {"strength", "what a design covers: 2, every pair; 3, every triple",
       "that of the least expected error"},
      {"cells", "a design's bound on the cells of a view of more than two attributes",
       "that of the least expected error"},
      {"max_view_cells", "the most cells of any view of several attributes", "65536"},
      {"split",
       "how views of different sizes share the budget. equal: the same noise; squared_error: the least sum "
       "of "
       "squared errors",
       "equal when shrunk, squared_error with ripple"},
      {"single_percent", "the share of the budget for the counts of single attributes, 0 to 90",
       "30 with an attribute of more than 8 values, else 5; 0 with ripple"},
      {"selections", "with views=selected: how many pairs are chosen", "twice the attributes"},
      {"selection_percent", "with views=selected: the share of the pairs' budget that chooses them", "25"},
      {"estimator",
       "shrunk: views are drawn towards independence as far as their noise hides more, and raked until they "
       "agree; ripple: the paper's consistency and Ripple in turns",
       "shrunk"},
      {"threshold", "counts below minus this are what Ripple takes away; halved every round", "1"},
      {"rounds", "of consistency and Ripple, or sweeps of raking, at most", "50, or 20 with ripple"}};
  return *settings;
}

}  // namespace curator::dp
