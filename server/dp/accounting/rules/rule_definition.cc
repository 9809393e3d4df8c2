#include "dp/accounting/rules/rule_definition.h"

#include <array>
#include <string>

#include "absl/status/status.h"
#include "dp/accounting/overloaded.h"

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

}  // namespace curator::dp
