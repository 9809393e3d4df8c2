// The records of all datasets on disk: segments as imported, then one sealed snapshot for each dataset; and
// the sealed tables that requests are answered from (ready_tables.h).
//
// Below the data directory each dataset has a folder, named by its id, with these files:
//
//   manifest               which imports there were, in which order, with reports, and which were undone
//   segments/<request id>  the records of one import, until the dataset is sealed or the import is undone
//   snapshot               the sealed records
//   public_snapshot        for a public dataset, in place of `snapshot`
//   units                  for a part of a partitioned dataset: the persons or groups of its snapshot
//   lock                   empty; locked while the folder is changed
//   deleted                empty; the dataset was deleted, and nothing is left but the lock and a folder
//
// All but `lock` are binary, checksummed, of mode 0600, and durable before they get their names; an
// incomplete file is named `*.making` and is removed when its process no longer runs. Ids of persons and
// groups are stored only as keyed hashes, and, once a dataset is sealed, only as numbers from 0 on; the parts
// of a partitioned dataset keep the hashes, in `units` beside each snapshot.
//
// Thread-safe, also between processes on one data directory. Methods may block on the disk.
// Errors of all methods: UNAVAILABLE when the disk fails, DATA_LOSS when a file contradicts its checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "records/import.h"
#include "records/ready_tables.h"
#include "records/unit_counts.h"

namespace curator::records {

struct Manifest;
struct SnapshotFacts;

// A keyed pseudorandom function (HMAC-SHA-256) under the server's key, the same in every run. Returns at
// least 16 bytes. Thread-safe.
using KeyedHash = std::function<std::string(std::string_view bytes)>;

// For the owner only, except that the ledger may store a hash, which reveals nothing without the key.
struct SealedContent {
  // Keyed, over the records and the owner. It names the owner, so that the hashes of two owners never compare
  // equal, whatever they hold.
  std::string content_hash;
  // The hash of the same records in the first format, which did not contain the owner: for tables that were
  // sealed with it. It is compared with the owner's own tables only, and never stored.
  std::string first_format_hash;
  int64_t records = 0;          // in the table
  int64_t records_dropped = 0;  // because they exceed their unit's bound
  // Of its imports, in their order.
  std::vector<std::string> import_request_ids = {};
  std::vector<std::string> file_hashes = {};  // FileHash()
  bool rows_from_query = false;               // one of them came from a query
  bool operator==(const SealedContent&) const = default;
};

// An import that counts. For the owner only.
struct StoredImport {
  std::string request_id;
  int64_t time_us =
      0;  // since the epoch, not before that of an earlier import of the same folder; 0: unknown
  int64_t sequence = 0;  // rising within the folder, from 1
  int64_t rows_accepted = 0;
  RecordSource source = RecordSource::kFile;
};

enum class ImportState { kUnknown, kCounts, kUndone };

// Makes it durable that an import is undone, of whose bytes FileHash() is given. Called under the
// lock of the dataset's folder: must not seal or import.
using UndoRecord = std::function<absl::Status(const std::string& file_hash)>;

// Decides from its content whether a table may be sealed. Called by a seal before anything of it remains on
// the disk, under the lock of the dataset's folder: must not seal or import. Empty: every table may.
using SealCheck = std::function<absl::Status(const SealedContent& content)>;

// A partitioned dataset: the store treats each part as a dataset, but the bound on the records of a person or
// group holds for all parts together.
struct PartIds {
  std::string dataset_id;  // of the whole
  // Lists the parts' ids. Called while no other part can be sealed: an earlier list might lack a part that
  // was added and sealed while this one waited, whose records would then not count towards the bound.
  std::function<absl::StatusOr<std::vector<std::string>>()> list;
};

class DatasetStore {
 public:
  // Creates the directory if it does not exist. INVALID_ARGUMENT when the path is no directory or cannot be
  // written.
  static absl::StatusOr<std::unique_ptr<DatasetStore>> Open(const std::filesystem::path& data_dir,
                                                            KeyedHash keyed_hash);

  // Starts an import; the schema must be the dataset's own on each call. The store must outlive the import.
  // A request id that has been imported already is recognised at Finish(): the same bytes get the stored
  // report, also after sealing, others ALREADY_EXISTS. Errors: INVALID_ARGUMENT for ids that are not 1 to 128
  // of letters, digits, '-' and '_'; FAILED_PRECONDITION when the dataset is sealed and
  // this request id was not imported, or its import was undone.
  absl::StatusOr<std::unique_ptr<RecordImport>> BeginImport(const std::string& dataset_id,
                                                            const dp::Schema& schema,
                                                            const std::string& request_id,
                                                            const ImportOptions& options);

  // The keyed hash of a file, which the ledger may store, from the SHA-256 of its bytes as they are sent.
  std::string FileHash(std::string_view sha256) const;

