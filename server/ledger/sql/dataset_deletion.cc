// Changes that take something away before it was charged for: imports that are undone, deleted datasets. What
// the history says about them stays.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/rows.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

std::string FingerprintOf(const DatasetDeletion& deletion) {
  CanonicalWriter writer("curator.ledger.delete_dataset", 1);
  writer.Text(deletion.name);
  return Sha256(std::move(writer).Take());
}

std::string FingerprintOf(const UndoneImport& undone) {
  CanonicalWriter writer("curator.ledger.undo_import", 1);
  writer.Text(undone.dataset_id);
  writer.Text(undone.part);
  writer.Text(undone.import_request_id);
  return Sha256(std::move(writer).Take());
}

absl::StatusOr<std::vector<ImportUndone>> ReadUndone(Transaction& transaction, std::string_view dataset_id) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      // The kind is a literal: the index is of rows of this one.
      transaction.Execute(
          "SELECT payload FROM entries WHERE dataset_id = $1 AND kind = 'IMPORT_UNDONE' ORDER BY seq",
          {std::string(dataset_id)}));
  std::vector<ImportUndone> undone;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(ImportUndone each, ParseImportUndone(row.Blob(0)));
    undone.push_back(std::move(each));
  }
  return undone;
}

// FAILED_PRECONDITION once what the import belongs to is sealed.
absl::Status CheckMayUndo(const Dataset& dataset, const std::string& part) {
  const auto refused = [&](std::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset ", dataset.name, " ", std::string(why), ": its imports stay"));
  };
  if (dataset.state == DatasetState::kArchived) return refused("is archived");
  if (dataset.partition_attribute.empty() != part.empty()) {
    return InvalidField("part",
                        part.empty() ? "is empty: the dataset has parts" : "the dataset has no parts");
  }
  if (part.empty()) return dataset.version > 0 ? refused("is sealed") : absl::OkStatus();
  const auto found = std::ranges::find(dataset.parts, part, &Part::name);
  if (found == dataset.parts.end()) return absl::NotFoundError("there is no such part");
  return found->sealed_version > 0 ? refused(absl::StrCat("has sealed part ", part)) : absl::OkStatus();
}

struct Obstacle {
  std::string_view select;  // rows of the dataset $1 in the lineage $2 that keep it
  std::string_view what;
};

// The entries are looked at, too: a repair may stand for charges that the tables have lost.
constexpr Obstacle kObstacles[] = {
    {"SELECT 1 FROM charges WHERE dataset_id = $1 AND $2 <> '' LIMIT 1",
     "has charges: what was asked about it stays"},
    {"SELECT 1 FROM entries WHERE dataset_id = $1 AND $2 <> '' AND kind IN ('CHARGED', 'RESERVED') LIMIT 1",
     "has charges: what was asked about it stays"},
    {"SELECT 1 FROM entries WHERE dataset_id = $1 AND $2 <> '' AND kind = 'OWNER_ACTION' LIMIT 1",
     "was looked at by its owner: that stays"},
    {"SELECT 1 FROM entries WHERE dataset_id = $1 AND $2 <> '' AND kind = 'REPAIRED' LIMIT 1",
     "was repaired: charges of it may be lost"},
    {"SELECT 1 FROM datasets WHERE lineage_id = $2 AND id <> $1 LIMIT 1",
     "shares its accounts with a successor or a predecessor"},
    {"SELECT 1 FROM accounts a JOIN account_counters c ON c.account_id = a.id WHERE a.lineage_id = $2 AND $1 "
     "<> '' AND (c.spent > 0 OR c.held > 0) LIMIT 1",
     "has an account that was charged"},
};

absl::Status CheckMayDelete(Transaction& transaction, const LockedDataset& dataset) {
  for (const Obstacle& obstacle : kObstacles) {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute(obstacle.select, {dataset.id, dataset.lineage_id}));
    if (rows.empty()) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "dataset ", dataset.name, " ", std::string(obstacle.what), ". Archive it instead of deleting it"));
  }
  return absl::OkStatus();
}

