#include "ledger/sql/admission.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/accounts.h"
#include "ledger/sql/postings_text.h"

namespace curator::ledger::sql {
namespace {

absl::Status CheckDataset(const LockedDataset& dataset, const ChargeRequest& request) {
  if (dataset.state != DatasetState::kSealed) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " is ",
                                                      std::string(DatasetStateName(dataset.state)),
                                                      ": only a SEALED dataset can be charged"));
  }
  // Every version of a partitioned dataset stays: it is made of the parts that were sealed until then.
  const bool has_version = dataset.is_partitioned
                               ? request.dataset_version >= 1 && request.dataset_version <= dataset.version
                               : request.dataset_version == dataset.version;
  if (!has_version) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " has version ",
                                                      dataset.version, ", not ", request.dataset_version));
  }
  if (dataset.is_public != request.postings.empty()) {
    return InvalidField("postings", dataset.is_public ? "a public dataset has no accounts"
                                                      : "a private dataset is never answered for nothing");
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

// Returns the number of the entry.
int64_t AppendMade(Change& change, AdmittedCharge& charge) {
  return change.Append({.dataset_id = charge.request->dataset_id,
                        .kind = charge.identity.deadline_us > 0 ? kReserved : kCharged,
                        .charge_id = charge.identity.id,
                        .payload = std::move(charge.encoded.payload),
                        .actor = charge.request->principal,
                        .prev_hash = {},
                        .hash = {}});
}

}  // namespace

absl::Status CheckAdmission(Change& change, const ChargeRequest& request) {
  ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(request.dataset_id));
  RETURN_IF_ERROR(CheckDataset(dataset, request));
  if (dataset.has_analyst_accounts) {
    RETURN_IF_ERROR(CheckPostsToAllConcerned(change.transaction(), dataset.lineage_id, request));
  }
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
    return InvalidField("postings", "name no part, and no partitioned dataset is answered for nothing");
  }
  return full.empty() ? absl::OkStatus() : BudgetFull(full);
}

EncodedCharge Encode(const ChargeRequest& request, int64_t deadline_us) {
  return {.payload = ledger::Bytes(ChargeMade{.principal = request.principal,
                                              .request_id = request.request_id,
                                              .fingerprint = request.fingerprint,
                                              .dataset_version = request.dataset_version,
                                              .kind = request.kind,
                                              .event = request.event,
                                              .label = request.label,
                                              .deadline_us = deadline_us,
                                              .postings = request.postings}),
          .postings = PostingsText(request.postings)};
}

void InsertCharges(Change& change, std::vector<AdmittedCharge> charges) {
  static const std::vector<Column> kChargeColumns = {{"id", ColumnType::kText},
                                                     {"dataset_id", ColumnType::kText},
                                                     {"dataset_version", ColumnType::kInteger},
                                                     {"principal", ColumnType::kText},
                                                     {"request_id", ColumnType::kText},
                                                     {"fingerprint", ColumnType::kBytes},
                                                     {"kind", ColumnType::kText},
                                                     {"event", ColumnType::kBytes},
                                                     {"label", ColumnType::kText},
                                                     {"state", ColumnType::kText},
                                                     {"attempt_token", ColumnType::kText},
                                                     {"sealed_key", ColumnType::kBytes},
                                                     {"deadline_us", ColumnType::kInteger},
                                                     {"created_at_us", ColumnType::kInteger},
                                                     {"entry_seq", ColumnType::kInteger},
                                                     {"postings", ColumnType::kText}};
  std::vector<Parameters> rows;
  rows.reserve(charges.size());
  for (AdmittedCharge& charge : charges) {
    const ChargeRequest& request = *charge.request;
    ChargeIdentity& identity = charge.identity;
    const bool reserved = identity.deadline_us > 0;
    const int64_t entry_seq = AppendMade(change, charge);
    Value deadline = DeadlineOrNull(identity);
    rows.push_back({std::move(identity.id), request.dataset_id, request.dataset_version, request.principal,
                    request.request_id, Bytes{request.fingerprint}, request.kind, Bytes{request.event},
                    request.label, std::string(reserved ? "RESERVED" : "STARTED"), std::move(identity.token),
                    BytesOrNull(request.sealed_key), std::move(deadline), change.now_us(), entry_seq,
                    std::move(charge.encoded.postings)});
  }
  change.Insert("charges", kChargeColumns, std::move(rows));
}

Charge ChargeOf(const ChargeRequest& request, const ChargeIdentity& identity, int64_t created_at_us) {
  return {.id = identity.id,
          .dataset_id = request.dataset_id,
          .dataset_version = request.dataset_version,
          .principal = request.principal,
          .request_id = request.request_id,
          .fingerprint = request.fingerprint,
          .kind = request.kind,
          .event = request.event,
          .label = request.label,
          .state = identity.deadline_us > 0 ? ChargeState::kReserved : ChargeState::kStarted,
          .reason = {},
          .postings = Ascending(request.postings),
          .release_id = {},
          .created_at_us = created_at_us,
          .deadline_us = identity.deadline_us};
}

absl::Status EndCharge(Change& change, const Charge& charge, ChargeState state, std::string_view reason) {
  return change.transaction()
      .Execute(
          "UPDATE charges SET state = $2, reason = $3, sealed_key = NULL, ended_at_us = $4 WHERE id = $1",
          {charge.id, std::string(StateName(state)), std::string(reason), change.now_us()})
      .status();
}

}  // namespace curator::ledger::sql
