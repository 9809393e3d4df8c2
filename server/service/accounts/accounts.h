// More accounts for a dataset: an analyst's own, or one that a group of analysts shares.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND where one
// may not look, PERMISSION_DENIED for grantees, FAILED_PRECONDITION for a public dataset.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"
#include "ledger/ledger.h"
#include "service/accounts/budgets.h"
#include "service/datasets/datasets.h"

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

}  // namespace curator::service
