// Changes of limits. The owner proposes one, and another principal approves or rejects it; who spends from an
// account can ask its owner for one. The history keeps every step, with the reason.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND without
// access, PERMISSION_DENIED, FAILED_PRECONDITION for a public dataset.
#pragma once

#include <cstdint>
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
#include "service/services.h"

namespace curator::service {

// A promise under the account's own rule. At most one of epsilon and delta is set; neither only with
// `takes_up`.
struct LimitOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  std::string account;  // "dataset/census/analyst/ana"; empty for the dataset's own
  std::optional<dp::Epsilon> epsilon;
  std::optional<dp::Delta> delta;
  std::string reason;
  // The id of a request that this proposal takes up. It gives the account, and what else the order leaves
  // empty.
  std::string takes_up = {};
};

enum class ProposalState {
  kRequested,  // waits for the owner
  kPending,    // waits for an approver
  kApproved,
  kOutdated,  // the limit has changed since
  kRejected,
  kWithdrawn,
  kTakenUp,  // of a request: the owner has made a proposal of it
};

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

// For analysts and services: asks the owner to raise the limit of an account that their charges post to.
// Nothing changes; the owner takes the request up with ProposeLimit(), or rejects it. FAILED_PRECONDITION
// when the limit would not be raised. A request counts as a charge among those of the principal's day
// (charges/daily_charges.h), because the history keeps it.
absl::StatusOr<LimitView> RequestLimit(Services& services, const LimitOrder& order, Intent intent);

// A proposal or a request on a dataset, named by a principal who acts on it.
struct LimitChoice {
  Principal principal;
  DatasetName dataset;
  std::string proposal_id;
};

// For approvers of the dataset who are other persons than the proposer (ApprovalOf()) and gain nothing by it
// (CheckDoesNotProfit()), and under single custody for its owner. With Intent::kValidateOnly it reveals no
// balance.
absl::StatusOr<LimitView> ApproveLimit(const Access& access, const LimitChoice& choice, Intent intent);

// A proposal for approvers of the dataset, a request for its owner; FAILED_PRECONDITION where it is the
// other.
absl::StatusOr<LimitView> RejectLimit(const Access& access, const LimitChoice& choice,
                                      const std::string& reason, Intent intent);

// For the principal who made the proposal or the request.
absl::StatusOr<LimitView> WithdrawLimit(const Access& access, const LimitChoice& choice, Intent intent);

// The proposals and requests for the accounts that the principal may see, in any state, newest first: at most
// `limit`, from the first on or after the one with this id. A request is seen by the principal who made it
// and by those who see all accounts. Errors: INVALID_ARGUMENT (page_token) when that is not in the listing.
absl::StatusOr<std::vector<LimitView>> ListLimitProposals(const Access& access, const Principal& principal,
                                                          const DatasetName& dataset,
                                                          const std::string& after, int64_t limit);

// Of the dataset, oldest first, what waits for the principal: for its owner requests, for an approver
// proposals of other principals. Empty for all others.
absl::StatusOr<std::vector<LimitView>> ListWaiting(const Access& access, const Principal& principal,
                                                   const DatasetView& dataset);

}  // namespace curator::service
