#include "records/dataset_store.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/data/sealed_table.h"
#include "records/combine.h"
#include "records/files.h"
#include "records/manifest.h"
#include "records/segment_import.h"
#include "records/snapshot.h"

namespace curator::records {
namespace {

constexpr char kContentTag[] = "curator.records.content";
constexpr int64_t kContentVersion = 2;

// Ids are used as file names, so their characters are restricted.
absl::Status CheckId(std::string_view field, std::string_view id) {
  const auto is_allowed = [](unsigned char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
  if (!id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), is_allowed))
    return absl::OkStatus();
  return InvalidField(field, "must be 1 to 128 of letters, digits, '-' and '_'");
}

// Removes incomplete files that a crash left, and segments that are not in the manifest. The caller holds the
// folder's lock.
absl::Status RemoveLeftovers(const std::filesystem::path& folder, const Manifest& manifest) {
  RETURN_IF_ERROR(RemoveAbandoned(folder));
  RETURN_IF_ERROR(RemoveAbandoned(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const bool is_sealed, IsSealed(folder));
  std::error_code error;
  for (std::filesystem::directory_iterator entry(SegmentsPath(folder), error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().has_extension()) continue;  // in the making
    if (!is_sealed && manifest.Find(entry->path().filename().string()) != nullptr) continue;
    std::error_code ignored;  // retried when the store is opened again
    std::filesystem::remove(entry->path(), ignored);
  }
  return absl::OkStatus();
}

// Removes those of the imports that are still there. The caller holds the folder's lock.
absl::Status TakeOut(const std::vector<std::string>& request_ids, const std::filesystem::path& folder,
                     Manifest& manifest) {
  const size_t before = manifest.imports.size();
  for (const std::string& request_id : request_ids) manifest.Undo(request_id);
  if (manifest.imports.size() == before) return absl::OkStatus();
  // They are undone as soon as the manifest is replaced.
  RETURN_IF_ERROR(WriteManifest(ManifestPath(folder), manifest));
  return RemoveLeftovers(folder, manifest);
}

}  // namespace

DatasetStore::DatasetStore(std::filesystem::path data_dir, KeyedHash keyed_hash)
    : data_dir_(std::move(data_dir)), keyed_hash_(std::move(keyed_hash)) {}

absl::StatusOr<std::unique_ptr<DatasetStore>> DatasetStore::Open(const std::filesystem::path& data_dir,
                                                                 KeyedHash keyed_hash) {
  absl::Status made = MakeFolder(data_dir);
  if (made.ok()) made = FolderLock::Take(data_dir).status();  // also shows that the folder can be written
  if (!made.ok()) return InvalidField("data_dir", std::string(made.message()));

  std::error_code error;
  for (std::filesystem::directory_iterator entry(data_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_directory(error)) continue;
    ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(entry->path()));
    const absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(entry->path()));
    // Errors in a damaged dataset surface on first access; the others are served.
    if (manifest.ok()) RETURN_IF_ERROR(RemoveLeftovers(entry->path(), *manifest));
  }
  return std::unique_ptr<DatasetStore>(new DatasetStore(data_dir, std::move(keyed_hash)));
}

absl::StatusOr<std::unique_ptr<RecordImport>> DatasetStore::BeginImport(const std::string& dataset_id,
                                                                        const dp::Schema& schema,
                                                                        const std::string& request_id,
                                                                        const ImportOptions& options) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  RETURN_IF_ERROR(CheckId("request_id", request_id));
  ImportPlace place{.folder = data_dir_ / dataset_id,
                    .unit_space = options.only ? options.only->dataset : dataset_id,
                    .request_id = request_id,
                    .keyed_hash = keyed_hash_};
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(place.folder)));
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(ManifestPath(place.folder)));
  if (manifest.Find(request_id) != nullptr)
    return RepeatedImport(std::move(place), std::move(manifest), options.source);
  RETURN_IF_ERROR(CheckNotUndone(manifest, request_id));
  ASSIGN_OR_RETURN(const bool is_sealed, IsSealed(place.folder));
  if (is_sealed) return absl::FailedPreconditionError("the dataset is sealed and accepts no more records");
  return NewImport(std::move(place), schema, options);
}

