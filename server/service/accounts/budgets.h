// Budgets and history as principals with access see them.
//
// Thread-safe: functions over the ledger. The owner sees all accounts and the whole history; a grantee sees
// the accounts that their own charges post to, and the links of the history without other people's content.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/accounting/comparison.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/units.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/services.h"

namespace curator::service {

// The privacy cost of past charges under other rules than their account's.
//
// For information: it admits or refuses nothing. The charges were chosen one after another, so only the
// calculators that are valid adaptively state what has been guaranteed; the others state what the same
// schedule, fixed in advance, would have cost.
struct HistoryComparison {
  dp::Delta delta;
  int64_t charges = 0;  // counted
  bool own_charges_only = false;
  std::vector<dp::CalculatedEpsilon> calculated;
  std::string not_computed;  // why `calculated` is empty; empty when nothing was charged
};

// Histories with more distinct events, or of more mechanisms in all, are not compared, because each one takes
// time.
inline constexpr int64_t kMostEventsCompared = 256;
inline constexpr size_t kMostMechanismsCompared = 2048;

struct AccountView {
  std::string name;
  dp::RuleSpec rule;  // with the promise that its present limits keep
  std::vector<ledger::CounterBalance> counters;
  // All that was charged is (epsilon_used, rule.delta)-DP together (dp::EpsilonUsed()). None when that is not
  // known: more was spent than the limits allow.
  std::optional<dp::Epsilon> epsilon_used;
  ledger::ScopeType scope_type = ledger::ScopeType::kDataset;
  std::string scope_key;             // the analyst, or the group
  std::vector<std::string> members;  // of a group; for the owner only
  // The number of further requests at the cost of the viewer's last one that fit; none when that posted
  // nothing to this account.
  std::optional<int64_t> requests_left_like_last;
};

absl::StatusOr<AccountView> ViewOf(const DatasetView& dataset, const ledger::Account& account);

// The caller's latest charge of the dataset that was not cancelled.
struct LastRequest {
  std::string summary;  // for display
  int64_t created_at_us = 0;
};

struct BudgetView {
  // Why the dataset accepts no charge, when damage has made it read-only; else OK.
  absl::Status read_only;
  std::vector<AccountView> accounts;
  std::optional<LastRequest> last_request;
  std::string protects;  // WhatItProtects()
  ledger::DatasetFacts facts;
  // Who approves what an owner proposes; none in development mode, where nobody proves who they are.
  std::optional<ledger::Approval> approval;
  std::optional<HistoryComparison> comparison;  // of all charges, or for analysts and services of their own
};

enum class BudgetDetail { kBalances, kWithComparison };

// The comparison counts the events of the charges on the dataset's lineage: of all, or for analysts and
// services of their own. Cancelled reservations are left out; a reservation that was started for less counts
// whole. It is computed under Effort::kBounded, with dp::kBoundedBytes of the memory of requests, once for
// each caller and change of what is counted. Errors: those of the ledger, and, with comparison, of
// MemoryBudget::Take(); DATA_LOSS for an event that cannot be read; CANCELLED soon after `client_left` is
// requested.
absl::StatusOr<BudgetView> GetBudget(Services& services, const Principal& principal,
                                     const DatasetName& dataset, BudgetDetail detail,
                                     const std::stop_token& client_left = {});

// The delta at which histories are compared when the account promises none.
inline constexpr dp::Delta kDeltaComparedUnderPure(1'000'000'000);  // 1e-9

// What a partitioned dataset has spent (dp/sensitivity/part_cost.h): in each counter the largest limit, spent
// and held amounts of any part, and the largest epsilon that was used where all promise the same delta. None
// when `accounts` has no part's account.
std::optional<AccountView> LargestPart(std::string_view dataset, const std::vector<AccountView>& accounts);

// The entries of the range that the principal may see: all, without the content that no principal reads
// (MayReadEntry()); or for analysts and services those of their own charges. Reads as many as it returns.
struct EntriesPage {
  std::vector<ledger::Entry> entries;
  int64_t last_seq = 0;   // of the last one that was read: range.after_seq when none was
  bool has_more = false;  // there may be more in the range
};
absl::StatusOr<EntriesPage> ListLedgerEntries(const Access& access, const Principal& principal,
                                              const DatasetName& dataset, const ledger::EntryRange& range);

// The same of a dataset on which the principal has these roles, which allow this method.
absl::StatusOr<EntriesPage> ReadVisibleEntries(const Access& access, Method method,
                                               const Principal& principal, std::string_view dataset_id,
                                               Roles roles, const ledger::EntryRange& range);

// One line for display: the content of the entry beyond its kind. Empty when there is none.
std::string Summary(const ledger::Entry& entry);

// The entries after `page.after_seq`, for all who may see the dataset. Their content may be shown only as
// `shows_content` says (MayReadEntry()).
struct LinkView {
  ledger::Entry entry;
  bool shows_content = false;
};
absl::StatusOr<std::vector<LinkView>> ListChainLinks(const Access& access, const Principal& principal,
                                                     const DatasetName& dataset, const ledger::Page& page);

struct VerifiedLedger {
  ledger::Verification verification;
  std::string dataset_id;
};
// For the owner and auditors by a new pass, unless one was made within the last minute; for others what the
// last pass found, without the findings, which may concern charges of others. A pass that is made for the
// call counts among those of the principal, unless `quotas` is null: OverQuota() when it has had too many.
absl::StatusOr<VerifiedLedger> VerifyLedger(const Access& access, const Principal& principal,
                                            const DatasetName& dataset, PrincipalQuotas* quotas = nullptr);

}  // namespace curator::service
