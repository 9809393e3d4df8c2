// Accounts beside a dataset's own: an account for one analyst, or one that a group of analysts shares.
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

// The account with this name (ledger::AccountName()); the dataset's own when it is empty. INVALID_ARGUMENT
// (account), with the names of others, when there is none: for principals who see all.
absl::StatusOr<ledger::Account> NamedAccount(ledger::Ledger& ledger, const DatasetView& dataset,
                                             const std::string& name);

// Opens the account; from then on the charges of its holder also post to it. With Intent::kValidateOnly
// nothing is opened.
absl::StatusOr<AccountView> CreateAccount(const Access& access, const AccountOrder& order, Intent intent);

// The accounts that the principal may see, all or those that his charges post to: at most `limit`, from the
// first on or after the account of this name. The order is fixed, but all accounts are ordered by what the
// ledger has in place of their analysts' names, thus not by name. Errors: INVALID_ARGUMENT (page_token) when
// that account is not in the listing.
absl::StatusOr<std::vector<AccountView>> ListAccounts(const Access& access, const Principal& principal,
                                                      const DatasetName& dataset, const std::string& after,
                                                      int64_t limit);

}  // namespace curator::service
