// The life of a dataset and of its parts: created, granted, sealed once, archived.
#include "ledger/sql/datasets.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/seen_files.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {

absl::StatusOr<std::string> FindByRequest(Transaction& transaction, const RequestKey& key) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT dataset_id, fingerprint FROM dataset_requests "
                                       "WHERE principal = $1 AND request_id = $2",
                                       {key.principal, key.request_id}));
  if (rows.empty()) return std::string();
  if (rows.front().Blob(1) != key.fingerprint) {
    return absl::AlreadyExistsError(
        absl::StrCat("request id ", key.request_id, " was used by another request of ", key.principal));
  }
  return rows.front().Text(0);
}

absl::Status RecordRequest(Transaction& transaction, const RequestKey& key, const std::string& dataset_id) {
  return transaction
      .Execute(
          "INSERT INTO dataset_requests (principal, request_id, fingerprint, dataset_id) "
          "VALUES ($1, $2, $3, $4)",
          {key.principal, key.request_id, Bytes{key.fingerprint}, dataset_id})
      .status();
}

std::string NameOfDeleted(std::string_view dataset_id) {
  return absl::StrCat("~", std::string(dataset_id));
}

void AppendNote(WriteSet& change, std::string_view dataset_id, const char* kind, std::string_view note,
                std::string_view actor) {
  change.Append({.dataset_id = std::string(dataset_id),
                 .kind = kind,
                 .payload = EncodeNote(note),
                 .actor = std::string(actor)});
}

namespace {

// The content of the datasets of one owner. It is compared by the caller, not here: no search by content may
// find, or take the time to find, what another principal owns.
constexpr char kSelectContentOfOwner[] =
    "SELECT d.id, v.content_hash, d.name FROM datasets d JOIN dataset_versions v ON v.dataset_id = d.id "
    "WHERE d.owner = $1 "
    "UNION ALL SELECT d.id, p.content_hash, d.name FROM datasets d JOIN dataset_parts p "
    "ON p.dataset_id = d.id WHERE d.owner = $1 AND p.content_hash IS NOT NULL ORDER BY 3";

// ---- Parts

std::string FingerprintOf(const NewPart& part) {
  CanonicalWriter writer("curator.ledger.add_part", 1);
  writer.Text(part.dataset_id);
  writer.Text(EncodePayload(PartAdded{0, part.part.bins, {0, part.part.account}}));
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

struct SealedRecords {
  std::string content_hash;
  DatasetFacts facts;  // that the seal adds
};

absl::Status SetSealed(Transaction& transaction, const std::string& dataset_id, const DatasetFacts& facts) {
  return transaction
      .Execute(
          "UPDATE datasets SET state = 'SEALED', "
          "domain_from_records = CASE WHEN CAST($2 AS BIGINT) = 1 THEN 1 ELSE domain_from_records END, "
          "rows_from_query = CASE WHEN CAST($3 AS BIGINT) = 1 THEN 1 ELSE rows_from_query END WHERE id = $1",
          {dataset_id, int64_t{facts.domain_from_records ? 1 : 0}, int64_t{facts.rows_from_query ? 1 : 0}})
      .status();
}

// Seals the part, which makes the dataset's next version: everything sealed before, and this part.
absl::Status WriteSeal(WriteSet& change, const LockedDataset& dataset, const Part& part,
                       const SealedRecords& sealed, std::string_view actor) {
  const int64_t version = dataset.version + 1;
  Transaction& transaction = change.transaction();
  RETURN_IF_ERROR(transaction
                      .Execute("UPDATE dataset_parts SET sealed_version = $3, content_hash = $4, "
                               "sealed_at_us = $5, facts = $6 "
                               "WHERE dataset_id = $1 AND number = $2",
                               {dataset.id, part.number, version, Bytes{sealed.content_hash}, change.now_us(),
                                NumberOf(sealed.facts)})
                      .status());
  RETURN_IF_ERROR(SetSealed(transaction, dataset.id, sealed.facts));
  change.Append({.dataset_id = dataset.id,
                 .kind = kPartSealed,
                 .payload = EncodePayload(PartSealed{
                     part.number, version, ContentCommitment(dataset.id, sealed.content_hash), sealed.facts}),
                 .actor = std::string(actor)});
  return absl::OkStatus();
}

// Writes the part with its bins and its account, which gets `account_id`, and appends its entry. The chain of
// the dataset is locked.
// Errors: ALREADY_EXISTS when the name is taken, INVALID_ARGUMENT when a bin lies in another part.
absl::Status InsertPart(WriteSet& change, int64_t account_id, const PartSpec& part,
                        const std::string& dataset_id, const std::string& lineage_id,
                        const std::string& actor) {
  Transaction& transaction = change.transaction();
  const std::string& name = part.account.scope_key;
  ASSIGN_OR_RETURN(const std::vector<Part> others, ReadParts(transaction, dataset_id));
  RETURN_IF_ERROR(CheckPartCount(others.size() + 1));
  for (const Part& other : others) {
    if (other.name == name) {
      return absl::AlreadyExistsError(absl::StrCat("the dataset already has a part named ", name));
    }
    for (const int64_t bin : part.bins) {
      if (!std::binary_search(other.bins.begin(), other.bins.end(), bin)) continue;
      return InvalidField("bins", absl::StrCat("holds bin ", bin, ", which belongs to part ", other.name));
    }
  }
  const int64_t number = static_cast<int64_t>(others.size()) + 1;
  ASSIGN_OR_RETURN(OpenedAccount account,
                   OpenAccount(change, account_id, part.account, dataset_id, lineage_id));
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
                 .payload = EncodePayload(PartAdded{number, part.bins, std::move(account)}),
                 .actor = actor});
  return absl::OkStatus();
}

