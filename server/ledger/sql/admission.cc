#include "ledger/sql/admission.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/rows.h"

namespace curator::ledger::sql {
namespace {

absl::Status CheckDataset(const LockedDataset& dataset, const ChargeRequest& request) {
  if (request.dataset_revision != 0 && request.dataset_revision != dataset.revision) return DatasetChanged();
  if (dataset.state != DatasetState::kSealed) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " is ",
                                                      std::string(DatasetStateName(dataset.state)),
                                                      ": only a SEALED dataset can be charged"));
  }
  // Every version of a partitioned dataset remains: it consists of the parts that were sealed until then.
  const bool has_version = dataset.is_partitioned
                               ? request.dataset_version >= 1 && request.dataset_version <= dataset.version
                               : request.dataset_version == dataset.version;
  if (!has_version) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " has version ",
                                                      dataset.version, ", not ", request.dataset_version));
  }
  if (dataset.is_public != request.postings.empty()) {
    return InvalidField("postings", dataset.is_public
                                        ? "a public dataset has no accounts"
                                        : "a private dataset is never answered without a charge");
  }
  return absl::OkStatus();
}

Value BytesOrNull(const std::string& bytes) {
  Value value;
  if (!bytes.empty()) value = Bytes{bytes};
  return value;
}

Value DeadlineOrNull(const ChargeIdentity& identity) {
  Value value;
  if (identity.deadline_us > 0) value = identity.deadline_us;
  return value;
}

// First the columns that are mostly equal for all charges of a batch, which a store may send once.
// created_at_us and entry_seq are set when a charge gets its place in the chain.
const std::vector<Column>& ChargeColumns() {
  static const std::vector<Column> kColumns = {{"created_at_us", ColumnType::kInteger},
                                               {"dataset_id", ColumnType::kText},
                                               {"dataset_version", ColumnType::kInteger},
                                               {"deadline_us", ColumnType::kInteger},
                                               {"kind", ColumnType::kText},
                                               {"principal", ColumnType::kText},
                                               {"label", ColumnType::kText},
                                               {"postings", ColumnType::kText},
                                               {"entry_seq", ColumnType::kInteger},
                                               {"id", ColumnType::kText},
                                               {"request_id", ColumnType::kText},
                                               {"fingerprint", ColumnType::kBytes},
                                               {"draw_identity", ColumnType::kBytes},
                                               {"event", ColumnType::kBytes}};
  return kColumns;
}
constexpr size_t kCreatedAt = 0;
constexpr size_t kEntrySeq = 8;

// Likewise.
const std::vector<Column>& OpenChargeColumns() {
  static const std::vector<Column> kColumns = {
      {"state", ColumnType::kText},          {"postings", ColumnType::kText},
      {"deadline_us", ColumnType::kInteger}, {"charge_id", ColumnType::kText},
      {"attempt_token", ColumnType::kText},  {"sealed_key", ColumnType::kBytes}};
  return kColumns;
}

}  // namespace

absl::Status CheckStillAdmissible(WriteSet& change, const ChargeRequest& request) {
  ASSIGN_OR_RETURN(const LockedDataset* const dataset, change.FindDataset(request.dataset_id));
  RETURN_IF_ERROR(CheckDataset(*dataset, request));
  return CheckPostsToAllAccounts(change, *dataset, request);
}

absl::Status CheckAdmission(WriteSet& change, const ChargeRequest& request) {
  RETURN_IF_ERROR(CheckStillAdmissible(change, request));
  ASSIGN_OR_RETURN(const LockedDataset* const found, change.FindDataset(request.dataset_id));
  const LockedDataset& dataset = *found;
  // What was queued before the rules stays, so this is not asked again when a queued draw starts.
  if (request.refusal_rules_hash != dataset.refusal_rules_hash) return DatasetChanged();
  std::vector<FullAccount> full;
  bool posts_to_part = false;
  for (size_t i = 0; i < request.postings.size(); ++i) {
    const Posting& posting = request.postings[i];
    const LockedCounter* counter = change.counter({posting.account_id, posting.counter});
    if (counter == nullptr || counter->lineage_id != dataset.lineage_id) {
      return InvalidField(absl::StrCat("postings[", i, "]"),
                          absl::StrCat("dataset ", dataset.name, " has no such account or counter"));
    }
    posts_to_part = posts_to_part || counter->scope_type == ScopeType::kPart;
    if (posting.cost <= counter->remaining()) continue;
    full.push_back({.account = counter->account_name,
                    .rule = counter->rule_name,
                    .counter = posting.counter,
                    .asked = posting.cost,
                    .remaining = counter->remaining()});
  }
  if (dataset.is_partitioned && !posts_to_part) {
    return InvalidField("postings",
                        "name no part; a partitioned dataset is never answered without a charge to a part");
  }
  return full.empty() ? absl::OkStatus() : BudgetFull(full);
}

