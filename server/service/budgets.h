// Budgets and history as those with access see them.
//
// Thread-safe. The owner sees all accounts and the whole history; a grantee sees the accounts that his
// charges concern, and no history.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

struct AccountView {
  std::string name;
  dp::RuleSpec rule;  // with the promise that its present limits keep
  std::vector<ledger::CounterBalance> counters;
  ledger::ScopeType scope_type = ledger::ScopeType::kDataset;
  std::string scope_key;             // the analyst, or the group
  std::vector<std::string> members;  // of a group; for the owner's eyes
};

absl::StatusOr<AccountView> ViewOf(const DatasetView& dataset, const ledger::Account& account,
                                   std::string_view viewer);

absl::StatusOr<std::vector<AccountView>> GetBudget(ledger::Ledger& ledger, std::string_view principal,
                                                   std::string_view dataset);

// What a partitioned dataset has spent: in each counter what the part has that spent most of it
// (dp/workload/part_cost.h). None where `accounts` has no part's.
std::optional<AccountView> LargestPart(std::string_view dataset, const std::vector<AccountView>& accounts);

absl::StatusOr<std::vector<ledger::Entry>> ListLedgerEntries(ledger::Ledger& ledger,
                                                             std::string_view principal,
                                                             std::string_view dataset,
                                                             const ledger::Page& page);

// One line for people: what the entry says beside its kind. Empty where there is nothing more.
std::string Summary(const ledger::Entry& entry);

absl::StatusOr<ledger::Verification> VerifyLedger(ledger::Ledger& ledger, std::string_view principal,
                                                  std::string_view dataset);

}  // namespace curator::service
