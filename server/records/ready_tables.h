// The sealed tables that requests are answered from, in memory from before the first request until their
// dataset is archived.
//
// Whether a table is here, whole and readable is known here before a request is charged, and no request
// changes it or waits for it: the time of a load depends on the number of records, and a refused request must
// not buy that time. Tables are published by the owner's seal and by a loader in the background; none is
// dropped to make place for another, because the places that are left would depend on the records of others.
//
// Thread-safe. No method reads a file.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/data/sealed_table_handle.h"
#include "records/unit_counts.h"

namespace curator::records {

// A sealed dataset, or part of one, and the content that it must have.
struct SealedId {
  std::string dataset_id;
  std::string content_hash;
  bool is_part = false;  // of a partitioned dataset: its units are stored beside its snapshot
  bool operator==(const SealedId&) const = default;
};

// A sealed table in memory, whose content is the one that was sealed.
struct LoadedTable {
  dp::SealedTableHandle table;
  // Of a part with persons or groups: those that own its rows, as many as the table has. Else null.
  std::shared_ptr<const UnitCounts> units;
};

// FAILED_PRECONDITION: a table is missing, damaged, or not what was sealed under this server's key. Does not
// say which: some causes depend on what was stored.
absl::Status UnreadableRecords();

class ReadyTables;

// The right to open the table of one request. Holds everything that opening needs: no file, no lock of
// others. Copies share the same tables, which stay valid after Forget(). The ReadyTables must outlive it.
class ReadyTable {
 public:
  // The table; several parts are joined into one, in which a unit with records in several parts is one unit.
  // Reads every record of joined parts, and waits while others are joined: only for a request that has been
  // charged. Error: INVALID_ARGUMENT for parts of different shapes or with groups that are not units; none
  // for a single table. Throws std::bad_alloc when there is no memory to join parts.
  absl::StatusOr<dp::SealedTableHandle> Open() const;

 private:
  friend class ReadyTables;
  ReadyTables* owner_ = nullptr;
  std::vector<SealedId> ids_;
  std::vector<LoadedTable> parts_;
};

class ReadyTables {
 public:
  // From now on the table is ready. Replaces what was published for the same dataset before.
  void Publish(const SealedId& id, LoadedTable table);
  // From now on requests on the table are refused, until it is published.
  void PublishUnreadable(const SealedId& id);

  // Whether Publish() was called for it and no Forget() since.
  bool IsReady(const SealedId& id) const;

  // The table of one dataset, or of one or more parts of one, in this order. Errors, the same whatever the
  // records are: UNAVAILABLE until a loader has examined all of them; FAILED_PRECONDITION when one of them
  // is missing, is damaged, or is not what was sealed under this server's key.
  absl::StatusOr<ReadyTable> Find(const std::vector<SealedId>& ids);

  // The same for tables that are not published: those of a request that has paid for the time of its load.
  ReadyTable Holding(std::vector<SealedId> ids, std::vector<LoadedTable> tables);

  // Drops the tables of these datasets, and joined tables with any of them. Tables in use stay valid.
  void Forget(const std::vector<std::string>& dataset_ids);

 private:
  friend class ReadyTable;
  struct Entry {
    std::string content_hash;
    bool is_readable = false;
    LoadedTable loaded;
  };
  // Null where these parts are not joined.
  dp::SealedTableHandle FindJoined(const std::vector<SealedId>& ids);
  absl::StatusOr<dp::SealedTableHandle> Joined(const std::vector<SealedId>& ids,
                                               const std::vector<LoadedTable>& parts);

  std::mutex joining_;  // locked before mutex_: while parts are joined, so that equal requests share a copy
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // The four most recently used, the last used last. Which they are depends on what was asked, not on
  // records.
  std::vector<std::pair<std::vector<SealedId>, dp::SealedTableHandle>> joined_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::records
