#include "tests/testing/scratch_folder.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace curator::testing {
namespace {

// Containers often give /dev/shm 64 MB, too little for a database server.
bool HasRoom(const char* folder) {
  constexpr uint64_t kEnoughBytes = uint64_t{2} << 30;
  struct statvfs space = {};
  return access(folder, W_OK) == 0 && statvfs(folder, &space) == 0 &&
         space.f_bavail * space.f_frsize >= kEnoughBytes;
}

}  // namespace

ScratchFolder::ScratchFolder() {
  constexpr char kInMemory[] = "/dev/shm";
  const char* named = std::getenv("CURATOR_SCRATCH");
  const std::string place = named != nullptr ? named : HasRoom(kInMemory) ? kInMemory : "/tmp";
  // Short, because the path of a socket inside holds at most 107 bytes.
  path_ = place + "/curator-XXXXXX";
  if (mkdtemp(path_.data()) != nullptr) return;
  std::fprintf(stderr, "FAILED: cannot make a scratch folder %s: %s\n", path_.c_str(), std::strerror(errno));
  std::_Exit(1);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace curator::testing
