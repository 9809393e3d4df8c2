#include "service/budgets.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "codec/rule_codec.h"
#include "ledger/history/entry_payload.h"
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

}  // namespace

absl::StatusOr<std::vector<AccountView>> GetBudget(ledger::Ledger& ledger, std::string_view principal,
                                                   std::string_view dataset) {
  ASSIGN_OR_RETURN(const DatasetView view, FindVisible(ledger, principal, dataset));
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts, AccountsOf(ledger, view));
  std::vector<AccountView> views;
  for (ledger::Account& account : accounts) {
    ASSIGN_OR_RETURN(const dp::RuleSpec rule, codec::DecodeRule(account.rule));
    views.push_back({AccountName(view, account), rule, std::move(account.counters)});
  }
  return views;
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
