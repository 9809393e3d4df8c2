#include "service/datasets/refusal_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

using codec::RefusalRule;

constexpr size_t kMostRuleNameLength = 63;
constexpr size_t kMostNoteLength = 200;
// About as many pseudonyms as fit into ledger::kMostRefusalRulesBytes.
constexpr size_t kMostRuledPrincipals = 1500;

absl::Status CheckRuleName(std::string_view name) {
  const auto is_allowed = [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_' || c == '-';
  };
  const bool is_valid = !name.empty() && name.size() <= kMostRuleNameLength &&
                        absl::ascii_islower(static_cast<unsigned char>(name.front())) &&
                        std::ranges::all_of(name, is_allowed);
  if (is_valid) return absl::OkStatus();
  return InvalidField("rule.name",
                      "must be 1 to 63 of the characters a-z, 0-9, '_' and '-', and start with a letter");
}

// A rule about a misspelt name would let pass what it was made to refuse.
absl::Status CheckRuledPrincipals(const Access& access, const std::vector<std::string>& names) {
  if (names.size() > kMostRuledPrincipals) {
    return InvalidField("rule.principals", absl::StrCat("lists ", names.size(), " principals; at most ",
                                                        kMostRuledPrincipals, " fit into a rule"));
  }
  std::optional<directory::DirectoryStore::Snapshot> current;
  if (access.directory != nullptr && !names.empty()) {
    ASSIGN_OR_RETURN(current, access.directory->Current());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string field = absl::StrCat("rule.principals[", i, "]");
    if (const auto violation = FieldViolationOf(CheckPrincipalName(names[i])))
      return InvalidField(field, violation->description);
    if (current && (*current)->FindPrincipal(names[i]) == nullptr)
      return InvalidField(field, "there is no such principal: an administrator creates it first");
  }
  return absl::OkStatus();
}

absl::Status CheckRuledAttributes(const dp::Domain& domain, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::any_of(domain.measures(), [&](const auto& each) { return each.name() == names[i]; }))
      continue;
    const absl::StatusOr<uint32_t> index = domain.IndexOf(names[i]);
    if (!index.ok())
      return InvalidField(absl::StrCat("rule.attributes[", i, "]"), std::string(index.status().message()));
  }
  return absl::OkStatus();
}

// `accounts` are those that the owner's charges may post to.
absl::Status CheckRuledCounter(const codec::PriceAbove& price, const std::vector<ledger::Account>& accounts) {
  std::vector<std::string> known;
  for (const ledger::Account& account : accounts) {
    const bool is_own =
        account.scope_type == ledger::ScopeType::kDataset || account.scope_type == ledger::ScopeType::kPart;
    if (!is_own) continue;
    for (const ledger::CounterBalance& balance : account.counters) known.push_back(balance.counter);
    break;  // parts have the rule of their dataset
  }
  if (std::ranges::find(known, price.counter) != known.end()) return absl::OkStatus();
  return InvalidField(
      "rule.price_above.counter",
      absl::StrCat("is not a counter of this dataset's accounts, which are: ", absl::StrJoin(known, ", ")));
}

absl::Status CheckRuledTimes(const RefusalRule& rule) {
  if (rule.end_us == 0) return absl::OkStatus();
  if (rule.end_us <= rule.start_us) return InvalidField("rule.end_time", "must be after start_time");
  if (rule.end_us > absl::ToUnixMicros(absl::Now())) return absl::OkStatus();
  return InvalidField("rule.end_time", "has passed: the rule would refuse nothing");
}

absl::Status CheckNewRule(const Access& access, const DatasetView& dataset, const RefusalRule& rule,
                          const Principal& owner) {
  RETURN_IF_ERROR(CheckRuleName(rule.name));
  RETURN_IF_ERROR(CheckRuledPrincipals(access, rule.principals));
  RETURN_IF_ERROR(CheckRuledAttributes(dataset.schema.domain, rule.attributes));
  RETURN_IF_ERROR(CheckRuledTimes(rule));
  if (rule.note.size() > kMostNoteLength)
    return InvalidField("rule.note", absl::StrCat("is longer than ", kMostNoteLength, " bytes"));
  RETURN_IF_ERROR(CheckLine("rule.note", rule.note));
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   PayingAccounts(access.ledger, dataset, owner.name()));
  return rule.price_above ? CheckRuledCounter(*rule.price_above, accounts) : absl::OkStatus();
}

// As it is stored: with pseudonyms in the place of the names of principals. A check makes none.
absl::StatusOr<RefusalRule> AsStored(ledger::Ledger& ledger, RefusalRule rule, Intent intent) {
  for (std::string& principal : rule.principals) {
    ASSIGN_OR_RETURN(principal, intent == Intent::kValidateOnly ? ledger.FindPseudonym(principal)
                                                                : ledger.PseudonymOf(principal));
  }
  std::ranges::sort(rule.principals);
  return rule;
}

// The rules with names, and the pseudonyms of principals that were forgotten.
absl::StatusOr<std::vector<RefusalRule>> NamedRulesOf(ledger::Ledger& ledger, const DatasetView& dataset) {
  ASSIGN_OR_RETURN(std::vector<RefusalRule> rules, codec::DecodeRefusalRules(dataset.record.refusal_rules));
  for (RefusalRule& rule : rules) {
    ASSIGN_OR_RETURN(rule.principals, ledger.NamesOf(rule.principals));
    std::ranges::sort(rule.principals);
  }
  return rules;
}

