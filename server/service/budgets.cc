#include "service/budgets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "service/limits.h"
#include "service/pricing.h"

namespace curator::service {
namespace {

// "4 marginals, 120 cells: rho 0.1"
std::string ChargeSummary(std::string_view payload) {
  const absl::StatusOr<ledger::ChargeMade> charge = ledger::ParseChargeMade(payload);
  if (!charge.ok()) return "";
  std::string summary = charge->label;
  for (const ledger::Posting& posting : charge->postings) {
    absl::StrAppend(&summary,
                    summary.empty()                       ? ""
                    : &posting == charge->postings.data() ? ": "
                                                          : ", ",
                    posting.counter, " ", dp::FormatCounter(posting.counter, posting.cost));
  }
  return summary;
}

// "analyst ana: epsilon 0.5", "group interns (2 members): rho 0.1", "part 2024: rho 0.1"
std::string OpeningSummary(const ledger::OpenedAccount& opened) {
  const ledger::AccountSpec& account = opened.spec;
  std::string summary = absl::StrCat("analyst ", account.scope_key);
  if (account.scope_type == ledger::ScopeType::kPart) summary = absl::StrCat("part ", account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalystGroup) {
    summary = absl::StrCat("group ", account.scope_key, " (", account.members.size(),
                           account.members.size() == 1 ? " member)" : " members)");
  }
  for (const ledger::CounterLimit& limit : account.limits) {
    absl::StrAppend(&summary, &limit == account.limits.data() ? ": " : ", ", limit.counter, " ",
                    dp::FormatCounter(limit.counter, limit.limit));
  }
  return summary;
}

// "epsilon 0.5 to 0.7: a second study"
std::string LimitSummary(std::string_view payload) {
  const absl::StatusOr<ledger::LimitChange> change = ledger::ParseLimitChange(payload);
  if (!change.ok()) return "";
  return absl::StrCat(change->counter, " ", dp::FormatCounter(change->counter, change->old_limit), " to ",
                      dp::FormatCounter(change->counter, change->new_limit), ": ", change->reason);
}

}  // namespace

absl::StatusOr<AccountView> ViewOf(const DatasetView& dataset, const ledger::Account& account,
                                   std::string_view viewer) {
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, PromiseOf(account));
  return AccountView{
      .name = AccountName(dataset, account),
      .rule = rule,
      .counters = account.counters,
      .scope_type = account.scope_type,
      .scope_key = account.scope_key,
      .members = viewer == dataset.record.owner ? account.members : std::vector<std::string>()};
}

absl::StatusOr<std::vector<AccountView>> GetBudget(ledger::Ledger& ledger, std::string_view principal,
                                                   std::string_view dataset) {
  ASSIGN_OR_RETURN(const DatasetView view, FindVisible(ledger, principal, dataset));
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts, AccountsOf(ledger, view));
  std::vector<AccountView> views;
  for (const ledger::Account& account : accounts) {
    if (view.record.owner != principal && !Concerns(account, principal)) continue;
    ASSIGN_OR_RETURN(AccountView account_view, ViewOf(view, account, principal));
    views.push_back(std::move(account_view));
  }
  return views;
}

std::optional<AccountView> LargestPart(std::string_view dataset, const std::vector<AccountView>& accounts) {
  std::optional<AccountView> largest;
  for (const AccountView& account : accounts) {
    if (account.scope_type != ledger::ScopeType::kPart) continue;
    if (!largest) {
      largest = account;
      largest->name = absl::StrCat("dataset/", std::string(dataset));
      largest->scope_type = ledger::ScopeType::kDataset;
      largest->scope_key.clear();
      continue;
    }
    for (size_t i = 0; i < largest->counters.size() && i < account.counters.size(); ++i) {
      ledger::CounterBalance& most = largest->counters[i];
      most.limit = std::max(most.limit, account.counters[i].limit);
      most.spent = std::max(most.spent, account.counters[i].spent);
      most.held = std::max(most.held, account.counters[i].held);
    }
  }
  return largest;
}

absl::StatusOr<std::vector<ledger::Entry>> ListLedgerEntries(ledger::Ledger& ledger,
                                                             std::string_view principal,
                                                             std::string_view dataset,
                                                             const ledger::Page& page) {
  ASSIGN_OR_RETURN(const DatasetView view, FindOwned(ledger, principal, dataset));
  return ledger.ListEntries(view.record.id, page);
}

std::string Summary(const ledger::Entry& entry) {
  if (entry.kind == ledger::kCharged || entry.kind == ledger::kReserved) return ChargeSummary(entry.payload);
  if (entry.kind == ledger::kGranted || entry.kind == ledger::kEqualContent) {
    return ledger::ParseNote(entry.payload).value_or("");
  }
  if (entry.kind == ledger::kLimitProposed || entry.kind == ledger::kLimitChanged) {
    return LimitSummary(entry.payload);
  }
  if (entry.kind == ledger::kAccountOpened) {
    const absl::StatusOr<ledger::OpenedAccount> opened = ledger::ParseOpenedAccount(entry.payload);
    return opened.ok() ? OpeningSummary(*opened) : "";
  }
  if (entry.kind == ledger::kPartAdded) {
    const absl::StatusOr<ledger::PartAdded> added = ledger::ParsePartAdded(entry.payload);
    return added.ok() ? OpeningSummary(added->account) : "";
  }
  if (entry.kind == ledger::kPartSealed) {
    const absl::StatusOr<ledger::PartSealed> sealed = ledger::ParsePartSealed(entry.payload);
    return sealed.ok() ? absl::StrCat("part no. ", sealed->number, " makes version ", sealed->version) : "";
  }
  const absl::StatusOr<ledger::ChargeChanged> change = ledger::ParseChargeChanged(entry.payload);
  if (!change.ok()) return "";
  return change->release_id.empty() ? change->reason : absl::StrCat("release ", change->release_id);
}

absl::StatusOr<ledger::Verification> VerifyLedger(ledger::Ledger& ledger, std::string_view principal,
                                                  std::string_view dataset) {
  ASSIGN_OR_RETURN(const DatasetView view, FindVisible(ledger, principal, dataset));
  return ledger.Verify(view.record.id);
}

}  // namespace curator::service
