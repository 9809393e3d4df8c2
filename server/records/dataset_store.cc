#include "records/dataset_store.h"

#include <algorithm>
#include <span>
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

struct PartTable {
  dp::SealedTableHandle table;
  UnitCounts units;  // that own its rows; empty where each row is a unit of its own
};

// The numbers of units in the joined table, in the order of their first part.
class JoinedUnits {
 public:
  // The joined number of each unit of one part, indexed by its number there.
  std::vector<uint32_t> NumbersOf(const UnitCounts& units) {
    std::vector<uint32_t> numbers;
    for (const UnitKey& key : units.keys) {
      numbers.push_back(numbers_.emplace(key, static_cast<uint32_t>(numbers_.size())).first->second);
    }
    return numbers;
  }

 private:
  ByUnit<uint32_t> numbers_;
};

absl::Status CheckShape(const PartTable& part, const PartTable& first) {
  if (part.table->groups() != part.table->units())
    return absl::InvalidArgumentError("a table whose groups are not its units cannot be a part");
  const bool is_alike = part.table->sizes() == first.table->sizes() &&
                        part.table->units().has_value() == first.table->units().has_value();
  if (!is_alike) return absl::InvalidArgumentError("only tables of the same shape are joined");
  if (part.table->units().value_or(0) != static_cast<int64_t>(part.units.keys.size())) {
    return absl::DataLossError("the units of a sealed part are not those of its table");
  }
  return absl::OkStatus();
}

// The rows of all `parts`, at least one, in their order. A person or group is one unit across all parts.
// Errors: INVALID_ARGUMENT for tables of different shapes; DATA_LOSS when a part's units are not those of its
// table; RESOURCE_EXHAUSTED when there is no memory.
absl::StatusOr<dp::SealedTableHandle> JoinTables(const std::vector<PartTable>& parts) {
  if (parts.empty()) return absl::InvalidArgumentError("there is no table to join");
  const PartTable& first = parts.front();
  dp::CodedColumns joined(first.table->sizes());
  JoinedUnits units;
  std::vector<uint32_t> unit_of_row;
  for (const PartTable& part : parts) {
    RETURN_IF_ERROR(CheckShape(part, first));
    const std::vector<uint32_t> numbers = units.NumbersOf(part.units);
    const dp::ReadableScope scope(*part.table);
    for (size_t i = 0; i < joined.attributes(); ++i) {
      const size_t bytes = static_cast<size_t>(part.table->rows()) * dp::BytesOf(joined.width(i));
      joined.AppendCodes(i, std::span(scope.columns().columns[i].codes, bytes));
    }
    for (const uint32_t unit : scope.unit_of_row()) unit_of_row.push_back(numbers[unit]);
  }
  dp::SealedTableBuilder builder(first.table->sizes(),
                                 first.table->units() ? dp::RowOwner::kUnit : dp::RowOwner::kItself);
  builder.SetColumns(std::move(joined), std::move(unit_of_row));
  return std::move(builder).Build();
}

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

}  // namespace

struct DatasetStore::LoadedTable {
  std::mutex mutex;
  std::string digest ABSL_GUARDED_BY(mutex);
  dp::SealedTableHandle table ABSL_GUARDED_BY(mutex);
};

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
  if (manifest.Find(request_id) != nullptr) return RepeatedImport(std::move(place), std::move(manifest));
  ASSIGN_OR_RETURN(const bool is_sealed, IsSealed(place.folder));
  if (is_sealed) return absl::FailedPreconditionError("the dataset is sealed and accepts no more records");
  return NewImport(std::move(place), schema, options);
}

absl::StatusOr<SealedContent> DatasetStore::Seal(const std::string& dataset_id, const dp::Schema& schema,
                                                 std::string_view owner) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  return SealInto(SnapshotPath(data_dir_ / dataset_id), schema, owner, nullptr);
}

absl::StatusOr<SealedContent> DatasetStore::SealPublic(const std::string& dataset_id,
                                                       const dp::Schema& schema, std::string_view owner) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  ASSIGN_OR_RETURN(const bool is_private, Exists(SnapshotPath(data_dir_ / dataset_id)));
  if (is_private) return absl::FailedPreconditionError("the dataset is sealed as a private one");
  return SealInto(PublicSnapshotPath(data_dir_ / dataset_id), schema, owner, nullptr);
}

