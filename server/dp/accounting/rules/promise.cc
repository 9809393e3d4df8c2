#include "dp/accounting/rules/promise.h"

#include <string>

#include "base/errors.h"

namespace curator::dp {

absl::Status CheckEpsilon(const RuleSpec& spec) {
  if (spec.epsilon.units() <= 0) return InvalidField("epsilon", "must be positive");
  return absl::OkStatus();
}

absl::Status CheckDelta(const RuleSpec& spec) {
  if (spec.delta.units() <= 0) return InvalidField("delta", "must be positive under this rule");
  if (spec.delta.units() >= kDeltaUnitsPerOne) return InvalidField("delta", "must be less than 1");
  return absl::OkStatus();
}

absl::Status CheckNoOrder(const RuleSpec& spec, std::string_view rule) {
  if (spec.order) return InvalidField("order", "has no meaning under " + std::string(rule));
  return absl::OkStatus();
}

absl::Status CheckNoSlack(const RuleSpec& spec, std::string_view rule) {
  if (spec.delta_slack) return InvalidField("delta_slack", "has no meaning under " + std::string(rule));
  return absl::OkStatus();
}

Delta DeltaSlackOf(const RuleSpec& spec) {
  return spec.delta_slack.value_or(Delta(spec.delta.units() / 2));
}

absl::StatusOr<int64_t> UsableLimit(absl::StatusOr<int64_t> limit, std::string_view field) {
  if (!limit.ok() || *limit < 1) {
    return InvalidField(field, "leaves no budget at all under this rule");
  }
  return limit;
}

}  // namespace curator::dp
