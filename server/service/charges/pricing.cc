#include "service/charges/pricing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "dp/accounting/kept_promise.h"
#include "dp/accounting/units.h"

namespace curator::service {
namespace {

int64_t RemainingIn(const ledger::CounterBalance& balance) {
  return balance.limit - balance.spent - balance.held;
}

absl::StatusOr<ledger::CounterBalance> CounterIn(const ledger::Account& account, std::string_view counter) {
  for (const ledger::CounterBalance& balance : account.counters) {
    if (balance.counter == counter) return balance;
  }
  return absl::DataLossError(absl::StrCat("account ", account.id, " has no counter ", std::string(counter)));
}

using Balances = std::map<std::pair<int64_t, std::string_view>, const ledger::CounterBalance*>;

Balances ByCounter(const std::vector<ledger::AccountBalance>& balances) {
  Balances by_counter;
  for (const auto& [account_id, balance] : balances) by_counter[{account_id, balance.counter}] = &balance;
  return by_counter;
}

// The least cost of a new charge in some counter: the same amount under each rule, epsilon squared, and half
// of it as rho. None where the counter has none.
std::optional<int64_t> LeastIn(std::string_view counter) {
  static const std::map<std::string, int64_t, std::less<>> kLeast = {
      {"epsilon", dp::kEpsilonUnitsPerOne / 100'000},
      {"epsilon_squared", 100},
      {"rho", 50},
      {"delta", dp::kDeltaUnitsPerOne / 1'000'000'000'000}};
  const auto found = kLeast.find(counter);
  return found == kLeast.end() ? std::nullopt : std::optional(found->second);
}

double ShareOf(int64_t amount, int64_t limit) {
  return limit <= 0 ? 0 : static_cast<double>(amount) / static_cast<double>(limit);
}

}  // namespace

double PricedCounter::ShareOfPromise() const {
  return ShareOf(cost, limit);
}

double PricedCounter::ShareLeft() const {
  return ShareOf(remaining_before - cost, limit);
}

std::vector<double> Price::SharesOfPromise() const {
  std::vector<double> shares;
  int64_t last = 0;
  for (const PricedCounter& counter : counters) {
    const bool is_new = shares.empty() || counter.account_id != last;
    if (is_new) shares.push_back(0);
    shares.back() = std::max(shares.back(), counter.ShareOfPromise());
    last = counter.account_id;
  }
  return shares;
}

bool Price::Fits() const {
  return std::all_of(counters.begin(), counters.end(),
                     [](const PricedCounter& counter) { return counter.Fits(); });
}

std::vector<ledger::Posting> Price::Postings() const {
  std::vector<ledger::Posting> postings;
  for (const PricedCounter& counter : counters) {
    postings.push_back({.account_id = counter.account_id, .counter = counter.counter, .cost = counter.cost});
  }
  return postings;
}

std::string AccountName(const DatasetView& dataset, const ledger::Account& account) {
  return ledger::AccountName(dataset.record.name, account.scope_type, account.scope_key);
}

absl::StatusOr<std::vector<ledger::Account>> PayingAccounts(ledger::Ledger& ledger,
                                                            const DatasetView& dataset,
                                                            std::string_view principal) {
  if (dataset.record.is_public) {
    return absl::FailedPreconditionError(absl::StrCat(
        "dataset \"", dataset.record.name,
        "\" is public: it has no privacy budget, and nothing about it needs to be asked with noise"));
  }
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts,
                   ledger.ListPayingAccounts(dataset.record.id, principal));
  if (accounts.empty()) return absl::DataLossError("a private dataset without accounts");
  return accounts;
}

absl::StatusOr<dp::RuleSpec> GoverningRule(const std::vector<ledger::Account>& accounts) {
  for (const ledger::Account& account : accounts) {
    const bool is_the_datasets =
        account.scope_type == ledger::ScopeType::kDataset || account.scope_type == ledger::ScopeType::kPart;
    if (is_the_datasets) return codec::DecodeRule(account.rule);
  }
  return absl::DataLossError("a private dataset without an account of its own");
}

absl::StatusOr<dp::RuleSpec> PromiseOf(const ledger::Account& account) {
  ASSIGN_OR_RETURN(const dp::RuleSpec opened, codec::DecodeRule(account.rule));
  std::vector<dp::CounterAmount> limits;
  for (const ledger::CounterBalance& balance : account.counters) {
    limits.push_back({balance.counter, balance.limit});
  }
  return dp::KeptPromise(opened, limits);
}

absl::StatusOr<Price> PriceOf(const DatasetView& dataset, const std::vector<ledger::Account>& accounts,
                              const dp::Event& event, const std::optional<dp::LinearDraws>& linear) {
  Price price;
  // By the account's rule, and whether it is a part's: a dataset may have a thousand parts of one rule.
  std::map<std::pair<std::string, bool>, absl::StatusOr<std::vector<dp::CounterAmount>>> computed;
  for (const ledger::Account& account : accounts) {
    ASSIGN_OR_RETURN(const dp::RuleSpec rule, codec::DecodeRule(account.rule));
    const bool is_part = account.scope_type == ledger::ScopeType::kPart;
    auto found = computed.find({account.rule, is_part});
    if (found == computed.end()) {
      found = computed
                  .emplace(std::pair(account.rule, is_part),
                           is_part ? dp::PartCostOf(rule, dataset.unit_bound, event, linear)
                                   : dp::CostOf(rule, event))
                  .first;
    }
    const absl::StatusOr<std::vector<dp::CounterAmount>>& costs = found->second;
    if (absl::IsFailedPrecondition(costs.status())) {
      return absl::FailedPreconditionError(absl::StrCat("the account ", AccountName(dataset, account),
                                                        " cannot count this: ", costs.status().message()));
    }
    if (absl::IsOutOfRange(costs.status())) {
      return absl::OutOfRangeError(absl::StrCat(
          "this costs more than a counter of the account ", AccountName(dataset, account), " can hold under ",
          std::string(dp::RuleName(rule.kind)), ": ask for a smaller epsilon or rho, or state more noise"));
    }
    RETURN_IF_ERROR(costs.status());
    for (const dp::CounterAmount& cost : *costs) {
      ASSIGN_OR_RETURN(const ledger::CounterBalance balance, CounterIn(account, cost.counter));
      price.counters.push_back({.account = AccountName(dataset, account),
                                .rule = rule.kind,
                                .account_id = account.id,
                                .counter = cost.counter,
                                .cost = cost.amount,
                                .remaining_before = RemainingIn(balance),
                                .limit = balance.limit});
    }
  }
  return price;
}

absl::StatusOr<Price> PricePaid(const DatasetView& dataset, const std::vector<ledger::Account>& accounts,
                                const ledger::Charge& charge) {
  Price price;
  for (const ledger::Account& account : accounts) {
    for (const ledger::Posting& posting : charge.postings) {
      if (account.id != posting.account_id) continue;
      ASSIGN_OR_RETURN(const dp::RuleSpec rule, codec::DecodeRule(account.rule));
      ASSIGN_OR_RETURN(const ledger::CounterBalance balance, CounterIn(account, posting.counter));
      price.counters.push_back({.account = AccountName(dataset, account),
                                .rule = rule.kind,
                                .account_id = account.id,
                                .counter = posting.counter,
                                .cost = posting.cost,
                                .remaining_before = RemainingIn(balance) + posting.cost,
                                .limit = balance.limit});
    }
  }
  return price;
}

void SetBalances(std::vector<ledger::Account>& accounts,
                 const std::vector<ledger::AccountBalance>& balances) {
  const Balances by_counter = ByCounter(balances);
  for (ledger::Account& account : accounts) {
    for (ledger::CounterBalance& counter : account.counters) {
      const auto found = by_counter.find({account.id, counter.counter});
      if (found != by_counter.end()) counter = *found->second;
    }
  }
}

Price PriceAfter(Price priced, const std::vector<ledger::AccountBalance>& balances) {
  const Balances by_counter = ByCounter(balances);
  for (PricedCounter& counter : priced.counters) {
    const auto found = by_counter.find({counter.account_id, counter.counter});
    if (found == by_counter.end()) continue;
    const ledger::CounterBalance& balance = *found->second;
    counter.remaining_before = RemainingIn(balance) + counter.cost;
    counter.limit = balance.limit;
  }
  return priced;
}

bool ReachesLeastCost(const Price& price) {
  return std::any_of(price.counters.begin(), price.counters.end(), [](const PricedCounter& counter) {
    const std::optional<int64_t> least = LeastIn(counter.counter);
    return least && counter.cost >= *least;
  });
}

absl::Status CheckLeastCost(ledger::Ledger& ledger, const Price& price, const Principal& principal,
                            std::string_view request_id, std::string_view field) {
  if (ReachesLeastCost(price)) return absl::OkStatus();
  std::string least;
  for (const PricedCounter& counter : price.counters) {
    const std::optional<int64_t> amount = LeastIn(counter.counter);
    if (!amount) continue;
    least = absl::StrCat(counter.counter, " ", dp::FormatCounter(counter.counter, *amount));
    break;
  }
  // Found, or an error that does not say whether it is there.
  const absl::Status earlier = ledger.FindCharge(principal, request_id).status();
  if (!absl::IsNotFound(earlier)) return earlier;
  return InvalidField(field, absl::StrCat("asks for less than ", least,
                                          ": its noise would hide everything, and its entry would stay in "
                                          "the history"));
}

}  // namespace curator::service
