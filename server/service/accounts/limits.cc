#include "service/accounts/limits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "dp/accounting/kept_promise.h"
#include "service/accounts/accounts.h"
#include "service/charges/pricing.h"
#include "service/reason.h"

namespace curator::service {
namespace {

constexpr size_t kMostReasonBytes = 500;

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

ProposalState StateOf(const ledger::LimitProposal& proposal, int64_t present_limit) {
  if (!proposal.approved_by.empty()) return ProposalState::kApproved;
  switch (proposal.end) {
    case ledger::ProposalEnd::kRejected:
      return ProposalState::kRejected;
    case ledger::ProposalEnd::kWithdrawn:
      return ProposalState::kWithdrawn;
    case ledger::ProposalEnd::kTakenUp:
      return ProposalState::kTakenUp;
    case ledger::ProposalEnd::kNone:
      break;
  }
  if (present_limit != proposal.old_limit) return ProposalState::kOutdated;
  return proposal.is_request ? ProposalState::kRequested : ProposalState::kPending;
}

absl::StatusOr<LimitView> ViewOfProposal(const DatasetView& dataset, const ledger::Account& account,
                                         const ledger::LimitProposal& proposal) {
  ASSIGN_OR_RETURN(const dp::RuleSpec before, PromiseWith(account, proposal.counter, proposal.old_limit));
  ASSIGN_OR_RETURN(const dp::RuleSpec after, PromiseWith(account, proposal.counter, proposal.new_limit));
  return LimitView{proposal, StateOf(proposal, BalanceOf(account, proposal.counter)->limit),
                   AccountName(dataset, account), before, after};
}

absl::StatusOr<LimitView> ViewOfProposal(const Access& access, const DatasetView& dataset,
                                         const ledger::LimitProposal& proposal) {
  ASSIGN_OR_RETURN(const ledger::Account account, AccountOf(access.ledger, proposal));
  return ViewOfProposal(dataset, account, proposal);
}

// The proposal or request of the choice, if it is one of the dataset's.
absl::StatusOr<ledger::LimitProposal> FindProposal(const Access& access, const DatasetView& dataset,
                                                   const std::string& id) {
  absl::StatusOr<ledger::LimitProposal> found = access.ledger.GetLimitProposal(id);
  if (!found.ok() && !absl::IsNotFound(found.status())) return found;
  // A lineage has the id of its first dataset, which opened all its accounts.
  if (found.ok() && found->dataset_id == dataset.record.lineage_id) return found;
  return absl::NotFoundError(absl::StrCat("there is no such proposal for dataset ", dataset.record.name));
}

// Whether the same request has been made before.
absl::StatusOr<bool> IsRepeated(ledger::Ledger& ledger, const LimitOrder& order) {
  const absl::StatusOr<ledger::LimitProposal> found =
      ledger.FindLimitProposal(order.principal, order.request_id.text());
  if (absl::IsNotFound(found.status())) return false;
  RETURN_IF_ERROR(found.status());
  return true;
}

// The counter that `order` changes, at its new limit; that of the request where the order names none.
absl::StatusOr<dp::CounterAmount> WantedLimit(const ledger::Account& account, const LimitOrder& order,
                                              const std::optional<ledger::LimitProposal>& request) {
  const bool names_none = !order.epsilon.has_value() && !order.delta.has_value();
  if (request.has_value() && names_none) return dp::CounterAmount{request->counter, request->new_limit};
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

absl::StatusOr<ledger::LimitProposal> FindRequest(const Access& access, const DatasetView& dataset,
                                                  const std::string& id) {
  ASSIGN_OR_RETURN(ledger::LimitProposal found, FindProposal(access, dataset, id));
  if (!found.is_request) return InvalidField("takes_up", "must be the id of a request");
  return found;
}

// The account that the owner's order names, or that of the request.
absl::StatusOr<ledger::Account> AccountToChange(const Access& access, const DatasetView& dataset,
                                                const LimitOrder& order,
                                                const std::optional<ledger::LimitProposal>& request) {
  if (!request.has_value()) return NamedAccount(access.ledger, dataset, order.account);
  ASSIGN_OR_RETURN(ledger::Account account, AccountOf(access.ledger, *request));
  const std::string name = AccountName(dataset, account);
  if (order.account.empty() || order.account == name) return account;
  return InvalidField("account", absl::StrCat("must be that of the request, ", name, ", or empty"));
}

// The account that the order of an analyst or a service names, among those that their charges post to.
absl::StatusOr<ledger::Account> OwnAccount(const Access& access, const DatasetView& dataset,
                                           const LimitOrder& order) {
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   PayingAccounts(access.ledger, dataset, order.principal.name()));
  std::vector<std::string> names;
  for (const ledger::Account& account : accounts) {
    const bool is_named = order.account.empty() ? account.scope_type == ledger::ScopeType::kDataset
                                                : AccountName(dataset, account) == order.account;
    if (is_named) return account;
    names.push_back(AccountName(dataset, account));
  }
  return InvalidField("account", absl::StrCat("must be one of ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<LimitView> Propose(const Access& access, const DatasetView& dataset,
                                  const ledger::Account& account, const ledger::LimitProposalSpec& spec,
                                  Intent intent) {
  if (intent == Intent::kDo) {
    ASSIGN_OR_RETURN(const ledger::LimitProposal proposal, access.ledger.ProposeLimit(spec));
    return ViewOfProposal(dataset, account, proposal);
  }
  return ViewOfProposal(dataset, account,
                        {.id = {},
                         .dataset_id = dataset.record.lineage_id,
                         .account_id = account.id,
                         .counter = spec.counter,
                         .old_limit = BalanceOf(account, spec.counter)->limit,
                         .new_limit = spec.new_limit,
                         .reason = spec.reason,
                         .proposed_by = spec.proposed_by.name(),
                         .approved_by = {},
                         .is_request = spec.is_request});
}

absl::StatusOr<LimitView> EndProposal(const Access& access, const DatasetView& dataset,
                                      const ledger::LimitProposal& proposal, ledger::ProposalEnd end,
                                      const std::string& reason, const Principal& principal, Intent intent) {
  if (intent == Intent::kValidateOnly) return ViewOfProposal(access, dataset, proposal);
  ASSIGN_OR_RETURN(const ledger::LimitProposal ended,
                   access.ledger.EndLimitProposal(proposal.id, end, reason, principal));
  return ViewOfProposal(access, dataset, ended);
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

}  // namespace

absl::StatusOr<LimitView> ProposeLimit(const Access& access, const LimitOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kProposeLimitChange, order.principal, order.dataset));
  if (dataset.record.is_public)
    return PayingAccounts(access.ledger, dataset, order.principal.name()).status();
  std::optional<ledger::LimitProposal> request;
  if (!order.takes_up.empty()) {
    ASSIGN_OR_RETURN(request, FindRequest(access, dataset, order.takes_up));
  }
  const std::string& reason = request.has_value() && order.reason.empty() ? request->reason : order.reason;
  RETURN_IF_ERROR(CheckReason(reason, kMostReasonBytes));
  ASSIGN_OR_RETURN(const ledger::Account account, AccountToChange(access, dataset, order, request));
  ASSIGN_OR_RETURN(const dp::CounterAmount wanted, WantedLimit(account, order, request));
  const ledger::CounterBalance& balance = *BalanceOf(account, wanted.counter);
  ASSIGN_OR_RETURN(const bool is_repeated, IsRepeated(access.ledger, order));
  if (!is_repeated) {
    RETURN_IF_ERROR(CheckIsUseful(AccountName(dataset, account), balance, wanted.amount));
  }
  return Propose(access, dataset, account,
                 {.request_id = order.request_id.text(),
                  .account_id = account.id,
                  .counter = wanted.counter,
                  .new_limit = wanted.amount,
                  .reason = reason,
                  .proposed_by = order.principal,
                  .takes_up = order.takes_up},
                 intent);
}

absl::StatusOr<LimitView> RequestLimit(Services& services, const LimitOrder& order, Intent intent) {
  const Access access = services.access();
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kRequestLimitChange, order.principal, order.dataset));
  RETURN_IF_ERROR(CheckReason(order.reason, kMostReasonBytes));
  ASSIGN_OR_RETURN(const ledger::Account account, OwnAccount(access, dataset, order));
  ASSIGN_OR_RETURN(const dp::CounterAmount wanted, WantedLimit(account, order, std::nullopt));
  ASSIGN_OR_RETURN(const bool is_repeated, IsRepeated(access.ledger, order));
  const int64_t present = BalanceOf(account, wanted.counter)->limit;
  if (!is_repeated && wanted.amount <= present) {
    return absl::FailedPreconditionError(absl::StrCat(AccountName(dataset, account), " has a limit of ",
                                                      dp::FormatCounter(wanted.counter, present), " ",
                                                      wanted.counter, " already: ask for more than that"));
  }
  if (!is_repeated && intent == Intent::kDo) {
    RETURN_IF_ERROR(services.daily.CheckRoomFor(order.principal, 1));
    services.daily.Add(order.principal, 1);
  }
  return Propose(access, dataset, account,
                 {.request_id = order.request_id.text(),
                  .account_id = account.id,
                  .counter = wanted.counter,
                  .new_limit = wanted.amount,
                  .reason = order.reason,
                  .proposed_by = order.principal,
                  .is_request = true},
                 intent);
}

