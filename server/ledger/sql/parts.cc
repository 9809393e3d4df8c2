#include "ledger/sql/parts.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/accounts.h"
#include "ledger/sql/content.h"
#include "ledger/sql/dataset_requests.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {
namespace {

std::string FingerprintOf(const NewPart& part) {
  CanonicalWriter writer("curator.ledger.add_part", 1);
  writer.Text(part.dataset_id);
  writer.Text(ledger::Bytes(PartAdded{0, part.part.bins, {0, part.part.account}}));
  return Sha256(std::move(writer).Take());
}

absl::Status CheckTakesParts(const LockedDataset& dataset) {
  if (!dataset.is_partitioned) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " has no parts"));
  }
  if (dataset.state == DatasetState::kArchived) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " is archived"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Part> FindPart(const std::vector<Part>& parts, std::string_view name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  if (found == parts.end()) {
    return absl::NotFoundError(absl::StrCat("the dataset has no part named ", std::string(name)));
  }
  return *found;
}

// The dataset gets its next version: everything sealed before, and this part.
absl::Status Seal(Change& change, const LockedDataset& dataset, const Part& part,
                  std::string_view content_hash, std::string_view actor) {
  const int64_t version = dataset.version + 1;
  Transaction& transaction = change.transaction();
  RETURN_IF_ERROR(
      transaction
          .Execute("UPDATE dataset_parts SET sealed_version = $3, content_hash = $4, sealed_at_us = $5 "
                   "WHERE dataset_id = $1 AND number = $2",
                   {dataset.id, part.number, version, Bytes{std::string(content_hash)}, change.now_us()})
          .status());
  RETURN_IF_ERROR(
      transaction.Execute("UPDATE datasets SET state = 'SEALED' WHERE id = $1", {dataset.id}).status());
  change.Append({.dataset_id = dataset.id,
                 .kind = kPartSealed,
                 .charge_id = {},
                 .payload = ledger::Bytes(
                     PartSealed{part.number, version, ContentCommitment(dataset.id, content_hash)}),
                 .actor = std::string(actor),
                 .prev_hash = {},
                 .hash = {}});
  return NoteEqualContent(change, dataset, content_hash, actor);
}

}  // namespace

absl::Status InsertPart(Change& change, const PartSpec& part, const std::string& dataset_id,
                        const std::string& lineage_id, const std::string& actor) {
  Transaction& transaction = change.transaction();
  const std::string& name = part.account.scope_key;
  ASSIGN_OR_RETURN(const std::vector<Part> others, ReadParts(transaction, dataset_id));
  RETURN_IF_ERROR(CheckPartCount(others.size() + 1));
  for (const Part& other : others) {
    if (other.name == name) {
      return absl::AlreadyExistsError(absl::StrCat("the dataset has a part named ", name, " already"));
    }
    for (const int64_t bin : part.bins) {
      if (!std::binary_search(other.bins.begin(), other.bins.end(), bin)) continue;
      return InvalidField("bins", absl::StrCat("holds bin ", bin, ", which lies in part ", other.name));
    }
  }
  const int64_t number = static_cast<int64_t>(others.size()) + 1;
  ASSIGN_OR_RETURN(OpenedAccount account, OpenAccount(transaction, part.account, dataset_id, lineage_id));
  RETURN_IF_ERROR(transaction
                      .Execute("INSERT INTO dataset_parts (dataset_id, number, name, account_id) "
                               "VALUES ($1, $2, $3, $4)",
                               {dataset_id, number, name, account.id})
                      .status());
  static const std::vector<Column> kBinColumns = {{"dataset_id", ColumnType::kText},
                                                  {"bin", ColumnType::kInteger},
                                                  {"part_number", ColumnType::kInteger}};
  std::vector<Parameters> bins;
  for (const int64_t bin : part.bins) bins.push_back({dataset_id, bin, number});
  RETURN_IF_ERROR(transaction.InsertRows("part_bins", kBinColumns, bins));
  change.Append({.dataset_id = dataset_id,
                 .kind = kPartAdded,
                 .charge_id = {},
                 .payload = ledger::Bytes(PartAdded{number, part.bins, std::move(account)}),
                 .actor = actor,
                 .prev_hash = {},
                 .hash = {}});
  return absl::OkStatus();
}

absl::StatusOr<Dataset> SqlLedger::AddPart(const NewPart& part) {
  RETURN_IF_ERROR(CheckNewPart(part));
  const RequestKey key{part.actor, part.request_id, FingerprintOf(part)};
  Dataset grown;
  RETURN_IF_ERROR(Write([&](Change& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(change.LockChains({part.dataset_id}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(part.dataset_id));
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    if (known.empty()) {
      RETURN_IF_ERROR(CheckTakesParts(dataset));
      RETURN_IF_ERROR(InsertPart(change, part.part, dataset.id, dataset.lineage_id, part.actor));
      RETURN_IF_ERROR(RecordRequest(transaction, key, dataset.id));
    }
    ASSIGN_OR_RETURN(grown, ReadDataset(transaction, dataset.id));
    return absl::OkStatus();
  }));
  return grown;
}

absl::StatusOr<Dataset> SqlLedger::SealPart(std::string_view dataset_id, std::string_view part,
                                            std::string_view content_hash, std::string_view actor) {
  RETURN_IF_ERROR(CheckText("actor", actor));
  if (content_hash.empty()) return InvalidField("content_hash", "is empty");
  Dataset grown;
  RETURN_IF_ERROR(Write([&](Change& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({std::string(dataset_id)}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(dataset_id));
    ASSIGN_OR_RETURN(grown, ReadDataset(change.transaction(), dataset_id));
    ASSIGN_OR_RETURN(const Part found, FindPart(grown.parts, part));
    const bool is_replay = found.sealed_version > 0 && found.content_hash == content_hash;
    if (is_replay) return absl::OkStatus();
    RETURN_IF_ERROR(CheckTakesParts(dataset));
    if (found.sealed_version > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("part ", found.name, " is sealed: a part is sealed once. Add a part for new records"));
    }
    RETURN_IF_ERROR(Seal(change, dataset, found, content_hash, actor));
    ASSIGN_OR_RETURN(grown, ReadDataset(change.transaction(), dataset_id));
    return absl::OkStatus();
  }));
  return grown;
}

}  // namespace curator::ledger::sql
