// The records of all datasets, on disk: segments as they were imported, then one sealed snapshot for each
// dataset.
//
// Below the data directory each dataset has a folder, named by its id, with these files:
//
//   manifest               which imports there were, in which order, with their reports
//   segments/<request id>  the records of one import, until the dataset is sealed
//   snapshot               the sealed records
//   public_snapshot        the same of a public dataset, in place of `snapshot`
//   units                  of a part of a partitioned dataset: the persons or groups of its snapshot
//   lock                   empty; held while the folder is changed
//
// All but `lock` are binary, checksummed, mode 0600, and made durable before they get their names; a file in
// the making is called `*.making` and is removed when found abandoned. Ids of persons and groups are stored
// as keyed hashes only, and as mere numbers, 0 to their count, once a dataset is sealed; those of a
// partitioned dataset stay, in `units` beside each snapshot.
//
// Thread-safe, also between processes on one data directory. Methods may block on the disk.
// Errors everywhere: UNAVAILABLE when the disk fails, DATA_LOSS when a file contradicts its checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "dp/data/public_table.h"
#include "dp/data/sealed_table_handle.h"
#include "dp/domain/domain.h"
#include "records/import.h"
#include "records/unit_counts.h"

namespace curator::records {

// A pseudorandom function under the server's key, at least 16 bytes long, the same in every run
// (HMAC-SHA-256).
using KeyedHash = std::function<std::string(std::string_view bytes)>;

// For the owner's eyes, except that `content_hash` may be kept in the ledger: without the key it tells
// nothing.
struct SealedContent {
  std::string content_hash;     // keyed, as long as the keyed hash
  int64_t records = 0;          // in the table
  int64_t records_dropped = 0;  // beyond their unit's bound
  bool operator==(const SealedContent&) const = default;
};

// A sealed dataset and the content that it must have.
struct SealedId {
  std::string dataset_id;
  std::string content_hash;
  bool operator==(const SealedId&) const = default;
};

// A partitioned dataset: each part is a dataset of its own here, but persons and groups own at most their
// bound of records in all of them together.
struct PartIds {
  std::string dataset_id;  // of the whole
  // Lists the parts' ids. Asked once no other part can be sealed meanwhile: a list from before might lack a
  // part that was added and sealed while this one waited, and its records would not count towards the bound.
  std::function<absl::StatusOr<std::vector<std::string>>()> list;
};

class DatasetStore {
 public:
  // Makes the directory if need be. `keyed_hash` may be called on any thread.
  // INVALID_ARGUMENT when the path is no directory or cannot be written.
  static absl::StatusOr<std::unique_ptr<DatasetStore>> Open(const std::filesystem::path& data_dir,
                                                            KeyedHash keyed_hash);

  // Starts an import; the schema must be the dataset's own on each call. The store must outlive the import.
  // A request id that has been imported already is recognised at Finish(): the same bytes get the stored
  // report, also after sealing, others ALREADY_EXISTS. Errors: INVALID_ARGUMENT for ids that are not 1 to 128
  // of letters, digits, '-' and '_'; FAILED_PRECONDITION when the dataset is sealed.
  absl::StatusOr<std::unique_ptr<RecordImport>> BeginImport(const std::string& dataset_id,
                                                            const dp::Schema& schema,
                                                            const std::string& request_id,
                                                            const ImportOptions& options);

  // Puts all imports together, in their order, keeping of each unit the first records up to its bound; none
  // or empty ones make an empty table. Takes no imports from here on. Idempotent: sealing again returns the
  // same.
  absl::StatusOr<SealedContent> Seal(const std::string& dataset_id, const dp::Schema& schema);

  // The same for a public dataset, whose records go where only LoadPublic() finds them: what was sealed as
  // private can never be read as public, whoever asks. FAILED_PRECONDITION when it is sealed as private.
  absl::StatusOr<SealedContent> SealPublic(const std::string& dataset_id, const dp::Schema& schema);

  // The same for one of the parts of a dataset. What a unit has in parts that were sealed before counts
  // towards its bound; so for persons and groups it is remembered, by keyed hashes of their ids, how many
  // records each has in which part.
  absl::StatusOr<SealedContent> SealPart(const std::string& part_id, const PartIds& whole,
                                         const dp::Schema& schema);

  // The sealed table, read once and kept in memory. NOT_FOUND when it is not sealed; DATA_LOSS when it is not
  // the content that `content_hash` was made of.
  absl::StatusOr<dp::SealedTableHandle> Load(const std::string& dataset_id, const std::string& content_hash);

  // The public table, read anew each time. NOT_FOUND when nothing is sealed as public; DATA_LOSS as Load().
  absl::StatusOr<std::shared_ptr<const dp::PublicTable>> LoadPublic(const std::string& dataset_id,
                                                                    const std::string& content_hash);

  // The sealed tables of several parts of one dataset as one table, in this order, in which a unit is one
  // unit wherever its records lie; of one, as Load(). The last few such tables are kept in memory. Errors:
  // those of Load().
  absl::StatusOr<dp::SealedTableHandle> LoadTogether(const std::vector<SealedId>& datasets);

  // Lets go of the memory of a dataset that will not be asked again; tables in use live on.
  void Forget(const std::string& dataset_id);

 private:
  struct LoadedTable;
  DatasetStore(std::filesystem::path data_dir, KeyedHash keyed_hash);
  std::string ContentHash(std::string_view snapshot_digest) const;
  // How many records units have in the parts that are sealed, but for `part_id`.
  absl::StatusOr<ByUnit<uint32_t>> CountElsewhere(const std::string& part_id, const PartIds& whole) const;
  // `elsewhere`: of a part whose units are remembered; else null.
  absl::StatusOr<SealedContent> SealInto(const std::filesystem::path& snapshot, const dp::Schema& schema,
                                         const ByUnit<uint32_t>* elsewhere);

  const std::filesystem::path data_dir_;
  const KeyedHash keyed_hash_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LoadedTable>> loaded_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<std::vector<SealedId>, dp::SealedTableHandle>> together_
      ABSL_GUARDED_BY(mutex_);  // the last used last
};

}  // namespace curator::records
