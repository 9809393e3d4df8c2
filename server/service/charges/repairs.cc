#include "service/charges/repairs.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "service/charges/pricing.h"

namespace curator::service {

absl::StatusOr<RepairView> RepairLedger(ledger::Ledger& ledger, const host::ReceiptSigner& signer,
                                        const RepairRequest& request, Intent intent) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id));
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(ledger, request.principal, request.dataset));
  if (request.reason.empty()) return InvalidField("reason", "say why: it stays in the history");
  ledger::RepairOrder order{.dataset_id = dataset.record.id,
                            .reason = request.reason,
                            .actor = request.principal,
                            .receipts = {},
                            .only_checked = intent == Intent::kValidateOnly};
  for (size_t i = 0; i < request.receipts.size(); ++i) {
    absl::StatusOr<ledger::LostCharge> charge = ChargeOfReceipt(ledger, signer, request.receipts[i]);
    if (!charge.ok()) return WithinField(absl::StrCat("receipts[", i, "]"), charge.status());
    order.receipts.push_back(*std::move(charge));
  }
  RepairView view;
  ASSIGN_OR_RETURN(view.report, ledger.RaiseToAnchor(order));
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts, ledger.ListAccounts(dataset.record.id));
  for (const ledger::RaisedCounter& raised : view.report.raised) {
    for (const ledger::Account& account : accounts) {
      if (account.id == raised.account_id) view.accounts.push_back(AccountName(dataset, account));
    }
  }
  return view;
}

}  // namespace curator::service
