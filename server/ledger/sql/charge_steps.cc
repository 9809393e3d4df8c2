#include "ledger/sql/charge_steps.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

namespace {

// That the row of an open charge says what is expected of it: $1 to $5.
constexpr std::string_view kIsAsExpected =
    "charge_id = $1 AND attempt_token = $2 AND state = $3 AND deadline_us = $4 AND postings = $5";

const std::vector<ColumnType>& TypesOfExpected() {
  static const std::vector<ColumnType> kTypes = {ColumnType::kText, ColumnType::kText, ColumnType::kText,
                                                 ColumnType::kInteger, ColumnType::kText};
  return kTypes;
}

Parameters ParametersOf(const OpenCharge& expected) {
  return RowOf(expected.charge_id, expected.attempt_token, std::string(StateName(expected.state)),
               expected.deadline_us, expected.other_postings);
}

Update ChangeOfOpenCharge() {
  Update change{.table = "open_charges",
                .set = "state = $6, attempt_token = $7, sealed_key = $8, deadline_us = $9, postings = $10",
                .where = std::string(kIsAsExpected),
                .types = TypesOfExpected(),
                .rows = {}};
  change.types.insert(change.types.end(), {ColumnType::kText, ColumnType::kText, ColumnType::kBytes,
                                           ColumnType::kInteger, ColumnType::kText});
  return change;
}

}  // namespace

OpenCharge OpenChargeOf(const StoredCharge& stored) {
  // The row has a deadline only while the charge is held.
  const bool is_held = stored.charge.state == ChargeState::kReserved;
  return {.charge_id = stored.charge.id,
          .state = stored.charge.state,
          .attempt_token = stored.attempt_token,
          .deadline_us = is_held ? stored.charge.deadline_us : 0,
          .other_postings = stored.other_postings};
}

void EndCharge(WriteSet& change, const OpenCharge& charge, ChargeState state, std::string_view reason) {
  static const Deletion kEnd = {
      .table = "open_charges", .where = kIsAsExpected, .types = TypesOfExpected(), .rows = {}};
  static const std::vector<Column> kColumns = {{"state", ColumnType::kText},
                                               {"reason", ColumnType::kText},
                                               {"ended_at_us", ColumnType::kInteger},
                                               {"postings", ColumnType::kText},
                                               {"charge_id", ColumnType::kText}};
  change.DeleteRow(kEnd, ParametersOf(charge));
  change.Insert("endings", kColumns,
                {{std::string(StateName(state)), std::string(reason), change.now_us(), charge.other_postings,
                  charge.charge_id}});
}

void EndCharge(WriteSet& change, const StoredCharge& stored, ChargeState state, std::string_view reason) {
  EndCharge(change, OpenChargeOf(stored), state, reason);
}

void ChangeOpenCharge(WriteSet& change, const StoredCharge& stored, const StoredCharge& changed) {
  static const Update kChange = ChangeOfOpenCharge();
  Parameters row = ParametersOf(OpenChargeOf(stored));
  const OpenCharge after = OpenChargeOf(changed);
  row.insert(row.end(), {std::string(StateName(after.state)), after.attempt_token, Bytes{changed.sealed_key},
                         after.deadline_us, after.other_postings});
  change.ChangeRow(kChange, std::move(row));
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

void FreeHeld(WriteSet& change, const std::vector<Posting>& postings) {
  for (const Posting& held : postings) change.AddHeld({held.account_id, held.counter}, -held.cost);
}

void SpendPostings(WriteSet& change, const std::vector<Posting>& postings) {
  for (const Posting& posting : postings)
    change.AddSpent({posting.account_id, posting.counter}, posting.cost);
}

}  // namespace curator::ledger::sql
