#include "service/charges/refusals_by_rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"

namespace curator::service {
namespace {

using codec::RefusalRule;

bool Lists(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::binary_search(names, name);
}

const std::string& NameOfColumn(const dp::Domain& domain, uint32_t column) {
  return column < domain.size() ? domain.attributes()[column].name()
                                : domain.measures()[column - domain.size()].name();
}

// The listed attributes and measures that the request uses; all of them for a request that may use any.
std::vector<std::string> RuledAttributes(const DatasetView& dataset, const RefusalRule& rule,
                                         const RuledRequest& request) {
  if (!request.attributes) return rule.attributes;
  std::vector<std::string> used;
  for (const uint32_t column : *request.attributes) {
    const std::string& name = NameOfColumn(dataset.schema.domain, column);
    if (Lists(rule.attributes, name) && std::ranges::find(used, name) == used.end()) used.push_back(name);
  }
  return used;
}

bool IsOfDatasetOrPart(const std::vector<ledger::Account>& accounts, int64_t account_id) {
  return std::ranges::any_of(accounts, [&](const ledger::Account& account) {
    const bool is_own =
        account.scope_type == ledger::ScopeType::kDataset || account.scope_type == ledger::ScopeType::kPart;
    return is_own && account.id == account_id;
  });
}

bool CostsMoreThan(const codec::PriceAbove& most, const RuledRequest& request) {
  return std::ranges::any_of(request.price.counters, [&](const PricedCounter& counter) {
    return counter.counter == most.counter && counter.cost > most.amount &&
           IsOfDatasetOrPart(request.accounts, counter.account_id);
  });
}

bool IsInTimeOf(const RefusalRule& rule, absl::Time now) {
  const int64_t now_us = absl::ToUnixMicros(now);
  return rule.start_us <= now_us && (rule.end_us == 0 || now_us < rule.end_us);
}

// `principal` as rules list it.
bool RefusesRequest(const DatasetView& dataset, const RefusalRule& rule, const std::string& principal,
                    const RuledRequest& request) {
  if (!rule.principals.empty() && !Lists(rule.principals, principal)) return false;
  if (rule.kinds != 0 && (rule.kinds & request.kind) == 0) return false;
  if (!IsInTimeOf(rule, request.now)) return false;
  if (rule.price_above && !CostsMoreThan(*rule.price_above, request)) return false;
  return rule.attributes.empty() || !RuledAttributes(dataset, rule, request).empty();
}

std::string NounOfKind(int64_t kind) {
  if (kind == codec::kRuledWorkload) return "workload";
  return kind == codec::kRuledSynthesis ? "synthesis" : "reservation";
}

// What of the request to change so that the rule lets it pass; empty when nothing of it would help.
std::vector<std::string> WaysToPass(const DatasetView& dataset, const RefusalRule& rule,
                                    const RuledRequest& request) {
  std::vector<std::string> ways;
  if (rule.price_above) {
    const auto& [counter, amount] = *rule.price_above;
    ways.push_back(absl::StrCat("ask for at most ", counter, " ", dp::FormatCounter(counter, amount)));
  }
  if (!rule.attributes.empty() && request.attributes) {
    ways.push_back(
        absl::StrCat("ask without ", absl::StrJoin(RuledAttributes(dataset, rule, request), ", ")));
  }
  if (rule.kinds != 0 && rule.kinds != codec::kAllRuledKinds)
    ways.push_back(absl::StrCat("ask otherwise than by a ", NounOfKind(request.kind)));
  if (rule.end_us != 0) {
    ways.push_back(absl::StrCat(
        "ask again from ",
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMicros(rule.end_us), absl::UTCTimeZone()),
        " on"));
  }
  return ways;
}

absl::Status RefusalBy(const DatasetView& dataset, const RefusalRule& rule, const RuledRequest& request) {
  const std::vector<std::string> ways = WaysToPass(dataset, rule, request);
  return RefusedByRule(absl::StrCat(
      "the rule \"", rule.name, "\" of the owner of dataset \"", dataset.record.name, "\" refuses this ",
      NounOfKind(request.kind), rule.note.empty() ? "" : absl::StrCat(" (", rule.note, ")"), ": ",
      ways.empty() ? "only the owner can let it pass" : absl::StrJoin(ways, ", or "),
      "; nothing was charged"));
}

absl::StatusOr<std::optional<RefusalRule>> FirstThatRefuses(ledger::Ledger& ledger,
                                                            const DatasetView& dataset,
                                                            const RuledRequest& request) {
  ASSIGN_OR_RETURN(const std::string principal, ledger.PseudonymOf(request.principal.name()));
  ASSIGN_OR_RETURN(const std::vector<RefusalRule> rules,
                   codec::DecodeRefusalRules(dataset.record.refusal_rules));
  for (const RefusalRule& rule : rules) {
    if (RefusesRequest(dataset, rule, principal, request)) return rule;
  }
  return std::nullopt;
}

}  // namespace

void AddAttributesOf(std::span<const dp::QueryGroup> groups, std::set<uint32_t>& attributes) {
  for (const dp::QueryGroup& group : groups)
    attributes.insert(group.attributes.begin(), group.attributes.end());
}

void AddAttributesOf(const dp::Domain& domain, const dp::AskedStatistics& asked,
                     std::set<uint32_t>& attributes) {
  attributes.insert(asked.by.begin(), asked.by.end());
  attributes.insert(asked.where.begin(), asked.where.end());
  for (const dp::Statistic& statistic : asked.statistics) {
    if (!statistic.column) continue;
    attributes.insert(*statistic.column);
    if (*statistic.column < domain.size()) continue;
    const dp::Measure& measure = domain.measures()[*statistic.column - domain.size()];
    for (uint32_t i = 0; i < domain.size(); ++i) {
      const dp::Attribute& attribute = domain.attributes()[i];
      if (attribute.name() == measure.name() || attribute.column() == measure.column()) attributes.insert(i);
    }
  }
}

void AddPartitionAttribute(const DatasetView& dataset, std::set<uint32_t>& attributes) {
  const absl::StatusOr<uint32_t> index = dataset.schema.domain.IndexOf(dataset.record.partition_attribute);
  if (index.ok()) attributes.insert(*index);
}

absl::Status CheckNoRuleRefuses(ledger::Ledger& ledger, const DatasetView& dataset,
                                absl::FunctionRef<RuledRequest()> request) {
  if (dataset.record.refusal_rules.empty()) return absl::OkStatus();
  const RuledRequest ruled = request();
  ASSIGN_OR_RETURN(const std::optional<RefusalRule> rule, FirstThatRefuses(ledger, dataset, ruled));
  return rule ? RefusalBy(dataset, *rule, ruled) : absl::OkStatus();
}

absl::StatusOr<std::string> RuleThatRefuses(ledger::Ledger& ledger, const DatasetView& dataset,
                                            absl::FunctionRef<RuledRequest()> request) {
  if (dataset.record.refusal_rules.empty()) return std::string();
  ASSIGN_OR_RETURN(const std::optional<RefusalRule> rule, FirstThatRefuses(ledger, dataset, request()));
  return rule ? rule->name : std::string();
}

}  // namespace curator::service