// ---- Datasets

// Distinguishes a retry from another request under the same id.
std::string FingerprintOf(const DatasetSpec& spec) {
  CanonicalWriter writer("curator.ledger.create_dataset", 1);
  DatasetCreated created{.name = spec.name,
                         .owner = spec.owner.name(),
                         .successor_of = spec.successor_of,
                         .schema_hash = spec.schema_hash,
                         .neighbour_relation = spec.neighbour_relation,
                         .privacy_unit = spec.privacy_unit,
                         .max_records_per_unit = spec.max_records_per_unit,
                         .is_public = spec.is_public ? 1 : 0,
                         .partition_attribute = spec.partition_attribute,
                         .facts = spec.facts};
  for (const AccountSpec& account : spec.accounts) created.accounts.push_back({0, account});
  writer.Text(EncodePayload(created));
  writer.Text(spec.schema);
  for (const PartSpec& part : spec.parts) {
    writer.Text(EncodePayload(PartAdded{0, part.bins, {0, part.account}}));
  }
  for (const OwnerLook& look : spec.looks) writer.Text(EncodePayload(look));
  return Sha256(std::move(writer).Take());
}

// What a new dataset takes over from its predecessor.
struct TakenOver {
  std::string lineage_id;            // without a predecessor a new one, named like the dataset itself
  std::string from = {};             // the predecessor's name
  std::string refusal_rules = {};    // so that nothing is let pass by a successor that was refused before
  bool domain_from_records = false;  // it is about the same people
};

absl::StatusOr<TakenOver> TakeOverFor(WriteSet& change, const DatasetSpec& spec,
                                      const std::string& dataset_id) {
  if (spec.successor_of.empty()) return TakenOver{.lineage_id = dataset_id};
  // Locked, so that it is not deleted meanwhile.
  RETURN_IF_ERROR(change.LockChains({spec.successor_of}));
  const bool is_there = change.FindDataset(spec.successor_of).ok();
  absl::StatusOr<Dataset> predecessor = ReadDataset(change.transaction(), spec.successor_of);
  if (!is_there || absl::IsNotFound(predecessor.status()))
    return InvalidField("successor_of", "there is no such dataset");
  RETURN_IF_ERROR(predecessor.status());
  RETURN_IF_ERROR(change.CheckNotDamaged({.dataset_id = predecessor->id,
                                          .dataset_name = predecessor->name,
                                          .lineage_id = predecessor->lineage_id}));
  if (!predecessor->partition_attribute.empty()) {
    return InvalidField("successor_of", "is partitioned: new records go into a new part of it");
  }
  const bool has_same_privacy_unit = predecessor->neighbour_relation == spec.neighbour_relation &&
                                     predecessor->privacy_unit == spec.privacy_unit &&
                                     predecessor->max_records_per_unit == spec.max_records_per_unit &&
                                     predecessor->is_public == spec.is_public;
  if (!has_same_privacy_unit) {
    return InvalidField(
        "successor_of",
        "a successor shares its predecessor's accounts, so its neighbour relation, privacy unit, records per "
        "unit and publicity must be the same");
  }
  return TakenOver{.lineage_id = std::move(predecessor->lineage_id),
                   .from = std::move(predecessor->name),
                   .refusal_rules = std::move(predecessor->refusal_rules),
                   .domain_from_records = predecessor->facts.domain_from_records};
}

