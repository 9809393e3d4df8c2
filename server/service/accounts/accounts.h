// Accounts beside a dataset's own, and changes of limits: an account for one analyst, or one that a group of
// analysts shares. A limit is proposed by the owner and approved by another principal; the history keeps
// both, with the reason.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND without
// access, PERMISSION_DENIED, FAILED_PRECONDITION for a public dataset.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/accounting/rule.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/accounts/budgets.h"

namespace curator::service {

struct AccountOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  bool is_group = false;
  std::string holder;                // the analyst, or the group's name
  std::vector<std::string> members;  // of the group, in any order
  dp::RuleSpec limit;                // may count by another rule than the dataset's account
};

// A new account under `limit`. Errors: INVALID_ARGUMENT (epsilon, delta) for an impossible promise.
absl::StatusOr<ledger::AccountSpec> AccountUnder(const dp::RuleSpec& limit, ledger::ScopeType scope_type,
                                                 std::string scope_key);

// Opens the account; from then on the charges of its holder also post to it. With Intent::kValidateOnly
// nothing is opened.
absl::StatusOr<AccountView> CreateAccount(const Access& access, const AccountOrder& order, Intent intent);

// A proposed promise under the account's own rule. Exactly one of epsilon and delta is set.
struct LimitOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
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
  // The promise before and after the change, with the account's other limits as they are now.
  dp::RuleSpec before;
  dp::RuleSpec after;
};

// For the owner. Nothing changes until it is approved. FAILED_PRECONDITION when the new limit is the present
// one, or below what is spent and held.
absl::StatusOr<LimitView> ProposeLimit(const Access& access, const LimitOrder& order, Intent intent);

// For approvers of the dataset who gain nothing by it (CheckMayApprove()) and are other persons than the
// proposer (CheckIsAnotherPerson()). With Intent::kValidateOnly it reveals no balance.
absl::StatusOr<LimitView> ApproveLimit(const Access& access, const Principal& principal,
                                       const DatasetName& dataset, std::string_view proposal_id,
                                       Intent intent);

// ---- Pages of at most `limit`, from the first or after the last item of the page before. Errors:
// INVALID_ARGUMENT (page_token) when that item is not in the listing.

// The proposals for the accounts that the principal may see, in any state, newest first; `after` is a
// proposal's id.
absl::StatusOr<std::vector<LimitView>> ListLimitProposals(const Access& access, const Principal& principal,
                                                          const DatasetName& dataset,
                                                          const std::string& after, int64_t limit);

// The accounts that the principal may see, all or those that his charges post to, in the order in which they
// were opened; `after` is an account's name.
absl::StatusOr<std::vector<AccountView>> ListAccounts(const Access& access, const Principal& principal,
                                                      const DatasetName& dataset, const std::string& after,
                                                      int64_t limit);

}  // namespace curator::service