RefusalRule InOrder(RefusalRule rule) {
  for (std::vector<std::string>* const names : {&rule.principals, &rule.attributes}) {
    std::ranges::sort(*names);
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  return rule;
}

absl::StatusOr<ledger::EditedRules> WithRule(std::string_view present, const RefusalRule& rule) {
  ASSIGN_OR_RETURN(std::vector<RefusalRule> rules, codec::DecodeRefusalRules(present));
  const auto place = std::ranges::lower_bound(rules, rule.name, {}, &RefusalRule::name);
  const std::string summary = absl::StrCat("added ", rule.name);
  if (place != rules.end() && place->name == rule.name) {
    if (*place == rule) return ledger::EditedRules{std::string(present), summary};
    return absl::AlreadyExistsError(
        absl::StrCat("there is another rule \"", rule.name, "\": remove it first, or choose another name"));
  }
  if (rules.size() >= codec::kMostRefusalRules) {
    return absl::FailedPreconditionError(absl::StrCat("the dataset has ", codec::kMostRefusalRules,
                                                      " rules, as many as it may have: remove one first"));
  }
  rules.insert(place, rule);
  ledger::EditedRules edited{codec::EncodeRefusalRules(rules), summary};
  if (edited.rules.size() <= ledger::kMostRefusalRulesBytes) return edited;
  return absl::FailedPreconditionError(
      absl::StrCat("with this rule, the dataset's rules would take ", edited.rules.size(), " bytes; at most ",
                   ledger::kMostRefusalRulesBytes, " are stored: list fewer principals or attributes"));
}

absl::StatusOr<ledger::EditedRules> WithoutRule(std::string_view present, const std::string& name) {
  ASSIGN_OR_RETURN(std::vector<RefusalRule> rules, codec::DecodeRefusalRules(present));
  const auto place = std::ranges::find(rules, name, &RefusalRule::name);
  if (place == rules.end())
    return absl::NotFoundError(absl::StrCat("the dataset has no rule \"", name, "\""));
  rules.erase(place);
  return ledger::EditedRules{codec::EncodeRefusalRules(rules), absl::StrCat("removed ", name)};
}

// The kinds of requests that the viewer may make.
int64_t KindsOf(const DatasetView& dataset) {
  const auto bit = [&](Method method, int64_t kind) {
    return dataset.ExtentOf(method) == Extent::kNone ? 0 : kind;
  };
  return bit(Method::kAnswerWorkload, codec::kRuledWorkload) |
         bit(Method::kCreateSynthesis, codec::kRuledSynthesis) |
         bit(Method::kReserveBudget, codec::kRuledReservation);
}

// Leaves what concerns the principal's own requests.
void KeepOwnRules(const DatasetView& dataset, const Principal& principal, std::vector<RefusalRule>& rules) {
  const int64_t kinds = KindsOf(dataset);
  std::erase_if(rules, [&](const RefusalRule& rule) {
    const bool names_another =
        !rule.principals.empty() && !std::ranges::binary_search(rule.principals, principal.name());
    return names_another || (rule.kinds != 0 && (rule.kinds & kinds) == 0);
  });
  for (RefusalRule& rule : rules) {
    if (!rule.principals.empty()) rule.principals = {principal.name()};
  }
}

}  // namespace

absl::StatusOr<RefusalRule> AddRefusalRule(const Access& access, const RefusalRuleOrder& order,
                                           Intent intent) {
  // First whether the caller may: only owners learn who is known.
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kAddRefusalRule, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckNewRule(access, dataset, order.rule, order.principal));
  const RefusalRule rule = InOrder(order.rule);
  ASSIGN_OR_RETURN(const RefusalRule stored, AsStored(access.ledger, rule, intent));
  const auto edit = [&stored](std::string_view present) { return WithRule(present, stored); };
  if (intent == Intent::kValidateOnly) {
    RETURN_IF_ERROR(edit(dataset.record.refusal_rules).status());
    return rule;
  }
  RETURN_IF_ERROR(access.ledger
                      .SetRefusalRules({.request_id = order.request_id.text(),
                                        .dataset_id = dataset.record.id,
                                        .asked = absl::StrCat("add ", codec::EncodeRefusalRules({stored})),
                                        .edit = edit,
                                        .actor = order.principal})
                      .status());
  return rule;
}

absl::Status RemoveRefusalRule(const Access& access, const RefusalRuleRemoval& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kRemoveRefusalRule, order.principal, order.dataset));
  const auto edit = [&order](std::string_view present) { return WithoutRule(present, order.rule); };
  if (intent == Intent::kValidateOnly) return edit(dataset.record.refusal_rules).status();
  return access.ledger
      .SetRefusalRules({.request_id = order.request_id.text(),
                        .dataset_id = dataset.record.id,
                        .asked = absl::StrCat("remove ", order.rule),
                        .edit = edit,
                        .actor = order.principal})
      .status();
}

absl::StatusOr<std::vector<RefusalRule>> ListRefusalRules(const Access& access, const Principal& principal,
                                                          const DatasetName& name) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kListRefusalRules, principal, name));
  ASSIGN_OR_RETURN(std::vector<RefusalRule> rules, NamedRulesOf(access.ledger, dataset));
  if (!dataset.MayAll(Method::kListRefusalRules)) KeepOwnRules(dataset, principal, rules);
  return rules;
}

}  // namespace curator::service