absl::StatusOr<bool> HasDatasetNamed(Transaction& transaction, const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<Row> same_name,
                   transaction.Execute("SELECT 1 FROM datasets WHERE name = $1", {name}));
  return !same_name.empty();
}

absl::Status AppendLooks(WriteSet& change, const DatasetSpec& spec, const std::string& dataset_id) {
  std::vector<SeenFile> seen;
  for (const OwnerLook& look : spec.looks) {
    change.Append({.dataset_id = dataset_id,
                   .kind = kOwnerLooked,
                   .payload = EncodePayload(look),
                   .actor = spec.owner.name()});
    seen.push_back({.file_hash = look.file_hash, .values_hash = {}});
  }
  return InsertSeen(change.transaction(), spec.owner.name(), seen);
}

absl::Status InsertDataset(WriteSet& change, const DatasetSpec& spec, const std::string& dataset_id,
                           const std::string& fingerprint, const NewAccountId& new_account_id) {
  Transaction& transaction = change.transaction();
  ASSIGN_OR_RETURN(const TakenOver taken, TakeOverFor(change, spec, dataset_id));
  const std::string& lineage_id = taken.lineage_id;
  const DatasetFacts facts = spec.facts | DatasetFacts{.domain_from_records = taken.domain_from_records};
  // The dataset's time is that of its chain, which refers to this row: the time is set afterwards.
  RETURN_IF_ERROR(
      transaction
          .Execute(
              "INSERT INTO datasets (id, name, owner, lineage_id, successor_of, state, schema_bytes, "
              "schema_hash, "
              "neighbour_relation, privacy_unit, max_records_per_unit, is_public, partition_attribute, "
              "refusal_rules, created_at_us, awaits_publication, domain_from_records, rows_from_query) "
              "VALUES "
              "($1, $2, $3, $4, $5, 'CREATED', $6, $7, $8, $9, $10, $11, $12, $13, 0, $11, $14, $15)",
              {dataset_id, spec.name, spec.owner.name(), lineage_id, spec.successor_of, Bytes{spec.schema},
               Bytes{spec.schema_hash}, spec.neighbour_relation, spec.privacy_unit, spec.max_records_per_unit,
               int64_t{spec.is_public ? 1 : 0}, spec.partition_attribute, Bytes{taken.refusal_rules},
               int64_t{facts.domain_from_records ? 1 : 0}, int64_t{facts.rows_from_query ? 1 : 0}})
          .status());
  RETURN_IF_ERROR(change.StartChain(dataset_id));
  RETURN_IF_ERROR(
      transaction
          .Execute("UPDATE datasets SET created_at_us = $2 WHERE id = $1", {dataset_id, change.now_us()})
          .status());
  RETURN_IF_ERROR(RecordRequest(transaction, {spec.owner.name(), spec.request_id, fingerprint}, dataset_id));
  DatasetCreated created{.name = spec.name,
                         .owner = spec.owner.name(),
                         .lineage_id = lineage_id,
                         .successor_of = spec.successor_of,
                         .schema_hash = spec.schema_hash,
                         .neighbour_relation = spec.neighbour_relation,
                         .privacy_unit = spec.privacy_unit,
                         .max_records_per_unit = spec.max_records_per_unit,
                         .is_public = spec.is_public ? kAwaitsPublication : 0,
                         .partition_attribute = spec.partition_attribute,
                         .facts = facts};
  for (const AccountSpec& account : spec.accounts) {
    ASSIGN_OR_RETURN(OpenedAccount opened,
                     OpenAccount(change, new_account_id(), account, dataset_id, lineage_id));
    created.accounts.push_back(std::move(opened));
  }
  change.Append({.dataset_id = dataset_id,
                 .kind = kDatasetCreated,
                 .payload = EncodePayload(created),
                 .actor = spec.owner.name()});
  RETURN_IF_ERROR(AppendLooks(change, spec, dataset_id));
  if (!taken.refusal_rules.empty()) {
    AppendRules(change, dataset_id, {taken.refusal_rules, absl::StrCat("taken over from ", taken.from)},
                spec.owner.name());
  }
  for (size_t i = 0; i < spec.parts.size(); ++i) {
    const absl::Status inserted =
        InsertPart(change, new_account_id(), spec.parts[i], dataset_id, lineage_id, spec.owner.name());
    if (!inserted.ok()) return WithinField(absl::StrCat("parts[", i, "]"), inserted);
  }
  return absl::OkStatus();
}

