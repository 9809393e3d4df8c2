#include "dp/accounting/calculators/parallel.h"

#include <algorithm>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

absl::Status CheckCosts(std::span<const int64_t> costs, std::string_view field) {
  const bool any_negative = std::any_of(costs.begin(), costs.end(), [](int64_t cost) { return cost < 0; });
  return any_negative ? InvalidField(field, "must not be negative") : absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> ParallelSubstituteCost(std::span<const int64_t> add_remove,
                                               const std::optional<std::vector<int64_t>>& within_substitute,
                                               Growth growth) {
  RETURN_IF_ERROR(CheckCosts(add_remove, "add_remove"));
  int64_t largest = 0;
  int64_t second = 0;
  for (const int64_t cost : add_remove) {
    second = std::max(second, std::min(largest, cost));
    largest = std::max(largest, cost);
  }
  ASSIGN_OR_RETURN(const int64_t across, CheckedAdd(largest, second));
  int64_t within = 0;
  if (within_substitute) {
    RETURN_IF_ERROR(CheckCosts(*within_substitute, "within_substitute"));
    if (within_substitute->size() != add_remove.size()) {
      return InvalidField("within_substitute", "must have a cost for every part");
    }
    for (const int64_t cost : *within_substitute) within = std::max(within, cost);
  } else {
    ASSIGN_OR_RETURN(within, CheckedMultiply(largest, growth == Growth::kLinear ? 2 : 4));
  }
  return std::max(across, within);
}

}  // namespace curator::dp