std::string DatasetStore::FileHash(std::string_view sha256) const {
  return KeyedFileHash(keyed_hash_, sha256);
}

absl::StatusOr<ImportState> DatasetStore::StateOf(const std::string& dataset_id,
                                                  const std::string& import_request_id) const {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  RETURN_IF_ERROR(CheckId("import_request_id", import_request_id));
  ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(ManifestPath(data_dir_ / dataset_id)));
  if (manifest.Find(import_request_id) != nullptr) return ImportState::kCounts;
  return manifest.FindUndone(import_request_id) == nullptr ? ImportState::kUnknown : ImportState::kUndone;
}

absl::StatusOr<std::vector<StoredImport>> DatasetStore::ListImports(const std::string& dataset_id) const {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(ManifestPath(data_dir_ / dataset_id)));
  std::vector<StoredImport> imports;
  imports.reserve(manifest.imports.size());
  for (const ImportEntry& entry : manifest.imports) {
    imports.push_back({.request_id = entry.request_id,
                       .time_us = entry.time_us,
                       .sequence = entry.sequence,
                       .rows_accepted = entry.report.rows_accepted,
                       .source = entry.source});
  }
  return imports;
}

absl::Status DatasetStore::UndoImport(const std::string& dataset_id, const std::string& import_request_id,
                                      const UndoRecord& record) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  RETURN_IF_ERROR(CheckId("import_request_id", import_request_id));
  const std::filesystem::path folder = data_dir_ / dataset_id;
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(ManifestPath(folder)));
  if (const UndoneImport* const before = manifest.FindUndone(import_request_id))
    return record(before->content_digest);
  const ImportEntry* const entry = manifest.Find(import_request_id);
  if (entry == nullptr)
    return absl::NotFoundError(absl::StrCat("there is no import ", import_request_id, " here"));
  ASSIGN_OR_RETURN(const bool is_sealed, IsSealed(folder));
  if (is_sealed) return absl::FailedPreconditionError("the dataset is sealed: its imports stay");
  RETURN_IF_ERROR(record(entry->content_digest));
  return TakeOut({import_request_id}, folder, manifest);
}

absl::Status DatasetStore::RemoveUndone(const std::string& dataset_id,
                                        const std::vector<std::string>& import_request_ids) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  const std::filesystem::path folder = data_dir_ / dataset_id;
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(ManifestPath(folder)));
  return TakeOut(import_request_ids, folder, manifest);
}

absl::StatusOr<SealedContent> DatasetStore::Seal(const std::string& dataset_id, const dp::Schema& schema,
                                                 std::string_view owner, const SealCheck& check) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  return SealInto(SnapshotPath(data_dir_ / dataset_id), schema, owner, nullptr, check);
}

absl::StatusOr<SealedContent> DatasetStore::SealPublic(const std::string& dataset_id,
                                                       const dp::Schema& schema, std::string_view owner,
                                                       const SealCheck& check) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  ASSIGN_OR_RETURN(const bool is_private, Exists(SnapshotPath(data_dir_ / dataset_id)));
  if (is_private) return absl::FailedPreconditionError("the dataset is sealed as a private one");
  return SealInto(PublicSnapshotPath(data_dir_ / dataset_id), schema, owner, nullptr, check);
}

