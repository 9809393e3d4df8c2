// Budgets and history as those with access see them.
//
// Thread-safe. The owner sees all accounts and the whole history; a grantee sees the accounts that his
// charges concern, and no history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/comparison.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/units.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

// What charges come to under other rules than their account's: information for those who made them, or own
// the data.
//
// It gates nothing. The charges were chosen one after another, so only the calculators that are valid
// adaptively say what has been guaranteed; the others say what the same schedule, fixed beforehand, would
// have cost. Thread-safe: pure functions over the ledger.

struct HistoryComparison {
  dp::Delta delta;
  int64_t charges = 0;  // those that were counted
  bool own_charges_only = false;
  std::vector<dp::CalculatedEpsilon> calculated;
  std::string not_computed;  // why `calculated` is empty; empty when nothing was charged
};

// Histories of more different events are not compared: each one costs time.
inline constexpr int64_t kMostEventsCompared = 256;

// Counts the events of the charges on the dataset's lineage, by `principal` or, where that is empty, by all.
// Cancelled reservations are left out; a reservation that was started for less counts whole. The ledger
// counts equal events, so the work grows with the kinds of requests and one scan, not with decoding each
// charge; Effort::kBounded bounds the rest. Errors: those of the ledger; DATA_LOSS for an event that cannot
// be read.
absl::StatusOr<HistoryComparison> CompareHistory(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                                 std::string_view principal, dp::Delta delta);

struct AccountView {
  std::string name;
  dp::RuleSpec rule;  // with the promise that its present limits keep
  std::vector<ledger::CounterBalance> counters;
  ledger::ScopeType scope_type = ledger::ScopeType::kDataset;
  std::string scope_key;             // the analyst, or the group
  std::vector<std::string> members;  // of a group; for the owner's eyes
  // How many more requests at the cost of the viewer's last one fit; none when that cost it nothing.
  std::optional<int64_t> requests_left_like_last;
};

absl::StatusOr<AccountView> ViewOf(const DatasetView& dataset, const ledger::Account& account,
                                   std::string_view viewer);

// The caller's latest charge of the dataset that was not cancelled.
struct LastRequest {
  std::string summary;  // for people
  int64_t created_at_us = 0;
};

struct BudgetView {
  std::vector<AccountView> accounts;
  std::optional<LastRequest> last_request;
  std::string protects;                         // whom, and against what (access.h)
  std::optional<HistoryComparison> comparison;  // of all charges for the owner, of their own for others
};

enum class BudgetDetail { kBalances, kWithComparison };

absl::StatusOr<BudgetView> GetBudget(ledger::Ledger& ledger, std::string_view principal,
                                     std::string_view dataset, BudgetDetail detail);

// The delta at which histories are compared where the account promises none.
inline constexpr dp::Delta kDeltaComparedUnderPure(1'000'000'000);  // 1e-9

// What a partitioned dataset has spent: in each counter what the part has that spent most of it
// (dp/workload/part_cost.h). None where `accounts` has no part's.
std::optional<AccountView> LargestPart(std::string_view dataset, const std::vector<AccountView>& accounts);

absl::StatusOr<std::vector<ledger::Entry>> ListLedgerEntries(ledger::Ledger& ledger,
                                                             std::string_view principal,
                                                             std::string_view dataset,
                                                             const ledger::Page& page);

// One line for people: what the entry says beside its kind. Empty where there is nothing more.
std::string Summary(const ledger::Entry& entry);

// The entries after `page.after_seq` for all who may see the dataset: their links; their content only where
// the principal made them, or owns the dataset.
struct LinkView {
  ledger::Entry entry;
  bool shows_content = false;
};
absl::StatusOr<std::vector<LinkView>> ListChainLinks(ledger::Ledger& ledger, std::string_view principal,
                                                     std::string_view dataset, const ledger::Page& page);

struct VerifiedLedger {
  ledger::Verification verification;
  std::string dataset_id;
};
absl::StatusOr<VerifiedLedger> VerifyLedger(ledger::Ledger& ledger, std::string_view principal,
                                            std::string_view dataset);

}  // namespace curator::service
