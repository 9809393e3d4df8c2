// A simulated disk below SQLite: on power loss, writes that were not synced are lost, wholly or in parts and
// in any order. It can also be full, fail, or lie about a sync.
//
// A SQLite VFS over the default one. Writes go through at once, so that all processes and connections see
// them; for each database and log it also keeps the synced content and the writes since.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace curator::ledger {

class ForgetfulDisk {
 public:
  // Is SQLite's default VFS during its lifetime; at most one exists at a time. Its files must be closed
  // before it is destroyed.
  ForgetfulDisk();
  ~ForgetfulDisk();
  ForgetfulDisk(const ForgetfulDisk&) = delete;
  ForgetfulDisk& operator=(const ForgetfulDisk&) = delete;

  // From now on the `operation`-th write, truncation or sync (0, 1, ...) is the first one that fails with the
  // SQLite error `code`; for `times` operations.
  void FailAt(int64_t operation, int64_t times, int code);
  // The same, for all operations until RestorePower().
  void LosePowerAt(int64_t operation);
  bool has_failed();
  void Repair();
  // From now on syncs succeed without effect.
  void PretendToSync();
  void SyncAgain();

  // Restores the files to the durable content after a power loss. They must not be open.
  void RestorePower(uint64_t seed);

 private:
  struct UnsyncedWrite {
    int64_t offset = 0;  // of a truncation: the new size
    std::string bytes;   // of a truncation: empty
  };
  // The durable content, and writes that may have reached the disk.
  struct Content {
    bool is_kept = false;     // its name is on the disk
    bool is_deleted = false;  // and the folder was not synced since
    std::string synced;
    std::vector<UnsyncedWrite> unsynced;
  };
  struct File;
  struct Methods;

  int Count();  // SQLITE_OK, or the error that this operation has
  // Makes the deletions in the folder of `path` durable.
  void SyncFolderOf(const std::string& path);
  static void Apply(std::string& content, const UnsyncedWrite& write);
  // Some sectors of it.
  static void ApplyTorn(std::string& content, const UnsyncedWrite& write, std::mt19937_64& random);
  static std::string ContentOf(const std::string& path);

  sqlite3_vfs* const real_;
  sqlite3_vfs vfs_;
  std::mutex mutex_;
  std::map<std::string, Content> contents_;  // by path
  int64_t operations_left_ = -1;
  int64_t failures_left_ = 0;
  int failure_ = SQLITE_OK;
  bool has_failed_ = false;
  bool loses_power_ = false;
  bool pretends_to_sync_ = false;
};

}  // namespace curator::ledger