absl::Status WriteDeletion(WriteSet& change, const LockedDataset& dataset, const std::string& actor) {
  const std::string no_name = NameOfDeleted(dataset.id);
  Transaction& transaction = change.transaction();
  RETURN_IF_ERROR(transaction
                      .Execute("UPDATE datasets SET name = $2, deleted_name = $3 WHERE id = $1",
                               {dataset.id, no_name, dataset.name})
                      .status());
  RETURN_IF_ERROR(
      transaction.Execute("UPDATE grants SET dataset_name = $2 WHERE dataset_id = $1", {dataset.id, no_name})
          .status());
  AppendNote(change, dataset.id, kDatasetDeleted, "", actor);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> SqlLedger::DeleteDataset(const DatasetDeletion& deletion) {
  RETURN_IF_ERROR(CheckText("request_id", deletion.request_id));
  RETURN_IF_ERROR(CheckText("actor", deletion.actor.name()));
  const RequestKey key{deletion.actor.name(), deletion.request_id, FingerprintOf(deletion)};
  std::string deleted;
  RETURN_IF_ERROR(Write(deletion.dataset_id, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    ASSIGN_OR_RETURN(deleted, FindByRequest(transaction, key));
    // Also after an earlier request: the anchor must cover its entry.
    if (!deleted.empty()) return change.LockChains({deleted});
    const auto missing = absl::NotFoundError(absl::StrCat("there is no dataset named ", deletion.name));
    RETURN_IF_ERROR(change.LockChains({deletion.dataset_id}));
    // The same request may have deleted it since the first look-up.
    ASSIGN_OR_RETURN(deleted, FindByRequest(transaction, key));
    if (!deleted.empty()) return change.LockChains({deleted});
    const absl::StatusOr<LockedDataset> dataset = change.dataset(deletion.dataset_id);
    if (!dataset.ok() || dataset->name != deletion.name) return missing;
    RETURN_IF_ERROR(CheckMayDelete(transaction, *dataset));
    deleted = dataset->id;
    if (deletion.only_checked) return absl::OkStatus();
    RETURN_IF_ERROR(WriteDeletion(change, *dataset, deletion.actor.name()));
    return RecordRequest(transaction, key, dataset->id);
  }));
  return deleted;
}

absl::StatusOr<std::vector<std::string>> SqlLedger::ListDeletedDatasets() {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT id FROM datasets WHERE deleted_name <> '' ORDER BY id", {}));
    ids.clear();
    for (const Row& row : rows) ids.push_back(row.Text(0));
    return absl::OkStatus();
  }));
  return ids;
}

absl::Status SqlLedger::RecordImportUndone(const UndoneImport& undone) {
  RETURN_IF_ERROR(CheckText("request_id", undone.request_id));
  RETURN_IF_ERROR(CheckText("import_request_id", undone.import_request_id));
  RETURN_IF_ERROR(CheckOptionalText("part", undone.part));
  RETURN_IF_ERROR(CheckText("actor", undone.actor.name()));
  RETURN_IF_ERROR(CheckFileHash(undone.file_hash));
  const RequestKey key{undone.actor.name(), undone.request_id, FingerprintOf(undone)};
  return Write(undone.dataset_id, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(change.LockChains({undone.dataset_id}));
    RETURN_IF_ERROR(change.FindDataset(undone.dataset_id).status());
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    if (!known.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<ImportUndone> earlier, ReadUndone(transaction, undone.dataset_id));
    const bool is_undone = std::ranges::any_of(earlier, [&](const ImportUndone& each) {
      return each.part == undone.part && each.import_request_id == undone.import_request_id;
    });
    if (!is_undone) {
      ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(transaction, undone.dataset_id));
      RETURN_IF_ERROR(CheckMayUndo(dataset, undone.part));
      change.Append(
          {.dataset_id = undone.dataset_id,
           .kind = kImportUndone,
           .payload = EncodePayload(ImportUndone{undone.part, undone.import_request_id, undone.file_hash}),
           .actor = undone.actor.name()});
    }
    return RecordRequest(transaction, key, undone.dataset_id);
  });
}

absl::StatusOr<std::vector<std::string>> SqlLedger::UndoneImports(std::string_view dataset_id,
                                                                  std::string_view part) {
  std::vector<std::string> ids;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<ImportUndone> undone, ReadUndone(transaction, dataset_id));
    ids.clear();
    for (const ImportUndone& each : undone) {
      if (each.part == part) ids.push_back(each.import_request_id);
    }
    return absl::OkStatus();
  }));
  return ids;
}

}  // namespace curator::ledger::sql
