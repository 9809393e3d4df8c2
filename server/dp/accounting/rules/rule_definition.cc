#include "dp/accounting/rules/rule_definition.h"

#include <array>
#include <string>

#include "base/errors.h"

namespace curator::dp {

std::span<const RuleDefinition* const> AllRules() {
  static const std::array<const RuleDefinition*, 4> rules = {&PureRule(), &AdvancedRule(), &ZcdpRule(),
                                                             &RdpRule()};
  return rules;
}

const RuleDefinition* DefinitionOf(RuleKind kind) {
  for (const RuleDefinition* rule : AllRules()) {
    if (rule->kind == kind) return rule;
  }
  return nullptr;
}

absl::Status CannotCount(std::string_view rule, const Event& mechanism, std::string_view counts,
                         std::string_view remedy) {
  std::string message(rule);
  message += " cannot count ";
  message += Describe(mechanism);
  message += ": it counts ";
  message += counts;
  message += "; ";
  message += remedy;
  return absl::FailedPreconditionError(message);
}

std::optional<Interval> PureEpsilonUnits(const Event& mechanism) {
  using MaybeUnits = std::optional<Interval>;
  return std::visit(
      Overloaded{[](const DiscreteLaplaceEvent& e) -> MaybeUnits {
                   return Quotient({e.l1_sensitivity, e.scale.denominator, kEpsilonUnitsPerOne},
                                   {e.scale.numerator});
                 },
                 [](const LaplaceEvent& e) -> MaybeUnits {
                   return Quotient({e.l1_sensitivity.numerator, e.scale.denominator, kEpsilonUnitsPerOne},
                                   {e.l1_sensitivity.denominator, e.scale.numerator});
                 },
                 [](const ExponentialMechanismEvent& e) -> MaybeUnits { return Interval(e.range.units()); },
                 [](const PureEvent& e) -> MaybeUnits { return Interval(e.epsilon.units()); },
                 [](const auto&) -> MaybeUnits { return std::nullopt; }},
      mechanism.what);
}

absl::Status CheckEpsilon(const RuleSpec& spec) {
  if (spec.epsilon.units() <= 0) return InvalidField("epsilon", "must be positive");
  return absl::OkStatus();
}

absl::Status CheckDelta(const RuleSpec& spec) {
  if (spec.delta.units() <= 0)
    return InvalidField("delta", "must be positive under this rule, for example 1e-9");
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
