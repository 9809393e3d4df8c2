#include "dp/accounting/rule.h"

#include <algorithm>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rules/rule_definition.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

absl::StatusOr<std::vector<CounterAmount>> Named(const RuleDefinition& rule,
                                                 absl::StatusOr<Amounts> amounts) {
  if (!amounts.ok()) return amounts.status();
  std::vector<CounterAmount> named;
  for (size_t i = 0; i < rule.counters.size(); ++i) {
    named.push_back({std::string(rule.counters[i].name), (*amounts)[i]});
  }
  return named;
}

// Combines the costs of mechanisms into the cost of an event, in the same way for every rule.
class Costing {
 public:
  Costing(const RuleDefinition& rule, const RuleSpec& spec) : rule_(rule), spec_(spec) {}

  // The cost of `event` for a unit that owns up to `group_size` records.
  absl::StatusOr<Amounts> Cost(const Event& event, int64_t group_size) const {
    return std::visit(Overloaded{[&](const ComposedEvent& e) { return Sum(e, group_size); },
                                 [&](const ParallelEvent& e) { return Largest(e, group_size); },
                                 [&](const GroupEvent& e) { return OfGroup(e, group_size); },
                                 [&](const CertifiedEvent& e) { return OfCertified(e, group_size); },
                                 [&](const auto&) { return OfMechanism(event, group_size); }},
                      event.what);
  }

 private:
  // Sequential composition. This is the one place where a count is multiplied.
  absl::StatusOr<Amounts> Sum(const ComposedEvent& event, int64_t group_size) const {
    Amounts total(rule_.counters.size(), 0);
    for (const CountedEvent& part : event.parts) {
      ASSIGN_OR_RETURN(const Amounts once, Cost(part.event, group_size));
      for (size_t i = 0; i < total.size(); ++i) {
        ASSIGN_OR_RETURN(const int64_t counted, CheckedMultiply(once[i], part.count));
        ASSIGN_OR_RETURN(total[i], CheckedAdd(total[i], counted));
      }
    }
    return total;
  }

  // Parallel composition: a record lies in one part. k records spread over parts cost at most k records in
  // the dearest part, because every counter grows at least linearly with the size of a group.
  absl::StatusOr<Amounts> Largest(const ParallelEvent& event, int64_t group_size) const {
    Amounts largest(rule_.counters.size(), 0);
    for (const Event& part : event.parts) {
      ASSIGN_OR_RETURN(const Amounts cost, Cost(part, group_size));
      for (size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], cost[i]);
    }
    return largest;
  }

  absl::StatusOr<Amounts> OfGroup(const GroupEvent& event, int64_t group_size) const {
    ASSIGN_OR_RETURN(const int64_t records, CheckedMultiply(event.group_size, group_size));
    return Cost(event.event.front(), records);
  }

  absl::StatusOr<Amounts> OfCertified(const CertifiedEvent& event, int64_t group_size) const {
    if (rule_.certificates == Certificates::kIgnored) return Cost(event.schedule.front(), group_size);
    return OfMechanism({ApproximateEvent{event.epsilon, event.delta}}, group_size);
  }

  absl::StatusOr<Amounts> OfMechanism(const Event& event, int64_t group_size) const {
    ASSIGN_OR_RETURN(const Event for_group, ForGroup(event, group_size));
    return rule_.mechanism_cost(spec_, for_group);
  }

  const RuleDefinition& rule_;
  const RuleSpec& spec_;
};

}  // namespace

std::string_view RuleName(RuleKind kind) {
  const RuleDefinition* rule = DefinitionOf(kind);
  return rule == nullptr ? "UNKNOWN" : rule->name;
}

absl::StatusOr<RuleKind> RuleFromName(std::string_view name) {
  std::string known;
  for (const RuleDefinition* rule : AllRules()) {
    if (rule->name == name) return rule->kind;
    known += (known.empty() ? "" : ", ") + std::string(rule->name);
  }
  return InvalidField("rule", "must be one of " + known);
}

absl::StatusOr<std::vector<CounterAmount>> LimitsOf(const RuleSpec& spec) {
  const RuleDefinition* rule = DefinitionOf(spec.kind);
  if (rule == nullptr) return InvalidField("rule", "is unknown");
  return Named(*rule, rule->limits(spec));
}

absl::StatusOr<std::vector<CounterAmount>> CostOf(const RuleSpec& spec, const Event& event) {
  const RuleDefinition* rule = DefinitionOf(spec.kind);
  if (rule == nullptr) return InvalidField("rule", "is unknown");
  RETURN_IF_ERROR(ValidateEvent(event));
  return Named(*rule, Costing(*rule, spec).Cost(event, 1));
}

std::string FormatCounter(std::string_view counter, int64_t amount) {
  for (const RuleDefinition* rule : AllRules()) {
    for (const CounterUnit& unit : rule->counters) {
      if (unit.name == counter) return DecimalText(amount, unit.decimals);
    }
  }
  return std::to_string(amount) + " units";
}

}  // namespace curator::dp