absl::Status CheckMayPublish(const Dataset& dataset, std::string_view actor, Approval approval) {
  const auto refused = [&](std::string_view why) {
    return absl::FailedPreconditionError(absl::StrCat("dataset ", dataset.name, " ", std::string(why)));
  };
  if (!dataset.is_public) return refused("is private: only what was created as public is published");
  if (dataset.state == DatasetState::kArchived) return refused("is archived");
  if (dataset.state != DatasetState::kSealed)
    return refused("is not sealed yet: its content can still change");
  if (approval == Approval::kByAnother && dataset.owner == actor)
    return refused("is yours: another person has to publish it");
  return absl::OkStatus();
}

absl::Status WriteSeal(WriteSet& change, const LockedDataset& dataset, const SealedRecords& sealed,
                       std::string_view actor) {
  constexpr int64_t kFirstVersion = 1;
  RETURN_IF_ERROR(
      change.transaction()
          .Execute("INSERT INTO dataset_versions (dataset_id, version, content_hash, sealed_at_us) "
                   "VALUES ($1, $2, $3, $4)",
                   {dataset.id, kFirstVersion, Bytes{sealed.content_hash}, change.now_us()})
          .status());
  RETURN_IF_ERROR(SetSealed(change.transaction(), dataset.id, sealed.facts));
  change.Append({.dataset_id = dataset.id,
                 .kind = kSealed,
                 .payload = EncodePayload(DatasetSealed{
                     kFirstVersion, ContentCommitment(dataset.id, sealed.content_hash), sealed.facts}),
                 .actor = std::string(actor)});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Dataset> SqlLedger::CreateDataset(const DatasetSpec& spec) {
  RETURN_IF_ERROR(CheckDatasetSpec(spec));
  RETURN_IF_ERROR(CheckNoDatasetIsLost());
  const std::string fingerprint = FingerprintOf(spec);
  const std::string new_id = NewUuid();
  Dataset dataset;
  RETURN_IF_ERROR(Write(spec.successor_of, [&](WriteSet& change) -> absl::Status {
    const RequestKey key{spec.owner.name(), spec.request_id, fingerprint};
    ASSIGN_OR_RETURN(std::string dataset_id, FindByRequest(change.transaction(), key));
    if (dataset_id.empty()) {
      ASSIGN_OR_RETURN(const bool is_taken, HasDatasetNamed(change.transaction(), spec.name));
      if (is_taken) {
        // The same request may have created it on another server since the first look-up.
        ASSIGN_OR_RETURN(dataset_id, FindByRequest(change.transaction(), key));
        if (dataset_id.empty()) {
          return absl::AlreadyExistsError(absl::StrCat("there is already a dataset named ", spec.name));
        }
      } else {
        dataset_id = new_id;
        RETURN_IF_ERROR(
            InsertDataset(change, spec, dataset_id, fingerprint, [this] { return DrawAccountId(); }));
      }
    }
    ASSIGN_OR_RETURN(dataset, ReadDataset(change.transaction(), dataset_id));
    if (dataset.state == DatasetState::kDeleted) {
      return absl::FailedPreconditionError(
          "the dataset that this request created was deleted: create another one under a new request id");
    }
    // Requests are not in the entries, so no pass compares them.
    if (dataset.owner == spec.owner.name() && dataset.name == spec.name) return absl::OkStatus();
    return absl::DataLossError("what is stored about this request names another dataset");
  }));
  return dataset;
}

absl::StatusOr<std::vector<Dataset>> SqlLedger::FindContent(const Principal& owner,
                                                            const std::vector<std::string>& content_hashes) {
  std::vector<Dataset> found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    found.clear();
    ASSIGN_OR_RETURN(const std::vector<Row> sealed,
                     transaction.Execute(kSelectContentOfOwner, {owner.name()}));
    std::string last;
    for (const Row& row : sealed) {
      const std::string id = row.Text(0);
      if (id == last || std::ranges::find(content_hashes, row.Blob(1)) == content_hashes.end()) continue;
      ASSIGN_OR_RETURN(Dataset dataset, ReadDataset(transaction, id));
      found.push_back(std::move(dataset));
      last = id;
    }
    return absl::OkStatus();
  }));
  return found;
}

