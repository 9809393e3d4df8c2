// The repair of a dataset's history after a backup was restored, which two persons decide: it accepts a loss.
//
// The owner proposes it and an approver approves it. Between the two the proposal is a document that the
// server signs and does not keep: a store that has lost its newest entries is no place for it, and any server
// with the same key accepts it. It states what the repair would raise, and is approved for that only.
// Thread-safe: functions over the ledger.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/charges/receipts.h"
#include "service/quotas/principal_quotas.h"

namespace curator::service {

inline constexpr absl::Duration kRepairProposalLifetime = absl::Hours(7 * 24);

struct RepairProposal {
  std::string statement;  // one JSON object; see RepairProposal in budget.proto
  std::string signature;  // of exactly these bytes
  std::string public_key;
  std::vector<Receipt> receipts;  // those that the statement has the hash of
};

// What a repair raises, or would raise.
struct RepairView {
  ledger::RepairReport report;
  std::vector<std::string> accounts;  // AccountName() of each entry of report.raised
};

struct RepairRequest {
  Principal principal;
  DatasetName dataset;
  std::string reason;
  std::vector<Receipt> receipts;  // of lost charges
};
struct ProposedRepair {
  RepairProposal proposal;
  RepairView effect;
};

// For the owner. Changes nothing. Passes over the history that are made for this count once in `quotas`,
// which are null in development mode. Errors: those of Ledger::RaiseToAnchor(); OverQuota();
// INVALID_ARGUMENT (reason, receipts[i]).
absl::StatusOr<ProposedRepair> ProposeRepair(const Access& access, const host::ReceiptSigner& signer,
                                             const RepairRequest& request, PrincipalQuotas* quotas = nullptr);

// For approvers who are other persons than the proposer (ApprovalOf()): raises what is spent to what the
// anchor and the receipts state. Where nothing of the lineage is behind, as after it was approved before, it
// changes nothing. Quotas and errors are those of ProposeRepair(); INVALID_ARGUMENT (proposal) for a document
// that this server did not sign or that is of another dataset; FAILED_PRECONDITION when it has expired, its
// proposer no longer owns the dataset, or the repair would do something else now.
absl::StatusOr<RepairView> ApproveRepair(const Access& access, const host::ReceiptSigner& signer,
                                         const Principal& principal, const DatasetName& dataset,
                                         const RepairProposal& proposal, Intent intent,
                                         PrincipalQuotas* quotas = nullptr);

}  // namespace curator::service
