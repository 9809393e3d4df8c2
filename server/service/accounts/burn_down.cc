#include "service/accounts/burn_down.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "service/accounts/accounts.h"
#include "service/charges/pricing.h"

namespace curator::service {
namespace {

// Of an account that others spend from, too, those who see it as participants learn the past by the hour
// alone: to the second it would have when the draws of others began.
constexpr int64_t kParticipantsStepSeconds = 3600;

int64_t StepFor(const DatasetView& view, const ledger::Account& account) {
  // One that VisibleAccount() shows to a participant is its own.
  const bool is_own = account.scope_type == ledger::ScopeType::kAnalyst;
  return view.MayAll(Method::kGetBurnDown) || is_own ? 1 : kParticipantsStepSeconds;
}

// One error for an account of another analyst and for one that there is not.
absl::StatusOr<ledger::Account> VisibleAccount(const Access& access, const DatasetView& view,
                                               const Principal& principal, const std::string& name) {
  if (view.MayAll(Method::kGetBurnDown)) return NamedAccount(access.ledger, view, name);
  ASSIGN_OR_RETURN(std::vector<ledger::Account> own, PayingAccounts(access.ledger, view, principal.name()));
  for (ledger::Account& account : own) {
    const bool is_datasets_own = account.scope_type == ledger::ScopeType::kDataset;
    if (AccountName(view, account) == name || (name.empty() && is_datasets_own)) return std::move(account);
  }
  return InvalidField("account", "must be one of the accounts that you may see");
}

}  // namespace

absl::StatusOr<BurnDown> GetBurnDown(const Access& access, const Principal& principal,
                                     const BurnDownQuery& query) {
  if (query.most_points < 1 || query.most_points > ledger::kMostPoints) {
    return InvalidField("points", absl::StrCat("must be from 1 to ", ledger::kMostPoints));
  }
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access, Method::kGetBurnDown, principal, query.dataset));
  ASSIGN_OR_RETURN(const ledger::Account account, VisibleAccount(access, view, principal, query.account));
  if (query.from_second && query.to_second && *query.to_second < *query.from_second) {
    return InvalidField("to", "must not lie before the beginning");
  }
  BurnDown burn_down{.account = AccountName(view, account), .counters = {}};
  for (const ledger::CounterBalance& counter : account.counters) {
    ASSIGN_OR_RETURN(std::vector<ledger::CounterPoint> points,
                     access.ledger.CounterPoints({.account_id = account.id,
                                                  .counter = counter.counter,
                                                  .from_second = query.from_second,
                                                  .to_second = query.to_second,
                                                  .most = query.most_points,
                                                  .step_seconds = StepFor(view, account)}));
    burn_down.counters.push_back({counter.counter, std::move(points)});
  }
  return burn_down;
}

}  // namespace curator::service
