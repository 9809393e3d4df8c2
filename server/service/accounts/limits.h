// The limits of accounts, and how they change: the owner proposes, somebody else approves. Both stay in the
// history, with the reason.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND where one
// may not look, PERMISSION_DENIED, FAILED_PRECONDITION when the new limit is below what is spent and held.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"
#include "ledger/ledger.h"
#include "service/datasets/datasets.h"

namespace curator::service {

// The promise that the account keeps under its present limits (dp/accounting/kept_promise.h).
absl::StatusOr<dp::RuleSpec> PromiseOf(const ledger::Account& account);

// A wish for another promise at the account's own rule. Exactly one of epsilon and delta is there.
struct LimitOrder {
  std::string request_id;
  std::string principal;
  std::string dataset;
  std::string account;  // "dataset/census/analyst/ana"; empty for the dataset's own
  std::optional<dp::Epsilon> epsilon;
  std::optional<dp::Delta> delta;
  std::string reason;
};

enum class ProposalState { kPending, kApproved, kOutdated };

struct LimitView {
  ledger::LimitProposal proposal;
  ProposalState state = ProposalState::kPending;
  std::string account;
  // Before and after, beside the account's other limits as they are now.
  dp::RuleSpec before;
  dp::RuleSpec after;
};

// For the owner. Nothing changes until it is approved.
absl::StatusOr<LimitView> ProposeLimit(ledger::Ledger& ledger, const LimitOrder& order, Intent intent);

// For everybody who may see the dataset but two: who proposed it, and whose account it is. Whoever is told a
// proposal's id may look at it with Intent::kValidateOnly. Nothing that is spent is told.
absl::StatusOr<LimitView> ApproveLimit(ledger::Ledger& ledger, std::string_view principal,
                                       std::string_view dataset, std::string_view proposal_id, Intent intent);

// Of the accounts that the principal sees, newest first, whatever became of them.
absl::StatusOr<std::vector<LimitView>> ListLimitProposals(ledger::Ledger& ledger, std::string_view principal,
                                                          std::string_view dataset);

}  // namespace curator::service
