// Names and pseudonyms, from the table of pseudonyms and a cache of it.
//
// What is cached stays right until the name is forgotten: every server hears of that from the server's
// history (directory/directory_store.h), and calls Forget(), too.
//
// Thread-safe. Methods may block on the store; their errors are those of ledger.h, INVALID_ARGUMENT
// (principal) for a name that no principal can have, and DATA_LOSS for one whose row was changed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/lru_cache.h"
#include "ledger/pseudonyms/pseudonym.h"

namespace curator::ledger {

// The table of pseudonyms. Thread-safe.
class PseudonymTable {
 public:
  virtual ~PseudonymTable() = default;

  // The rows of these names that there are; and of these pseudonyms.
  virtual absl::StatusOr<std::vector<PseudonymRow>> FindByName(const std::vector<std::string>& names) = 0;
  virtual absl::StatusOr<std::vector<PseudonymRow>> FindByPseudonym(
      const std::vector<std::string>& pseudonyms) = 0;
  // Adds the row unless the name has one, and returns that of the name. On return it is durable.
  virtual absl::StatusOr<PseudonymRow> AddPseudonym(const PseudonymRow& row) = 0;
  // Repeating it changes nothing. The store's own files do not have the row any more, unless one is being
  // read.
  virtual absl::Status DeletePseudonym(std::string_view pseudonym) = 0;
};

class KnownNames {
 public:
  // `table` must outlive this object. `entropy` returns so many unpredictable bytes; thread-safe.
  KnownNames(PseudonymTable& table, std::function<std::string(size_t)> entropy);

  // What tables and entries have in the place of this name; it is made when there is none. An empty name, one
  // that begins with "@", and a pseudonym are themselves.
  absl::StatusOr<std::string> Make(std::string_view name);
  // The same, but a name without a pseudonym is itself: no table and no entry has it.
  absl::StatusOr<std::string> Find(std::string_view name);
  // The names of these pseudonyms. Those of forgotten principals are themselves.
  absl::StatusOr<std::map<std::string, std::string>> NamesOf(const std::vector<std::string>& pseudonyms);
  // FAILED_PRECONDITION for what is no pseudonym.
  absl::Status Forget(std::string_view pseudonym);

 private:
  // Both directions, replaced as a whole when a name is forgotten: what was read before is kept in what is
  // not used any more.
  struct Cache {
    LruCache<std::string> pseudonyms;  // by name
    LruCache<std::string> names;       // by pseudonym

    Cache();
    void Keep(const PseudonymRow& row);
  };

  std::shared_ptr<Cache> cache();

  PseudonymTable& table_;
  const std::function<std::string(size_t)> entropy_;
  std::mutex mutex_;
  std::shared_ptr<Cache> cache_ ABSL_GUARDED_BY(mutex_) = std::make_shared<Cache>();
};

}  // namespace curator::ledger
