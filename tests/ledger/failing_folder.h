// A folder whose files are written, synced and renamed on a disk that can fail, or lose its power: then what
// was not synced is gone, in whole or in part.
//
// A program that links this has its own write, pwrite, fsync, fdatasync, ftruncate and rename in place of the
// C library's; for every file outside the folder they do the same.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>

namespace curator::ledger {

class FailingFolder {
 public:
  enum class Fault {
    kError,      // the operation fails, once; of a write, half may be done
    kKill,       // the process is gone; of a write, half is done
    kPowerLoss,  // this operation and all later ones fail, until RestorePower()
  };

  // Watches over `folder`, whose content of now is on the disk. There is one at a time.
  explicit FailingFolder(std::string folder);
  ~FailingFolder();
  FailingFolder(const FailingFolder&) = delete;
  FailingFolder& operator=(const FailingFolder&) = delete;

  // From now on the `operation`-th operation (0, 1, ...) has the fault.
  void Arm(Fault fault, int operation, int error_number);
  void Disarm();
  bool has_struck();
  // From now on syncs are answered, and not done.
  void PretendToSync();
  // Turns the folder into what the disk holds. Nobody may have its files open.
  void RestorePower(uint64_t seed);

  // For the functions in place of the C library's: what is below the folder goes through these. 0, or the
  // error that the operation has.
  static FailingFolder* Of(int descriptor);
  static FailingFolder* Of(const char* path);
  int Strike();
  bool KillsNow();
  void Sync(int descriptor);

 private:
  bool Owns(const std::string& path) const;
  std::map<std::string, ino_t> NamesNow() const;

  const std::string folder_;
  std::mutex mutex_;
  Fault fault_ = Fault::kError;
  int error_number_ = 0;
  int operations_left_ = -1;
  bool has_struck_ = false;
  bool pretends_to_sync_ = false;
  std::map<std::string, ino_t> synced_names_;
  std::map<ino_t, std::string> synced_contents_;
};

}  // namespace curator::ledger
