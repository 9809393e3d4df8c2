// A folder of one's own for the files of one test, gone with it.
//
// It lies in memory where there is room (/dev/shm), so that tests which sync after every charge do not wait
// for a disk; what they check is not the disk. The environment's CURATOR_SCRATCH names another place.
#pragma once

#include <string>

namespace curator::testing {

class ScratchFolder {
 public:
  // Ends the program with a message when no folder can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace curator::testing