  // What became of an import. Errors: INVALID_ARGUMENT for ids, as BeginImport().
  absl::StatusOr<ImportState> StateOf(const std::string& dataset_id,
                                      const std::string& import_request_id) const;

  // The imports that count, from the first to the last; also of a sealed dataset.
  absl::StatusOr<std::vector<StoredImport>> ListImports(const std::string& dataset_id) const;

  // Undoes an import: calls `record`, whose error is returned and changes nothing, and then removes the
  // records durably. Of an import that was undone before, `record` is called again and nothing else is done.
  // After a crash between the two, RemoveUndone() removes the records. Errors: INVALID_ARGUMENT for ids, as
  // BeginImport(); NOT_FOUND when there is no such import; FAILED_PRECONDITION when the dataset is sealed.
  absl::Status UndoImport(const std::string& dataset_id, const std::string& import_request_id,
                          const UndoRecord& record);

  // Removes those of the undone imports whose records are still there.
  absl::Status RemoveUndone(const std::string& dataset_id,
                            const std::vector<std::string>& import_request_ids);

  // Removes all records of a deleted dataset, or of a part of one, from the disk and from memory. Nothing is
  // imported or sealed there any more. Repeating it completes it.
  absl::Status RemoveRecords(const std::string& dataset_id);

  // Combines all imports, keeping records of each unit up to its bound (CombineSegments()); without
  // records the table is empty. The dataset accepts no imports afterwards. Idempotent: sealing again returns
  // the same. `owner` is the principal who created the dataset. An error of `check` is returned, and leaves
  // the dataset as it was: open for imports, unless an earlier seal closed it.
  absl::StatusOr<SealedContent> Seal(const std::string& dataset_id, const dp::Schema& schema,
                                     std::string_view owner, const SealCheck& check = {});

  // The same for a public dataset, whose records are stored where only LoadPublic() reads them, so that
  // records sealed as private can never be read as public. FAILED_PRECONDITION when the dataset is sealed as
  // private.
  absl::StatusOr<SealedContent> SealPublic(const std::string& dataset_id, const dp::Schema& schema,
                                           std::string_view owner, const SealCheck& check = {});

  // The same for one part of a dataset. Records of a unit in parts that were sealed earlier count towards its
  // bound; for persons and groups their numbers are therefore stored for each part, by keyed hashes of the
  // ids.
  absl::StatusOr<SealedContent> SealPart(const std::string& part_id, const PartIds& whole,
                                         const dp::Schema& schema, std::string_view owner,
                                         const SealCheck& check = {});

  // The number of records of a sealed table. NOT_FOUND when the dataset is not sealed.
  absl::StatusOr<int64_t> SealedRecords(const std::string& dataset_id) const;

  // Reads a sealed table from the disk and verifies it: as long as it is large. For the owner's seal and a
  // loader in the background, never for a request that is not charged. NOT_FOUND when the dataset is not
  // sealed; DATA_LOSS when its content does not have this hash, in the format that the hash is in;
  // RESOURCE_EXHAUSTED when there is no memory; CANCELLED soon after `stop` is requested.
  absl::StatusOr<LoadedTable> Load(const SealedId& id, const std::stop_token& stop = {}) const;

  ReadyTables& ready() { return ready_; }

  // The public table, read from disk on each call. NOT_FOUND when nothing is sealed as public; DATA_LOSS as
  // Load().
  absl::StatusOr<std::shared_ptr<const dp::PublicTable>> LoadPublic(const std::string& dataset_id,
                                                                    const std::string& content_hash);

  // The bytes of that table's file, about as many as its records take in memory. NOT_FOUND as LoadPublic().
  absl::StatusOr<int64_t> PublicBytes(const std::string& dataset_id) const;

 private:
  DatasetStore(std::filesystem::path data_dir, KeyedHash keyed_hash);
  std::string ContentHash(std::string_view snapshot_digest, std::string_view owner) const;
  std::string FirstFormatHash(std::string_view snapshot_digest) const;
  bool HasContent(std::string_view snapshot_digest, const std::string& content_hash) const;
  // The numbers of records that units have in the sealed parts other than `part_id`.
  absl::StatusOr<ByUnit<uint32_t>> CountElsewhere(const std::string& part_id, const PartIds& whole) const;
  // `elsewhere` is null except for a part whose units are stored.
  absl::StatusOr<SealedContent> SealInto(const std::filesystem::path& snapshot, const dp::Schema& schema,
                                         std::string_view owner, const ByUnit<uint32_t>* elsewhere,
                                         const SealCheck& check);
  SealedContent ContentOf(const SnapshotFacts& facts, const Manifest& manifest, std::string_view owner) const;

  const std::filesystem::path data_dir_;
  const KeyedHash keyed_hash_;
  ReadyTables ready_;
};

}  // namespace curator::records
