// More accounts for a dataset: an analyst's own, or one that a group of analysts shares.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND where one
// may not look, PERMISSION_DENIED for grantees, FAILED_PRECONDITION for a public dataset.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/accounts/budgets.h"

namespace curator::service {

struct AccountOrder {
  std::string request_id;
  std::string principal;
  std::string dataset;
  bool is_group = false;
  std::string holder;                // the analyst, or the group's name
  std::vector<std::string> members;  // of the group, in any order
  dp::RuleSpec limit;                // may count by another rule than the dataset's account
};

// The account of `spec` under `limit`. Errors: INVALID_ARGUMENT (epsilon, delta) for an impossible promise.
absl::StatusOr<ledger::AccountSpec> AccountUnder(const dp::RuleSpec& limit, ledger::ScopeType scope_type,
                                                 std::string scope_key);

// Opens the account; from then on the charges of its holder post to it, too. With Intent::kValidateOnly
// nothing is opened.
absl::StatusOr<AccountView> CreateAccount(ledger::Ledger& ledger, const AccountOrder& order, Intent intent);

// The limits of accounts, and how they change: the owner proposes, somebody else approves. Both stay in the
// history, with the reason.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND where one
// may not look, PERMISSION_DENIED, FAILED_PRECONDITION when the new limit is below what is spent and held.

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
