#include "dp/workload/part_cost.h"

#include <algorithm>

#include "base/status_macros.h"
#include "dp/accounting/certification.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

absl::StatusOr<std::vector<CounterAmount>> Times(std::vector<CounterAmount> amounts, int64_t factor) {
  for (CounterAmount& counter : amounts) {
    ASSIGN_OR_RETURN(counter.amount, CheckedMultiply(counter.amount, factor));
  }
  return amounts;
}

// Draw by draw: what is certified for a composition as a whole need not be linear in the records that change.
absl::StatusOr<std::vector<CounterAmount>> CostOfDraw(const RuleSpec& rule, const CountedEvent& draw) {
  ASSIGN_OR_RETURN(std::vector<CounterAmount> once, CostOf(rule, draw.event));
  return Times(std::move(once), draw.count);
}

// The sum of c over the draws, or of max(c, 2 r).
absl::StatusOr<std::vector<CounterAmount>> SumOverDraws(const RuleSpec& rule, const LinearDraws& linear,
                                                        NeighbourRelation relation) {
  if (linear.draws.empty() || linear.draws.size() != linear.removals.size()) {
    return absl::InvalidArgumentError("every draw needs its cost for a record that leaves");
  }
  std::vector<CounterAmount> total;
  for (size_t i = 0; i < linear.draws.size(); ++i) {
    if (linear.draws[i].count != linear.removals[i].count) {
      return absl::InvalidArgumentError("a draw and its removal are counted differently");
    }
    ASSIGN_OR_RETURN(std::vector<CounterAmount> cost, CostOfDraw(rule, linear.draws[i]));
    if (relation == NeighbourRelation::kReplaceOne) {
      ASSIGN_OR_RETURN(std::vector<CounterAmount> moved, CostOfDraw(rule, linear.removals[i]));
      ASSIGN_OR_RETURN(moved, Times(std::move(moved), 2));
      for (size_t counter = 0; counter < cost.size(); ++counter) {
        cost[counter].amount = std::max(cost[counter].amount, moved[counter].amount);
      }
    }
    if (total.empty()) total.assign(cost.size(), {});
    for (size_t counter = 0; counter < cost.size(); ++counter) {
      total[counter].counter = cost[counter].counter;
      ASSIGN_OR_RETURN(total[counter].amount, CheckedAdd(total[counter].amount, cost[counter].amount));
    }
  }
  return total;
}

}  // namespace

absl::StatusOr<std::vector<CounterAmount>> PartCostOf(const RuleSpec& rule, const UnitBound& unit,
                                                      const Event& event,
                                                      const std::optional<LinearDraws>& linear) {
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  ASSIGN_OR_RETURN(const int64_t changed_records, CheckedMultiply(unit.max_records, replaces ? 2 : 1));
  if (linear && !HasCertificate(event) && changed_records > 1)
    return SumOverDraws(rule, *linear, unit.relation);
  ASSIGN_OR_RETURN(std::vector<CounterAmount> cost, CostOf(rule, event));
  return Times(std::move(cost), changed_records);
}

}  // namespace curator::dp
