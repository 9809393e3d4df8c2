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

constexpr size_t kMaxReasonLength = 500;

absl::StatusOr<dp::RuleSpec> PromiseWith(ledger::Account account, const std::string& counter, int64_t limit) {
  for (ledger::CounterBalance& balance : account.counters) {
    if (balance.counter == counter) balance.limit = limit;
  }
  return PromiseOf(account);
}

const ledger::CounterBalance* BalanceOf(const ledger::Account& account, const std::string& counter) {
  for (const ledger::CounterBalance& balance : account.counters) {
    if (balance.counter == counter) return &balance;
  }
  return nullptr;
}

// The account for which the limit was proposed.
absl::StatusOr<ledger::Account> AccountOf(ledger::Ledger& ledger, const ledger::LimitProposal& proposal) {
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts, ledger.GetAccounts({proposal.account_id}));
  if (BalanceOf(accounts.front(), proposal.counter) == nullptr) {
    return absl::DataLossError("a limit was proposed for a counter that does not exist");
  }
  return std::move(accounts.front());
}

absl::StatusOr<LimitView> ViewOfProposal(const DatasetView& dataset, const ledger::Account& account,
                                         const ledger::LimitProposal& proposal) {
  ASSIGN_OR_RETURN(const dp::RuleSpec before, PromiseWith(account, proposal.counter, proposal.old_limit));
  ASSIGN_OR_RETURN(const dp::RuleSpec after, PromiseWith(account, proposal.counter, proposal.new_limit));
  const bool is_from_now = BalanceOf(account, proposal.counter)->limit == proposal.old_limit;
  return LimitView{proposal,
                   !proposal.approved_by.empty() ? ProposalState::kApproved
                   : is_from_now                 ? ProposalState::kPending
                                                 : ProposalState::kOutdated,
                   AccountName(dataset, account), before, after};
}

// The accounts' names, for an error; the first of them when there are many.
absl::StatusOr<std::string> SomeNames(ledger::Ledger& ledger, const DatasetView& dataset) {
  constexpr int64_t kMostNames = 20;
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   ledger.ListAccounts(dataset.record.id, {.limit = kMostNames}));
  std::vector<std::string> names;
  for (const ledger::Account& account : accounts) names.push_back(AccountName(dataset, account));
  if (static_cast<int64_t>(names.size()) == kMostNames) names.emplace_back("...");
  return absl::StrJoin(names, ", ");
}

// The account with this name (ledger::AccountName()); the dataset's own when it is empty.
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

// Whether the same request has been made before.
absl::StatusOr<bool> IsRepeated(ledger::Ledger& ledger, const LimitOrder& order) {
  const absl::StatusOr<ledger::LimitProposal> found =
      ledger.FindLimitProposal(order.principal, order.request_id.text());
  if (absl::IsNotFound(found.status())) return false;
  RETURN_IF_ERROR(found.status());
  return true;
}

// The counter that `order` changes, at its new limit.
absl::StatusOr<dp::CounterAmount> WantedLimit(const ledger::Account& account, const LimitOrder& order) {
  if (order.epsilon.has_value() == order.delta.has_value()) {
    return InvalidField("epsilon", "name the new epsilon, or the new delta");
  }
  ASSIGN_OR_RETURN(const dp::RuleSpec opened, codec::DecodeRule(account.rule));
  ASSIGN_OR_RETURN(const dp::RuleSpec wanted, order.epsilon ? dp::WithEpsilon(opened, *order.epsilon)
                                                            : dp::WithDelta(opened, *order.delta));
  ASSIGN_OR_RETURN(const std::vector<dp::CounterAmount> limits, dp::LimitsOf(wanted));
  // Epsilon decides the first counter of every rule, delta the second one of ADVANCED.
  const dp::CounterAmount& limit = order.epsilon ? limits.front() : limits.back();
  if (BalanceOf(account, limit.counter) == nullptr) {
    return absl::DataLossError("an account has other counters than its rule");
  }
  return limit;
}

// Only for the owner: the messages contain balances.
absl::Status CheckIsUseful(const std::string& account, const ledger::CounterBalance& balance,
                           int64_t new_limit) {
  if (balance.limit == new_limit) {
    return absl::FailedPreconditionError(absl::StrCat(account, " promises this already"));
  }
  if (balance.spent <= new_limit - balance.held) return absl::OkStatus();
  const auto text = [&](int64_t amount) { return dp::FormatCounter(balance.counter, amount); };
  return absl::FailedPreconditionError(
      absl::StrCat(account, " has spent ", text(balance.spent), " of its ", balance.counter, " and holds ",
                   text(balance.held), " more: its limit cannot be lowered to ", text(new_limit)));
}

