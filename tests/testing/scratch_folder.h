// A temporary folder for the files of one test, removed by the destructor.
//
// It is in memory if there is space (/dev/shm), so that tests that sync after every charge do not wait for a
// disk. The environment variable CURATOR_SCRATCH names another place.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace curator::testing {

class ScratchFolder {
 public:
  // Ends the program with a message when no folder can be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file in the folder.
  std::filesystem::path operator/(std::string_view name) const { return std::filesystem::path(path_) / name; }

 private:
  std::string path_;
};

}  // namespace curator::testing
