#include "service/accounts/accounts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "codec/accounting_codec.h"
#include "dp/accounting/kept_promise.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

// Group names follow the rules of principals.
absl::Status CheckHolder(const std::string& field, const std::string& name) {
  const std::optional<FieldViolation> violation = FieldViolationOf(CheckPrincipalName(name));
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

// The accounts that the principal's charges post to, ordered by their names.
absl::StatusOr<std::vector<ledger::Account>> PayingPage(ledger::Ledger& ledger, const DatasetView& dataset,
                                                        const Principal& principal,
                                                        const ledger::AccountPage& page) {
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts, PayingAccounts(ledger, dataset, principal.name()));
  if (page.after.has_value()) {
    std::erase_if(accounts, [&](const ledger::Account& account) { return !(*page.after < KeyOf(account)); });
  }
  if (static_cast<int64_t>(accounts.size()) > page.limit) {
    accounts.erase(accounts.begin() + page.limit, accounts.end());
  }
  return accounts;
}

// The accounts' names, for an error; the first of them when there are many.
absl::StatusOr<std::string> SomeNames(ledger::Ledger& ledger, const DatasetView& dataset) {
  constexpr int64_t kMostNames = 20;
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   ledger.ListAccounts(dataset.record.id, {.limit = kMostNames}));
  std::vector<std::string> names;
  for (const ledger::Account& account : accounts) names.push_back(AccountName(dataset, account));
  std::ranges::sort(names);
  if (static_cast<int64_t>(names.size()) == kMostNames) names.emplace_back("...");
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<ledger::Account> NamedAccount(ledger::Ledger& ledger, const DatasetView& dataset,
                                             const std::string& name) {
  using enum ledger::ScopeType;
  for (const ledger::ScopeType scope : {kDataset, kAnalyst, kAnalystGroup, kPart}) {
    const std::string prefix = ledger::AccountName(dataset.record.name, scope, "");
    const bool is_own = scope == kDataset && (name.empty() || name == prefix);
    if (!is_own && (scope == kDataset || !name.starts_with(prefix))) continue;
    const std::string key = is_own ? "" : name.substr(prefix.size());
    absl::StatusOr<ledger::Account> account = ledger.FindAccount(dataset.record.id, scope, key);
    if (!absl::IsNotFound(account.status())) return account;
  }
  ASSIGN_OR_RETURN(const std::string names, SomeNames(ledger, dataset));
  return InvalidField("account", absl::StrCat("must be one of ", names));
}

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

absl::StatusOr<AccountView> CreateAccount(const Access& access, const AccountOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kCreateAccount, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckHolder(order.is_group ? "group.name" : "analyst", order.holder));
  absl::StatusOr<ledger::AccountSpec> spec = AccountUnder(
      order.limit, order.is_group ? ledger::ScopeType::kAnalystGroup : ledger::ScopeType::kAnalyst,
      order.holder);
  if (!spec.ok()) return WithinField("limit", spec.status());
  ASSIGN_OR_RETURN(spec->members, MembersOf(order));
  if (intent == Intent::kValidateOnly) {
    RETURN_IF_ERROR(PayingAccounts(access.ledger, dataset, order.principal.name()).status());
    return ViewOf(dataset, Unopened(*spec));
  }
  ASSIGN_OR_RETURN(const ledger::Account account,
                   access.ledger.CreateAccount({.request_id = order.request_id.text(),
                                                .dataset_id = dataset.record.id,
                                                .account = *std::move(spec),
                                                .actor = order.principal}));
  return ViewOf(dataset, account);
}

absl::StatusOr<std::vector<AccountView>> ListAccounts(const Access& access, const Principal& principal,
                                                      const DatasetName& dataset, const std::string& after,
                                                      int64_t limit) {
  ASSIGN_OR_RETURN(const DatasetView view, FindDataset(access, Method::kListAccounts, principal, dataset));
  const bool sees_all = view.MayAll(Method::kListAccounts);
  ledger::AccountPage page{.limit = limit};
  if (!after.empty()) {
    const absl::StatusOr<ledger::Account> last = NamedAccount(access.ledger, view, after);
    if (!last.ok() || !(sees_all || PaysFrom(*last, principal))) {
      return InvalidField("page_token", "names an account that is not in this listing");
    }
    page.after = KeyOf(*last);
  }
  std::vector<ledger::Account> accounts;
  if (sees_all && !view.record.is_public) {
    ASSIGN_OR_RETURN(accounts, access.ledger.ListAccounts(view.record.id, page));
  } else {
    ASSIGN_OR_RETURN(accounts, PayingPage(access.ledger, view, principal, page));
  }
  std::vector<AccountView> views;
  for (const ledger::Account& account : accounts) {
    ASSIGN_OR_RETURN(AccountView seen, ViewOf(view, account));
    views.push_back(std::move(seen));
  }
  return views;
}

}  // namespace curator::service