absl::StatusOr<LimitView> ApproveLimit(const Access& access, const LimitChoice& choice, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access, Method::kApproveLimitChange, choice.principal, choice.dataset));
  ASSIGN_OR_RETURN(const ledger::LimitProposal found, FindProposal(access, view, choice.proposal_id));
  ASSIGN_OR_RETURN(const ledger::Account account, AccountOf(access.ledger, found));
  ASSIGN_OR_RETURN(const ledger::Approval approval, ApprovalOf(access, found.proposed_by, choice.principal));
  const bool has_custody = approval == ledger::Approval::kSingleCustody && view.roles.Has(Role::kOwner);
  if (!has_custody) RETURN_IF_ERROR(CheckDoesNotProfit(access.ledger, account, found, choice.principal));
  if (intent == Intent::kValidateOnly) return ViewOfProposal(view, account, found);
  ASSIGN_OR_RETURN(const ledger::LimitProposal approved,
                   access.ledger.ApproveLimit(choice.proposal_id, choice.principal, approval));
  return ViewOfProposal(view, account, approved);
}

absl::StatusOr<LimitView> RejectLimit(const Access& access, const LimitChoice& choice,
                                      const std::string& reason, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access, Method::kRejectLimitChange, choice.principal, choice.dataset));
  RETURN_IF_ERROR(CheckReason(reason, kMostReasonBytes));
  ASSIGN_OR_RETURN(const ledger::LimitProposal found, FindProposal(access, view, choice.proposal_id));
  if (found.is_request && !view.roles.Has(Role::kOwner)) {
    return absl::FailedPreconditionError("this is a request to the owner, who alone rejects it");
  }
  if (!found.is_request && !view.roles.Has(Role::kApprover)) {
    return absl::FailedPreconditionError(
        "this is a proposal: an approver rejects it, and the principal who made it withdraws it");
  }
  return EndProposal(access, view, found, ledger::ProposalEnd::kRejected, reason, choice.principal, intent);
}

