// A sealed dataset on disk: a header, its columns, the units or groups of its rows, and the digest of all
// that.
//
// Thread-safe but for the file: pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "dp/data/public_table.h"
#include "dp/data/sealed_table_handle.h"
#include "records/combine.h"

namespace curator::records {

struct SnapshotFacts {
  int64_t records = 0;
  int64_t records_dropped = 0;
  std::string digest;  // of everything before it in the file
};

// Decides whether a snapshot may take its place.
using SnapshotCheck = std::function<absl::Status(const SnapshotFacts& facts)>;

// Durable on return; replaces an earlier one. An error of `check` is returned, and leaves no file. Empty:
// none is made.
absl::StatusOr<SnapshotFacts> WriteSnapshot(const std::filesystem::path& path, const CombinedRecords& records,
                                            const SnapshotCheck& check = {});

// The facts that WriteSnapshot() returned, as recorded in the file and not verified; ReadSnapshot() verifies
// them. NOT_FOUND when there is no file, DATA_LOSS when it is not a snapshot.
absl::StatusOr<SnapshotFacts> ReadSnapshotFacts(const std::filesystem::path& path);

struct Snapshot {
  SnapshotFacts facts;
  dp::SealedTableHandle table;
};

// NOT_FOUND when there is no file, DATA_LOSS when it is not exactly what was written, CANCELLED when `stop`
// was requested before the end.
absl::StatusOr<Snapshot> ReadSnapshot(const std::filesystem::path& path, const std::stop_token& stop = {});

// The same file read as a public table, without units and groups.
struct PublicSnapshot {
  SnapshotFacts facts;
  std::shared_ptr<const dp::PublicTable> table;
};
absl::StatusOr<PublicSnapshot> ReadPublicSnapshot(const std::filesystem::path& path);

}  // namespace curator::records