absl::Status CheckReason(const std::string& reason) {
  if (reason.empty()) return InvalidField("reason", "say why: it stays in the history");
  if (reason.size() > kMaxReasonLength) {
    return InvalidField("reason", absl::StrCat("is longer than ", kMaxReasonLength, " bytes"));
  }
  return CheckLine("reason", reason);
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

absl::StatusOr<LimitView> ProposeLimit(const Access& access, const LimitOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kProposeLimitChange, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckReason(order.reason));
  if (dataset.record.is_public)
    return PayingAccounts(access.ledger, dataset, order.principal.name()).status();
  ASSIGN_OR_RETURN(const ledger::Account account, NamedAccount(access.ledger, dataset, order.account));
  ASSIGN_OR_RETURN(const dp::CounterAmount wanted, WantedLimit(account, order));
  const ledger::CounterBalance& balance = *BalanceOf(account, wanted.counter);
  ASSIGN_OR_RETURN(const bool is_repeated, IsRepeated(access.ledger, order));
  if (!is_repeated) {
    RETURN_IF_ERROR(CheckIsUseful(AccountName(dataset, account), balance, wanted.amount));
  }
  ledger::LimitProposal proposal{.id = {},
                                 .dataset_id = dataset.record.lineage_id,
                                 .account_id = account.id,
                                 .counter = wanted.counter,
                                 .old_limit = balance.limit,
                                 .new_limit = wanted.amount,
                                 .reason = order.reason,
                                 .proposed_by = order.principal.name(),
                                 .approved_by = {}};
  if (intent == Intent::kDo) {
    ASSIGN_OR_RETURN(proposal, access.ledger.ProposeLimit({.request_id = order.request_id.text(),
                                                           .account_id = account.id,
                                                           .counter = wanted.counter,
                                                           .new_limit = wanted.amount,
                                                           .reason = order.reason,
                                                           .proposed_by = order.principal}));
  }
  return ViewOfProposal(dataset, account, proposal);
}

absl::StatusOr<LimitView> ApproveLimit(const Access& access, const Principal& principal,
                                       const DatasetName& dataset, std::string_view proposal_id,
                                       Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access, Method::kApproveLimitChange, principal, dataset));
  const absl::StatusOr<ledger::LimitProposal> found = access.ledger.GetLimitProposal(proposal_id);
  if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
  // A lineage has the id of its first dataset, which opened all its accounts.
  if (!found.ok() || found->dataset_id != view.record.lineage_id) {
    return absl::NotFoundError(absl::StrCat("there is no such proposal for dataset ", dataset.text()));
  }
  ASSIGN_OR_RETURN(const ledger::Account account, AccountOf(access.ledger, *found));
  RETURN_IF_ERROR(CheckMayApprove(access.ledger, account, *found, principal));
  if (intent == Intent::kValidateOnly) return ViewOfProposal(view, account, *found);
  RETURN_IF_ERROR(CheckIsAnotherPerson(access.directory, *found, principal));
  ASSIGN_OR_RETURN(const ledger::LimitProposal approved, access.ledger.ApproveLimit(proposal_id, principal));
  return ViewOfProposal(view, account, approved);
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
    ASSIGN_OR_RETURN(accounts, PayingAccounts(access.ledger, view, principal.name()));
  }
  std::vector<AccountView> views;
  for (const ledger::Account& account : accounts) {
    const bool is_before = page.after.has_value() && !(*page.after < KeyOf(account));
    if (is_before || static_cast<int64_t>(views.size()) == limit) continue;
    ASSIGN_OR_RETURN(AccountView seen, ViewOf(view, account));
    views.push_back(std::move(seen));
  }
  return views;
}

absl::StatusOr<std::vector<LimitView>> ListLimitProposals(const Access& access, const Principal& principal,
                                                          const DatasetName& dataset,
                                                          const std::string& after, int64_t limit) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access, Method::kListLimitProposals, principal, dataset));
  std::vector<int64_t> accounts;  // empty: all
  if (!view.MayAll(Method::kListLimitProposals) || view.record.is_public) {
    ASSIGN_OR_RETURN(const std::vector<ledger::Account> paying,
                     PayingAccounts(access.ledger, view, principal.name()));
    for (const ledger::Account& account : paying) accounts.push_back(account.id);
  }
  ledger::ProposalPage page{.before_us = 0, .before_id = after, .limit = limit};
  if (!after.empty()) {
    const absl::StatusOr<ledger::LimitProposal> last = access.ledger.GetLimitProposal(after);
    const bool is_listed =
        last.ok() && last->dataset_id == view.record.lineage_id &&
        (accounts.empty() || std::ranges::find(accounts, last->account_id) != accounts.end());
    if (!is_listed) return InvalidField("page_token", "names a proposal that is not in this listing");
    page.before_us = last->proposed_at_us;
  }
  ASSIGN_OR_RETURN(const std::vector<ledger::LimitProposal> proposals,
                   access.ledger.ListLimitProposals(view.record.lineage_id, accounts, page));
  std::vector<LimitView> views;
  for (const ledger::LimitProposal& proposal : proposals) {
    ASSIGN_OR_RETURN(const ledger::Account account, AccountOf(access.ledger, proposal));
    ASSIGN_OR_RETURN(LimitView seen, ViewOfProposal(view, account, proposal));
    views.push_back(std::move(seen));
  }
  return views;
}

}  // namespace curator::service