size_t BytesOf(const ChargeRequest& request) {
  constexpr size_t kBytesOfPosting = 64;
  return request.principal.name().size() + request.refusal_rules_hash.size() + request.request_id.size() +
         request.fingerprint.size() + request.draw_identity.size() + request.kind.size() +
         request.event.size() + request.label.size() + request.sealed_key.size() +
         request.postings.size() * kBytesOfPosting;
}

EncodedCharge Encode(const ChargeRequest& request, const ChargeIdentity& identity) {
  const bool reserved = identity.deadline_us > 0;
  Entry entry{.dataset_id = request.dataset_id,
              .kind = reserved ? kReserved : kCharged,
              .charge_id = identity.id,
              .payload = EncodePayload(ChargeMade{.principal = request.principal.name(),
                                                  .request_id = request.request_id,
                                                  .fingerprint = request.fingerprint,
                                                  .dataset_version = request.dataset_version,
                                                  .kind = request.kind,
                                                  .event = request.event,
                                                  .label = request.label,
                                                  .deadline_us = identity.deadline_us,
                                                  .postings = request.postings,
                                                  .draw_identity = request.draw_identity}),
              .actor = request.principal.name()};
  const ChargeState state = reserved ? ChargeState::kReserved : ChargeState::kStarted;
  return {.row = RowOf(Null(), request.dataset_id, request.dataset_version, DeadlineOrNull(identity),
                       request.kind, request.principal.name(), request.label, PostingsText(request.postings),
                       Null(), identity.id, request.request_id, Bytes{request.fingerprint},
                       BytesOrNull(request.draw_identity), Bytes{request.event}),
          .open_row = RowOf(std::string(StateName(state)), std::string(), identity.deadline_us, identity.id,
                            identity.token, Bytes{request.sealed_key}),
          .entry = std::move(entry)};
}

std::vector<EntryPlace> InsertCharges(WriteSet& change, std::vector<EncodedCharge> charges) {
  std::vector<Parameters> rows;
  std::vector<Parameters> open_rows;
  std::vector<EntryPlace> places;
  rows.reserve(charges.size());
  open_rows.reserve(charges.size());
  for (EncodedCharge& charge : charges) {
    places.push_back(change.Append(std::move(charge.entry)));
    charge.row[kEntrySeq] = places.back().seq;
    charge.row[kCreatedAt] = change.now_us();
    rows.push_back(std::move(charge.row));
    open_rows.push_back(std::move(charge.open_row));
  }
  change.Insert("charges", ChargeColumns(), std::move(rows));
  change.Insert("open_charges", OpenChargeColumns(), std::move(open_rows));
  return places;
}

Charge ChargeOf(const ChargeRequest& request, const ChargeIdentity& identity, int64_t created_at_us) {
  return {.id = identity.id,
          .dataset_id = request.dataset_id,
          .dataset_version = request.dataset_version,
          .principal = request.principal.name(),
          .request_id = request.request_id,
          .fingerprint = request.fingerprint,
          .draw_identity = request.draw_identity,
          .kind = request.kind,
          .event = request.event,
          .label = request.label,
          .state = identity.deadline_us > 0 ? ChargeState::kReserved : ChargeState::kStarted,
          .postings = Ascending(request.postings),
          .created_at_us = created_at_us,
          .deadline_us = identity.deadline_us};
}

}  // namespace curator::ledger::sql