absl::StatusOr<SealedContent> DatasetStore::SealPart(const std::string& part_id, const PartIds& whole,
                                                     const dp::Schema& schema, std::string_view owner,
                                                     const SealCheck& check) {
  RETURN_IF_ERROR(CheckId("part", part_id));
  RETURN_IF_ERROR(CheckId("dataset", whole.dataset_id));
  const std::filesystem::path snapshot = SnapshotPath(data_dir_ / part_id);
  if (!dp::IdColumnOf(schema.unit)) return SealInto(snapshot, schema, owner, nullptr, check);
  // Under the dataset's lock, so that each part sees the units of all parts sealed before it.
  const std::filesystem::path folder = data_dir_ / whole.dataset_id;
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(const ByUnit<uint32_t> elsewhere, CountElsewhere(part_id, whole));
  return SealInto(snapshot, schema, owner, &elsewhere, check);
}

absl::StatusOr<int64_t> DatasetStore::SealedRecords(const std::string& dataset_id) const {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  absl::StatusOr<SnapshotFacts> facts = ReadSnapshotFacts(SnapshotPath(data_dir_ / dataset_id));
  if (absl::IsNotFound(facts.status())) return absl::NotFoundError("the dataset has no sealed records");
  RETURN_IF_ERROR(facts.status());
  return facts->records;
}

absl::StatusOr<ByUnit<uint32_t>> DatasetStore::CountElsewhere(const std::string& part_id,
                                                              const PartIds& whole) const {
  ASSIGN_OR_RETURN(const std::vector<std::string> parts, whole.list());
  ByUnit<uint32_t> records;
  for (const std::string& other : parts) {
    RETURN_IF_ERROR(CheckId("part", other));
    const std::filesystem::path folder = data_dir_ / other;
    ASSIGN_OR_RETURN(const bool is_sealed, Exists(SnapshotPath(folder)));
    if (other == part_id || !is_sealed) continue;
    ASSIGN_OR_RETURN(const UnitCounts counts, ReadUnitCounts(UnitsPath(folder)));
    for (size_t i = 0; i < counts.keys.size(); ++i) records[counts.keys[i]] += counts.records[i];
  }
  return records;
}

SealedContent DatasetStore::ContentOf(const SnapshotFacts& facts, const Manifest& manifest,
                                      std::string_view owner) const {
  SealedContent content{.content_hash = ContentHash(facts.digest, owner),
                        .first_format_hash = FirstFormatHash(facts.digest),
                        .records = facts.records,
                        .records_dropped = facts.records_dropped,
                        .rows_from_query = manifest.HasRowsFromQuery()};
  for (const ImportEntry& entry : manifest.imports) {
    content.import_request_ids.push_back(entry.request_id);
    content.file_hashes.push_back(entry.content_digest);
  }
  return content;
}

absl::StatusOr<SealedContent> DatasetStore::SealInto(const std::filesystem::path& snapshot,
                                                     const dp::Schema& schema, std::string_view owner,
                                                     const ByUnit<uint32_t>* elsewhere,
                                                     const SealCheck& check) {
  const std::filesystem::path folder = snapshot.parent_path();
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(const bool is_deleted, Exists(DeletedPath(folder)));
  if (is_deleted) return absl::FailedPreconditionError("the dataset was deleted");
  ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(ManifestPath(folder)));
  const auto may_seal = [&](const SnapshotFacts& sealed) {
    return check ? check(ContentOf(sealed, manifest, owner)) : absl::OkStatus();
  };

  absl::StatusOr<SnapshotFacts> facts = ReadSnapshotFacts(snapshot);
  if (absl::IsNotFound(facts.status())) {
    ASSIGN_OR_RETURN(const CombinedRecords records,
                     CombineSegments(SegmentsPath(folder), manifest, schema, keyed_hash_,
                                     elsewhere == nullptr ? ByUnit<uint32_t>() : *elsewhere));
    facts = WriteSnapshot(snapshot, records, [&](const SnapshotFacts& sealed) -> absl::Status {
      RETURN_IF_ERROR(may_seal(sealed));
      // Before the snapshot takes its place: a part counts as sealed as soon as that exists.
      return elsewhere == nullptr ? absl::OkStatus() : WriteUnitCounts(UnitsPath(folder), records.units);
    });
  } else if (facts.ok()) {
    RETURN_IF_ERROR(may_seal(*facts));
  }
  RETURN_IF_ERROR(facts.status());
  RETURN_IF_ERROR(RemoveLeftovers(folder, manifest));
  return ContentOf(*facts, manifest, owner);
}

