// The price of an event: its cost in the counters of each account that pays for it.
//
// A price is a function of public facts only: the event, and the rules of the accounts.
// Thread-safe: pure functions over the ledger.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/sensitivity/part_cost.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

// One counter of one account.
struct PricedCounter {
  std::string account;  // "dataset/census"
  dp::RuleKind rule = dp::RuleKind::kPure;
  int64_t account_id = 0;
  std::string counter;
  int64_t cost = 0;
  int64_t remaining_before = 0;  // when priced: others may charge meanwhile
  int64_t limit = 0;             // of the counter, then

  bool Fits() const { return cost <= remaining_before; }
  // `cost` and what remains after it as shares of the limit, 0.02 for 2%. 0 where the limit is 0.
  double ShareOfPromise() const;
  double ShareLeft() const;
};

struct Price {
  std::vector<PricedCounter> counters;

  bool Fits() const;
  std::vector<ledger::Posting> Postings() const;
  // Of each account, in the order in which they have counters here: the largest share of a counter.
  std::vector<double> SharesOfPromise() const;
};

// The accounts that a charge by `principal` on `dataset` may post to: the dataset's own or its parts', and
// the principal's. In id order. Errors: FAILED_PRECONDITION for a public dataset, which has none.
absl::StatusOr<std::vector<ledger::Account>> PayingAccounts(ledger::Ledger& ledger,
                                                            const DatasetView& dataset,
                                                            std::string_view principal);

// The rule of the dataset's own account, or of its parts' accounts: it decides which mechanisms a request can
// use.
absl::StatusOr<dp::RuleSpec> GoverningRule(const std::vector<ledger::Account>& accounts);

// The promise that the account keeps under its present limits (dp/accounting/kept_promise.h).
// Errors: DATA_LOSS for a stored rule that cannot be read.
absl::StatusOr<dp::RuleSpec> PromiseOf(const ledger::Account& account);

// The price of `event` in `accounts`. A part's account pays by dp/sensitivity/part_cost.h, which uses
// `linear` to charge less than the whole event; all others pay what the event costs. Errors:
// FAILED_PRECONDITION, naming the account, when its rule cannot count the event; DATA_LOSS when an account
// contradicts its rule.
absl::StatusOr<Price> PriceOf(const DatasetView& dataset, const std::vector<ledger::Account>& accounts,
                              const dp::Event& event,
                              const std::optional<dp::LinearDraws>& linear = std::nullopt);

// The price that a charge paid, from its postings, with the balances of now.
absl::StatusOr<Price> PricePaid(const DatasetView& dataset, const std::vector<ledger::Account>& accounts,
                                const ledger::Charge& charge);

// Gives the accounts these balances, where they have them.
void SetBalances(std::vector<ledger::Account>& accounts, const std::vector<ledger::AccountBalance>& balances);

// `priced`, which a charge has paid, with the balances after it, where they are given, in place of those that
// it was computed with.
Price PriceAfter(Price priced, const std::vector<ledger::AccountBalance>& balances);

// The account's name on the wire and in messages: "dataset/census", "dataset/census/analyst/ana".
std::string AccountName(const DatasetView& dataset, const ledger::Account& account);

// Whether the price is at least what CheckLeastCost() asks for.
bool ReachesLeastCost(const Price& price);

// A new charge asks for at least epsilon 0.00001, rho 0.00000000005, or delta 1e-12 of some account: a
// history never shrinks, and noise at smaller amounts hides whatever a request measures. INVALID_ARGUMENT,
// with the field, unless the price does, or (principal, request_id) was charged before.
absl::Status CheckLeastCost(ledger::Ledger& ledger, const Price& price, const Principal& principal,
                            std::string_view request_id, std::string_view field);

}  // namespace curator::service
