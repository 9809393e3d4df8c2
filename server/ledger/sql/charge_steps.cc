#include "ledger/sql/charge_steps.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::ledger::sql {

absl::Status CheckReservationLifetime(int64_t lifetime_us) {
  constexpr int64_t kMostUs = int64_t{366} * 24 * 3600 * 1'000'000;
  if (lifetime_us >= 1 && lifetime_us <= kMostUs) return absl::OkStatus();
  return InvalidField("lifetime", "is not between 1 microsecond and 366 days");
}

absl::Status WrongState(const Charge& charge, std::string_view action) {
  return absl::FailedPreconditionError(
      absl::StrCat("a charge that is ", std::string(StateName(charge.state)),
                   charge.reason.empty() ? "" : absl::StrCat(" (", charge.reason, ")"), " cannot be ",
                   std::string(action)));
}

ChargeChanged Because(std::string_view reason) {
  return {.reason = std::string(reason), .deadline_us = 0};
}

void AppendChange(WriteSet& change, const Charge& charge, const char* kind, std::string_view actor,
                  const ChargeChanged& document) {
  change.Append({.dataset_id = charge.dataset_id,
                 .kind = kind,
                 .charge_id = charge.id,
                 .payload = EncodePayload(document),
                 .actor = std::string(actor)});
}

ChargeChanged StartedAt(const WriteSet& change, std::vector<Posting> postings, std::string_view reason) {
  std::ranges::sort(postings, std::less(), [&](const Posting& posting) {
    const auto found = change.counters().find({posting.account_id, posting.counter});
    return std::pair(found == change.counters().end() ? std::string() : found->second.account_name,
                     posting.counter);
  });
  ChargeChanged started = Because(reason);
  started.postings = std::move(postings);
  return started;
}

absl::Status LockAccountsOf(WriteSet& change, const std::vector<Posting>& postings) {
  std::set<int64_t> account_ids;
  for (const Posting& posting : postings) account_ids.insert(posting.account_id);
  return change.LockCounters(account_ids);
}

void FreeHeld(WriteSet& change, const std::vector<Posting>& postings) {
  for (const Posting& held : postings) change.AddHeld({held.account_id, held.counter}, -held.cost);
}

void SpendPostings(WriteSet& change, const std::vector<Posting>& postings) {
  for (const Posting& posting : postings)
    change.AddSpent({posting.account_id, posting.counter}, posting.cost);
}

}  // namespace curator::ledger::sql
