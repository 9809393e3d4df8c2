// The table of audit records: in the ledger's database where that is PostgreSQL, on connections of its own;
// in a file of its own beside a ledger in SQLite.
//
// Records are appended and never change, except that after a time the names in them are removed.
//
// Thread-safe. Every method blocks on the store, which waits for nothing for ever. Errors of all methods: the
// store's, UNAVAILABLE when it is away or full; their words are for operators (base/errors.h).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "audit/audit_record.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::audit {

// Which records a listing has: those with all of these.
struct AuditFilter {
  // Empty: any.
  std::string principal;
  std::string dataset;
  std::string method;
  std::optional<Decision> decision = std::nullopt;
  // The time of a record is at least the one and before the other.
  int64_t since_us = std::numeric_limits<int64_t>::min();
  int64_t until_us = std::numeric_limits<int64_t>::max();
};

// A record's place in the order of a listing: by time, and by id where that is the same.
struct AuditPlace {
  int64_t time_us = std::numeric_limits<int64_t>::max();
  int64_t id = std::numeric_limits<int64_t>::max();
  auto operator<=>(const AuditPlace&) const = default;
};

struct AuditPage {
  std::vector<AuditRecord> records;
  // Where the next page begins; none after the last one.
  std::optional<AuditPlace> next;
};

class AuditStore {
 public:
  // As many records as a page looks at, whatever it finds, where it cannot go by an index alone.
  static constexpr int64_t kMostLookedAt = 2000;

  // The audit of the ledger at `ledger_url`, which OpenLedger() has opened. `file` is for a ledger in SQLite:
  // the path of the audit; empty: audit.db in the ledger's folder.
  //
  // INVALID_ARGUMENT (audit.path) for a file beside a ledger in PostgreSQL, or that is the ledger;
  // FAILED_PRECONDITION for one that cannot be written or that another program's schema has. A store that is
  // away or full is no error here: the first call that finds it back opens it.
  //
  // `names` outlives the store, which has pseudonyms in the place of names, as the ledger does: it forgets
  // nobody by itself. Null: what the store is given as names is stored.
  static absl::StatusOr<std::unique_ptr<AuditStore>> Open(std::string_view ledger_url, std::string_view file,
                                                          ledger::Ledger* names = nullptr);

  // A store over the database that `connect` opens, with its schema, when it is first needed.
  using Connect = std::function<absl::StatusOr<std::unique_ptr<ledger::sql::Database>>()>;
  explicit AuditStore(Connect connect, ledger::Ledger* names = nullptr)
      : connect_(std::move(connect)), names_(names) {}

  // Appends all of the records or none; their ids are the next ones.
  absl::Status Append(const std::vector<AuditRecord>& records);

  // Newest first: at most `limit` records after `place` that the filter has. May have fewer, even none, and
  // a next page nevertheless.
  absl::StatusOr<AuditPage> List(const AuditFilter& filter, const AuditPlace& place, int64_t limit);

  // Of these, the refusals of charges on the dataset that did not fit, by all principals or by this one.
  absl::StatusOr<AuditPage> ListBudgetRefusals(std::string_view dataset, std::string_view principal,
                                               const AuditPlace& place, int64_t limit);

  // Records with greater ids, in the order in which they were written, at most `limit`. A caller that
  // continues after the last one misses none.
  absl::StatusOr<std::vector<AuditRecord>> ReadAfter(int64_t id, int64_t limit);
  // The id of the newest record; 0 when there is none.
  absl::StatusOr<int64_t> NewestId();

  // Removes who it was (principal, credential and request id) from at most `most` records that are older
  // than `before_us`. Returns from how many. The store refuses it for records of the last 30 days.
  absl::StatusOr<int64_t> RemoveNames(int64_t before_us, int64_t most);

 private:
  absl::StatusOr<ledger::sql::Database*> Opened();
  absl::StatusOr<std::string> AsStored(const std::string& principal);
  // What records may have in the place of this name: those from before there were pseudonyms have the name.
  // Stores nothing.
  absl::StatusOr<std::vector<std::string>> NamesInRecords(const std::string& principal);
  // Also in the names of full accounts.
  absl::StatusOr<AuditRecord> AsStored(AuditRecord record);
  absl::StatusOr<std::vector<AuditRecord>> AsNamed(std::vector<AuditRecord> records);

  const Connect connect_;
  ledger::Ledger* const names_;
  absl::Mutex mutex_;
  std::unique_ptr<ledger::sql::Database> database_ ABSL_GUARDED_BY(mutex_);  // null until it was opened
};

}  // namespace curator::audit