absl::StatusOr<LoadedTable> DatasetStore::Load(const SealedId& id, const std::stop_token& stop) const {
  RETURN_IF_ERROR(CheckId("dataset", id.dataset_id));
  const std::filesystem::path folder = data_dir_ / id.dataset_id;
  absl::StatusOr<Snapshot> snapshot = ReadSnapshot(SnapshotPath(folder), stop);
  if (absl::IsNotFound(snapshot.status())) return absl::NotFoundError("the dataset has no sealed records");
  RETURN_IF_ERROR(snapshot.status());
  if (!HasContent(snapshot->facts.digest, id.content_hash)) {
    return absl::DataLossError("the stored records are not those that were sealed under this server's key");
  }
  LoadedTable loaded{.table = std::move(snapshot->table), .units = nullptr};
  const std::optional<int64_t> units = loaded.table->units();
  if (!id.is_part || !units) return loaded;
  ASSIGN_OR_RETURN(UnitCounts counts, ReadUnitCounts(UnitsPath(folder)));
  if (*units != static_cast<int64_t>(counts.keys.size()))
    return absl::DataLossError("the units of a sealed part are not those of its table");
  loaded.units = std::make_shared<const UnitCounts>(std::move(counts));
  return loaded;
}

absl::StatusOr<std::shared_ptr<const dp::PublicTable>> DatasetStore::LoadPublic(
    const std::string& dataset_id, const std::string& content_hash) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  absl::StatusOr<PublicSnapshot> snapshot = ReadPublicSnapshot(PublicSnapshotPath(data_dir_ / dataset_id));
  if (absl::IsNotFound(snapshot.status())) return absl::NotFoundError("the dataset has no public records");
  RETURN_IF_ERROR(snapshot.status());
  if (!HasContent(snapshot->facts.digest, content_hash))
    return absl::DataLossError("the stored records are not those that were sealed");
  return std::move(snapshot->table);
}

absl::StatusOr<int64_t> DatasetStore::PublicBytes(const std::string& dataset_id) const {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  std::error_code error;
  const auto bytes = std::filesystem::file_size(PublicSnapshotPath(data_dir_ / dataset_id), error);
  if (error) return absl::NotFoundError("the dataset has no public records");
  return static_cast<int64_t>(bytes);
}

// The document "curator.records.content", version 2, of Text(owner) Text(H), where H is the keyed hash of the
// same document of Text(owner) Text(snapshot_digest).
std::string DatasetStore::ContentHash(std::string_view snapshot_digest, std::string_view owner) const {
  CanonicalWriter hashed(kContentTag, kContentVersion);
  hashed.Text(owner);
  hashed.Text(snapshot_digest);
  CanonicalWriter hash(kContentTag, kContentVersion);
  hash.Text(owner);
  hash.Text(keyed_hash_(std::move(hashed).Take()));
  return std::move(hash).Take();
}

std::string DatasetStore::FirstFormatHash(std::string_view snapshot_digest) const {
  return keyed_hash_(absl::StrCat("curator sealed content:", std::string(snapshot_digest)));
}

bool DatasetStore::HasContent(std::string_view snapshot_digest, const std::string& content_hash) const {
  CanonicalReader reader(content_hash, kContentTag, kContentVersion);
  const std::string owner = reader.Text();
  reader.Text();
  if (reader.Finish().ok()) return content_hash == ContentHash(snapshot_digest, owner);
  return content_hash == FirstFormatHash(snapshot_digest);
}

}  // namespace curator::records
