#include "service/accounts/accounts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/rule_codec.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

// Groups are named like principals are.
absl::Status CheckHolder(const std::string& field, const std::string& name) {
  const std::optional<FieldViolation> violation = FieldViolationOf(CheckPrincipal(name));
  return violation ? InvalidField(field, violation->description) : absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> MembersOf(const AccountOrder& order) {
  if (order.is_group && order.members.empty()) {
    return InvalidField("group.members", "a group needs at least one analyst");
  }
  for (size_t i = 0; i < order.members.size(); ++i) {
    RETURN_IF_ERROR(CheckHolder(absl::StrCat("group.members[", i, "]"), order.members[i]));
  }
  std::vector<std::string> members = order.members;
  std::sort(members.begin(), members.end());
  const auto twice = std::adjacent_find(members.begin(), members.end());
  if (twice != members.end()) {
    return InvalidField("group.members", absl::StrCat("names \"", *twice, "\" twice"));
  }
  return members;
}

ledger::Account Unopened(const ledger::AccountSpec& spec) {
  ledger::Account account{.lineage_id = {},
                          .scope_type = spec.scope_type,
                          .scope_key = spec.scope_key,
                          .rule = spec.rule,
                          .rule_name = spec.rule_name,
                          .counters = {},
                          .members = spec.members};
  for (const ledger::CounterLimit& limit : spec.limits) {
    account.counters.push_back({.counter = limit.counter, .limit = limit.limit});
  }
  return account;
}

}  // namespace

absl::StatusOr<ledger::AccountSpec> AccountUnder(const dp::RuleSpec& limit, ledger::ScopeType scope_type,
                                                 std::string scope_key) {
  ASSIGN_OR_RETURN(const std::vector<dp::CounterAmount> limits, dp::LimitsOf(limit));
  ledger::AccountSpec account{.scope_type = scope_type,
                              .scope_key = std::move(scope_key),
                              .rule = codec::EncodeRule(limit),
                              .rule_name = std::string(dp::RuleName(limit.kind)),
                              .limits = {}};
  for (const dp::CounterAmount& counter : limits) account.limits.push_back({counter.counter, counter.amount});
  return account;
}

absl::StatusOr<AccountView> CreateAccount(ledger::Ledger& ledger, const AccountOrder& order, Intent intent) {
  RETURN_IF_ERROR(CheckRequestId(order.request_id));
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(ledger, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckHolder(order.is_group ? "group.name" : "analyst", order.holder));
  absl::StatusOr<ledger::AccountSpec> spec = AccountUnder(
      order.limit, order.is_group ? ledger::ScopeType::kAnalystGroup : ledger::ScopeType::kAnalyst,
      order.holder);
  if (!spec.ok()) return WithinField("limit", spec.status());
  ASSIGN_OR_RETURN(spec->members, MembersOf(order));
  if (intent == Intent::kValidateOnly) {
    RETURN_IF_ERROR(AccountsOf(ledger, dataset).status());
    return ViewOf(dataset, Unopened(*spec), order.principal);
  }
  ASSIGN_OR_RETURN(const ledger::Account account, ledger.CreateAccount({.request_id = order.request_id,
                                                                        .dataset_id = dataset.record.id,
                                                                        .account = *std::move(spec),
                                                                        .actor = order.principal}));
  return ViewOf(dataset, account, order.principal);
}

}  // namespace curator::service