absl::StatusOr<LimitView> WithdrawLimit(const Access& access, const LimitChoice& choice, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access, Method::kWithdrawLimitChange, choice.principal, choice.dataset));
  const absl::StatusOr<ledger::LimitProposal> found = FindProposal(access, view, choice.proposal_id);
  if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
  if (!found.ok() || found->proposed_by != choice.principal.name()) {
    return absl::NotFoundError(
        absl::StrCat("there is no such proposal or request of yours for dataset ", view.record.name));
  }
  return EndProposal(access, view, *found, ledger::ProposalEnd::kWithdrawn, "", choice.principal, intent);
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
  if (!view.MayAll(Method::kListLimitProposals)) page.requests_of = principal.name();
  if (!after.empty()) {
    const absl::StatusOr<ledger::LimitProposal> last = access.ledger.GetLimitProposal(after);
    const bool is_shown =
        last.ok() && last->dataset_id == view.record.lineage_id &&
        (page.requests_of.empty() || !last->is_request || last->proposed_by == page.requests_of);
    const bool is_listed =
        is_shown && (accounts.empty() || std::ranges::find(accounts, last->account_id) != accounts.end());
    if (!is_listed) return InvalidField("page_token", "names a proposal that is not in this listing");
    page.before_us = last->proposed_at_us;
  }
  ASSIGN_OR_RETURN(const std::vector<ledger::LimitProposal> proposals,
                   access.ledger.ListLimitProposals(view.record.lineage_id, accounts, page));
  std::vector<LimitView> views;
  for (const ledger::LimitProposal& proposal : proposals) {
    ASSIGN_OR_RETURN(LimitView seen, ViewOfProposal(access, view, proposal));
    views.push_back(std::move(seen));
  }
  return views;
}

absl::StatusOr<std::vector<LimitView>> ListWaiting(const Access& access, const Principal& principal,
                                                   const DatasetView& dataset) {
  std::vector<LimitView> waiting;
  ASSIGN_OR_RETURN(const Roles roles, RolesOn(access, dataset.record, principal.name()));
  const bool answers = roles.Has(Role::kOwner);
  const bool approves = roles.Has(Role::kApprover);
  if (dataset.record.is_public || !(answers || approves)) return waiting;
  ASSIGN_OR_RETURN(const std::vector<ledger::LimitProposal> open,
                   access.ledger.ListOpenProposals(dataset.record.lineage_id));
  for (const ledger::LimitProposal& proposal : open) {
    bool waits = proposal.is_request ? answers : approves;
    if (waits && !proposal.is_request) {
      ASSIGN_OR_RETURN(waits, MayApproveOf(access, proposal.proposed_by, principal));
    }
    if (!waits) continue;
    ASSIGN_OR_RETURN(LimitView view, ViewOfProposal(access, dataset, proposal));
    waiting.push_back(std::move(view));
  }
  return waiting;
}

}  // namespace curator::service