absl::StatusOr<SealedContent> DatasetStore::SealPart(const std::string& part_id, const PartIds& whole,
                                                     const dp::Schema& schema, std::string_view owner) {
  RETURN_IF_ERROR(CheckId("part", part_id));
  RETURN_IF_ERROR(CheckId("dataset", whole.dataset_id));
  const std::filesystem::path snapshot = SnapshotPath(data_dir_ / part_id);
  if (!dp::IdColumnOf(schema.unit)) return SealInto(snapshot, schema, owner, nullptr);
  // Under the dataset's lock, so that each part sees the units of all parts sealed before it.
  const std::filesystem::path folder = data_dir_ / whole.dataset_id;
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(const ByUnit<uint32_t> elsewhere, CountElsewhere(part_id, whole));
  return SealInto(snapshot, schema, owner, &elsewhere);
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

absl::StatusOr<SealedContent> DatasetStore::SealInto(const std::filesystem::path& snapshot,
                                                     const dp::Schema& schema, std::string_view owner,
                                                     const ByUnit<uint32_t>* elsewhere) {
  const std::filesystem::path folder = snapshot.parent_path();
  RETURN_IF_ERROR(MakeFolder(SegmentsPath(folder)));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(ManifestPath(folder)));

  absl::StatusOr<SnapshotFacts> facts = ReadSnapshotFacts(snapshot);
  if (absl::IsNotFound(facts.status())) {
    ASSIGN_OR_RETURN(const CombinedRecords records,
                     CombineSegments(SegmentsPath(folder), manifest, schema,
                                     elsewhere == nullptr ? ByUnit<uint32_t>() : *elsewhere));
    // The units first: a part counts as sealed as soon as its snapshot exists.
    if (elsewhere != nullptr) RETURN_IF_ERROR(WriteUnitCounts(UnitsPath(folder), records.units));
    facts = WriteSnapshot(snapshot, records);
  }
  RETURN_IF_ERROR(facts.status());
  RETURN_IF_ERROR(RemoveLeftovers(folder, manifest));
  return SealedContent{.content_hash = ContentHash(facts->digest, owner),
                       .first_format_hash = FirstFormatHash(facts->digest),
                       .records = facts->records,
                       .records_dropped = facts->records_dropped};
}

absl::StatusOr<dp::SealedTableHandle> DatasetStore::Load(const std::string& dataset_id,
                                                         const std::string& content_hash) {
  RETURN_IF_ERROR(CheckId("dataset", dataset_id));
  std::shared_ptr<LoadedTable> loaded;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<LoadedTable>& entry = loaded_[dataset_id];
    if (entry == nullptr) entry = std::make_shared<LoadedTable>();
    loaded = entry;
  }
  const std::lock_guard lock(loaded->mutex);  // one thread reads, the others wait for it
  if (loaded->table == nullptr) {
    absl::StatusOr<Snapshot> snapshot = ReadSnapshot(SnapshotPath(data_dir_ / dataset_id));
    if (absl::IsNotFound(snapshot.status())) return absl::NotFoundError("the dataset has no sealed records");
    RETURN_IF_ERROR(snapshot.status());
    loaded->digest = snapshot->facts.digest;
    loaded->table = std::move(snapshot->table);
  }
  if (!HasContent(loaded->digest, content_hash)) {
    return absl::DataLossError("the stored records are not those that were sealed");
  }
  return loaded->table;
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

absl::StatusOr<dp::SealedTableHandle> DatasetStore::LoadJoined(const std::vector<SealedId>& datasets) {
  constexpr size_t kMostJoined = 4;
  if (datasets.size() == 1) return Load(datasets.front().dataset_id, datasets.front().content_hash);
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(joined_.begin(), joined_.end(),
                                    [&](const auto& entry) { return entry.first == datasets; });
    if (known != joined_.end()) {
      std::rotate(known, known + 1, joined_.end());
      return joined_.back().second;
    }
  }
  std::vector<PartTable> tables;
  for (const SealedId& dataset : datasets) {
    ASSIGN_OR_RETURN(dp::SealedTableHandle table, Load(dataset.dataset_id, dataset.content_hash));
    tables.push_back({.table = std::move(table), .units = {}});
    if (!tables.back().table->units()) continue;
    ASSIGN_OR_RETURN(tables.back().units, ReadUnitCounts(UnitsPath(data_dir_ / dataset.dataset_id)));
  }
  ASSIGN_OR_RETURN(dp::SealedTableHandle joined, JoinTables(tables));
  const std::lock_guard lock(mutex_);
  if (joined_.size() == kMostJoined) joined_.erase(joined_.begin());
  joined_.emplace_back(datasets, joined);
  return joined;
}

void DatasetStore::Forget(const std::vector<std::string>& dataset_ids) {
  const std::lock_guard lock(mutex_);
  for (const std::string& id : dataset_ids) {
    loaded_.erase(id);
    std::erase_if(joined_, [&id](const auto& joined) {
      return std::ranges::any_of(joined.first,
                                 [&id](const SealedId& dataset) { return dataset.dataset_id == id; });
    });
  }
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