absl::StatusOr<Dataset> SqlLedger::SealDataset(std::string_view dataset_id, std::string_view content_hash,
                                               const Principal& actor, const DatasetFacts& facts) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  if (content_hash.empty()) return InvalidField("content_hash", "is empty");
  Dataset sealed;
  RETURN_IF_ERROR(Write(dataset_id, [&](WriteSet& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({std::string(dataset_id)}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(dataset_id));
    ASSIGN_OR_RETURN(sealed, ReadDataset(change.transaction(), dataset_id));
    if (dataset.is_partitioned) {
      return absl::FailedPreconditionError(
          absl::StrCat("dataset ", dataset.name, " is partitioned: its parts are sealed, one by one"));
    }
    const bool is_replay = sealed.version > 0 && sealed.content_hash == content_hash;
    if (is_replay) return absl::OkStatus();
    if (dataset.state != DatasetState::kCreated) {
      return absl::FailedPreconditionError(
          absl::StrCat("dataset ", dataset.name, " is ", std::string(DatasetStateName(dataset.state)),
                       ": a dataset is sealed once. Create a successor for new records"));
    }
    RETURN_IF_ERROR(WriteSeal(change, dataset, {std::string(content_hash), facts}, actor.name()));
    ASSIGN_OR_RETURN(sealed, ReadDataset(change.transaction(), dataset_id));
    return absl::OkStatus();
  }));
  return sealed;
}

absl::Status SqlLedger::PublishDataset(std::string_view dataset_id, const Principal& actor,
                                       Approval approval) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  return Write(dataset_id, [&](WriteSet& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({std::string(dataset_id)}));
    RETURN_IF_ERROR(change.FindDataset(dataset_id).status());
    ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(change.transaction(), dataset_id));
    if (dataset.is_public && !dataset.awaits_publication) return absl::OkStatus();
    RETURN_IF_ERROR(CheckMayPublish(dataset, actor.name(), approval));
    RETURN_IF_ERROR(change.transaction()
                        .Execute("UPDATE datasets SET awaits_publication = 0 WHERE id = $1", {dataset.id})
                        .status());
    change.Append({.dataset_id = dataset.id,
                   .kind = kPublished,
                   .payload = EncodePayload(DatasetPublished{approval}),
                   .actor = actor.name()});
    return absl::OkStatus();
  });
}

absl::Status SqlLedger::ArchiveDataset(std::string_view dataset_id, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  return Write(dataset_id, [&](WriteSet& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({std::string(dataset_id)}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(dataset_id));
    if (dataset.state == DatasetState::kArchived) return absl::OkStatus();
    RETURN_IF_ERROR(change.transaction()
                        .Execute("UPDATE datasets SET state = 'ARCHIVED' WHERE id = $1", {dataset.id})
                        .status());
    AppendNote(change, dataset_id, kArchived, "", actor.name());
    return absl::OkStatus();
  });
}

absl::Status SqlLedger::RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                          const Principal& actor) {
  RETURN_IF_ERROR(CheckText("what", what));
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  return Write(dataset_id, [&](WriteSet& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({std::string(dataset_id)}));
    RETURN_IF_ERROR(change.dataset(dataset_id).status());
    AppendNote(change, dataset_id, kOwnerAction, what, actor.name());
    return absl::OkStatus();
  });
}

