// The rules by which the owner of a dataset refuses requests. What they say is opaque here.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {

void AppendRules(WriteSet& change, std::string_view dataset_id, const RulesSet& rules,
                 std::string_view actor) {
  change.Append({.dataset_id = std::string(dataset_id),
                 .kind = kRulesSet,
                 .payload = EncodePayload(rules),
                 .actor = std::string(actor)});
}

namespace {

std::string FingerprintOf(const RefusalRulesChange& order) {
  CanonicalWriter writer("curator.ledger.set_refusal_rules", 1);
  writer.Text(order.dataset_id);
  writer.Text(order.asked);
  return Sha256(std::move(writer).Take());
}

absl::Status CheckEdited(const EditedRules& edited) {
  RETURN_IF_ERROR(CheckText("summary", edited.summary));
  if (edited.rules.size() <= kMostRefusalRulesBytes) return absl::OkStatus();
  return InvalidField("rules", absl::StrCat("take ", edited.rules.size(), " bytes; at most ",
                                            kMostRefusalRulesBytes, " are stored"));
}

absl::Status WriteRules(WriteSet& change, const EditedRules& edited, const std::string& dataset_id,
                        const std::string& actor) {
  RETURN_IF_ERROR(
      change.transaction()
          .Execute("UPDATE datasets SET refusal_rules = $2 WHERE id = $1", {dataset_id, Bytes{edited.rules}})
          .status());
  AppendRules(change, dataset_id, {edited.rules, edited.summary}, actor);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Dataset> SqlLedger::SetRefusalRules(const RefusalRulesChange& order) {
  RETURN_IF_ERROR(CheckText("actor", order.actor.name()));
  RETURN_IF_ERROR(CheckText("request_id", order.request_id));
  const RequestKey key{order.actor.name(), order.request_id, FingerprintOf(order)};
  Dataset ruled;
  RETURN_IF_ERROR(Write(order.dataset_id, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(change.LockChains({order.dataset_id}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(order.dataset_id));
    if (dataset.is_public) {
      return absl::FailedPreconditionError(
          absl::StrCat("dataset ", dataset.name, " is public: no request of it is charged or refused"));
    }
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    ASSIGN_OR_RETURN(ruled, ReadDataset(transaction, dataset.id));
    if (!known.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const EditedRules edited, order.edit(ruled.refusal_rules));
    RETURN_IF_ERROR(CheckEdited(edited));
    RETURN_IF_ERROR(RecordRequest(transaction, key, dataset.id));
    if (edited.rules == ruled.refusal_rules) return absl::OkStatus();
    RETURN_IF_ERROR(WriteRules(change, edited, dataset.id, order.actor.name()));
    ASSIGN_OR_RETURN(ruled, ReadDataset(transaction, dataset.id));
    return absl::OkStatus();
  }));
  return ruled;
}

}  // namespace curator::ledger::sql
