// A folder on a simulated disk that can fail or lose its power: then content that was not synced is lost, in
// whole or in part.
//
// A program that links this replaces write, pwrite, fsync, fdatasync, ftruncate and rename of the C library;
// for files outside of the folder they behave the same.
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
    kKill,       // the process is killed; of a write, half is done
    kPowerLoss,  // this operation and all later ones fail, until RestorePower()
  };

  // Simulates the disk of `folder`, whose present content is durable. At most one exists at a time.
  explicit FailingFolder(std::string folder);
  ~FailingFolder();
  FailingFolder(const FailingFolder&) = delete;
  FailingFolder& operator=(const FailingFolder&) = delete;

  // From now on the `operation`-th operation (0, 1, ...) has the fault.
  void Arm(Fault fault, int operation, int error_number);
  void Disarm();
  bool has_struck();
  // From now on syncs succeed without effect.
  void PretendToSync();
  // Restores the folder to the durable content. Its files must not be open.
  void RestorePower(uint64_t seed);

  // Called by the replaced functions for files below the folder. 0, or the errno of the operation.
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