absl::Status SqlLedger::SetGrant(std::string_view dataset_id, const Grant& grant, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("grantee", grant.grantee));
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  if (grant.roles < 0 || grant.roles > kAllGrantedRoles) return InvalidField("roles", "are not known");
  if (grant.expires_at_us < 0) return InvalidField("expires_at_us", "must not be negative");
  return Write(dataset_id, [&](WriteSet& change) -> absl::Status {
    RETURN_IF_ERROR(change.LockChains({std::string(dataset_id)}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(dataset_id));
    ASSIGN_OR_RETURN(
        const std::vector<Row> changed,
        change.transaction().Execute(
            "INSERT INTO grants (dataset_id, grantee, granted_by, granted_at_us, dataset_name, roles, "
            "expires_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (dataset_id, grantee) DO UPDATE "
            "SET granted_by = excluded.granted_by, granted_at_us = excluded.granted_at_us, roles = "
            "excluded.roles, expires_at_us = excluded.expires_at_us WHERE grants.roles <> excluded.roles OR "
            "grants.expires_at_us <> excluded.expires_at_us RETURNING grantee",
            {dataset.id, grant.grantee, actor.name(), change.now_us(), dataset.name, grant.roles,
             grant.expires_at_us}));
    if (changed.empty()) return absl::OkStatus();
    const bool is_revoked = (grant.roles & ~kGrantedFormer) == 0;
    change.Append({.dataset_id = std::string(dataset_id),
                   .kind = is_revoked ? kRevoked : kGranted,
                   .payload = EncodePayload(grant),
                   .actor = actor.name()});
    return absl::OkStatus();
  });
}

absl::StatusOr<bool> SqlLedger::HasGrantInLineage(std::string_view dataset_id, std::string_view name,
                                                  int64_t roles) {
  bool has_grant = false;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string lineage, ReadLineageId(transaction, dataset_id));
    ASSIGN_OR_RETURN(const std::vector<Row> rows,
                     transaction.Execute("SELECT g.dataset_id FROM grants g JOIN datasets d ON d.id = "
                                         "g.dataset_id WHERE g.grantee = $1 AND d.lineage_id = $2 AND "
                                         "(g.roles & $3) <> 0 LIMIT 1",
                                         {std::string(name), lineage, roles}));
    has_grant = !rows.empty();
    return absl::OkStatus();
  }));
  return has_grant;
}

absl::StatusOr<Dataset> SqlLedger::AddPart(const NewPart& part) {
  RETURN_IF_ERROR(CheckNewPart(part));
  RETURN_IF_ERROR(CheckNoDatasetIsLost());
  const RequestKey key{part.actor.name(), part.request_id, FingerprintOf(part)};
  Dataset grown;
  RETURN_IF_ERROR(Write(part.dataset_id, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    RETURN_IF_ERROR(change.LockChains({part.dataset_id}));
    ASSIGN_OR_RETURN(const LockedDataset dataset, change.dataset(part.dataset_id));
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    if (known.empty()) {
      RETURN_IF_ERROR(CheckTakesParts(dataset));
      RETURN_IF_ERROR(
          InsertPart(change, DrawAccountId(), part.part, dataset.id, dataset.lineage_id, part.actor.name()));
      RETURN_IF_ERROR(RecordRequest(transaction, key, dataset.id));
    }
    ASSIGN_OR_RETURN(grown, ReadDataset(transaction, dataset.id));
    return absl::OkStatus();
  }));
  return grown;
}

absl::StatusOr<Dataset> SqlLedger::SealPart(std::string_view dataset_id, std::string_view part,
                                            std::string_view content_hash, const Principal& actor,
                                            const DatasetFacts& facts) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  if (content_hash.empty()) return InvalidField("content_hash", "is empty");
  Dataset grown;
  RETURN_IF_ERROR(Write(dataset_id, [&](WriteSet& change) -> absl::Status {
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
    RETURN_IF_ERROR(WriteSeal(change, dataset, found, {std::string(content_hash), facts}, actor.name()));
    ASSIGN_OR_RETURN(grown, ReadDataset(change.transaction(), dataset_id));
    return absl::OkStatus();
  }));
  return grown;
}

}  // namespace curator::ledger::sql
