#include "tests/ledger/failing_folder.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace curator::ledger {
namespace {

namespace fs = std::filesystem;

std::atomic<FailingFolder*> watched = nullptr;

std::string PathOf(int descriptor) {
  std::array<char, 4096> path = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : std::string();
}

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

ino_t InodeOf(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

FailingFolder::FailingFolder(std::string folder) : folder_(std::move(folder)), synced_names_(NamesNow()) {
  for (const auto& [name, inode] : synced_names_) synced_contents_[inode] = ContentOf(folder_ + "/" + name);
  watched = this;
}

FailingFolder::~FailingFolder() {
  watched = nullptr;
}

std::map<std::string, ino_t> FailingFolder::NamesNow() const {
  std::map<std::string, ino_t> names;
  for (const auto& file : fs::directory_iterator(folder_)) {
    names[file.path().filename().string()] = InodeOf(file.path());
  }
  return names;
}

bool FailingFolder::Owns(const std::string& path) const {
  return path == folder_ || path.compare(0, folder_.size() + 1, folder_ + "/") == 0;
}

FailingFolder* FailingFolder::Of(int descriptor) {
  FailingFolder* const folder = watched;
  return folder != nullptr && folder->Owns(PathOf(descriptor)) ? folder : nullptr;
}

FailingFolder* FailingFolder::Of(const char* path) {
  FailingFolder* const folder = watched;
  return folder != nullptr && folder->Owns(path) ? folder : nullptr;
}

void FailingFolder::Arm(Fault fault, int operation, int error_number) {
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  error_number_ = error_number;
  operations_left_ = operation;
  has_struck_ = false;
}

void FailingFolder::Disarm() {
  Arm(Fault::kError, -1, 0);
}

bool FailingFolder::has_struck() {
  const std::scoped_lock lock(mutex_);
  return has_struck_;
}

void FailingFolder::PretendToSync() {
  const std::scoped_lock lock(mutex_);
  pretends_to_sync_ = true;
}

bool FailingFolder::KillsNow() {
  const std::scoped_lock lock(mutex_);
  return fault_ == Fault::kKill && operations_left_ == 0;
}

int FailingFolder::Strike() {
  const std::scoped_lock lock(mutex_);
  if (operations_left_ < 0) return 0;
  if (operations_left_ > 0) {
    --operations_left_;
    return 0;
  }
  has_struck_ = true;
  if (fault_ == Fault::kKill) std::raise(SIGKILL);
  if (fault_ == Fault::kError) operations_left_ = -1;
  return error_number_;
}

void FailingFolder::Sync(int descriptor) {
  const std::scoped_lock lock(mutex_);
  if (pretends_to_sync_) return;
  const std::string path = PathOf(descriptor);
  if (path == folder_) {
    synced_names_ = NamesNow();
  } else {
    synced_contents_[InodeOf(path)] = ContentOf(path);
  }
}

void FailingFolder::RestorePower(uint64_t seed) {
  Disarm();
  const std::scoped_lock lock(mutex_);
  pretends_to_sync_ = false;
  std::mt19937_64 random(seed);
  const std::map<std::string, ino_t> now = NamesNow();
  std::map<std::string, ino_t> either = now;
  either.insert(synced_names_.begin(), synced_names_.end());
  std::map<std::string, std::string> kept;
  for (const auto& [name, any_inode] : either) {
    // The name as it was synced or as it was last, and so the content, or a part of it.
    const std::map<std::string, ino_t>& source = random() % 2 == 0 ? now : synced_names_;
    const auto found = source.find(name);
    if (found == source.end()) continue;
    std::string content = synced_contents_[found->second];
    const auto last = now.find(name);
    if (last != now.end() && last->second == found->second && random() % 3 > 0) {
      const std::string written = ContentOf(folder_ + "/" + name);
      if (written != content) content = written.substr(0, random() % (written.size() + 1));
    }
    kept[name] = content;
  }
  for (const auto& [name, inode] : now) fs::remove(folder_ + "/" + name);
  synced_names_.clear();
  synced_contents_.clear();
  for (const auto& [name, content] : kept) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    synced_names_[name] = InodeOf(path);
    synced_contents_[InodeOf(path)] = content;
  }
}

}  // namespace curator::ledger

using curator::ledger::FailingFolder;

namespace {

int Fail(int error_number) {
  errno = error_number;
  return -1;
}

int SyncUnlessStruck(int descriptor, long number) {
  FailingFolder* const folder = FailingFolder::Of(descriptor);
  if (folder == nullptr) return static_cast<int>(syscall(number, descriptor));
  if (const int error = folder->Strike(); error != 0) return Fail(error);
  folder->Sync(descriptor);
  return 0;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (FailingFolder* const folder = FailingFolder::Of(descriptor); folder != nullptr) {
    if (folder->KillsNow()) syscall(SYS_write, descriptor, bytes, size / 2);
    if (const int error = folder->Strike(); error != 0) return Fail(error);
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  if (FailingFolder* const folder = FailingFolder::Of(descriptor); folder != nullptr) {
    if (folder->KillsNow()) syscall(SYS_pwrite64, descriptor, bytes, size / 2, offset);
    if (const int error = folder->Strike(); error != 0) return Fail(error);
  }
  return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return pwrite64(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
  return SyncUnlessStruck(descriptor, SYS_fsync);
}

int fdatasync(int descriptor) {
  return SyncUnlessStruck(descriptor, SYS_fdatasync);
}

int ftruncate(int descriptor, off_t size) noexcept {
  if (FailingFolder* const folder = FailingFolder::Of(descriptor); folder != nullptr) {
    if (const int error = folder->Strike(); error != 0) return Fail(error);
  }
  return static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

int rename(const char* from, const char* to) noexcept {
  if (FailingFolder* const folder = FailingFolder::Of(from); folder != nullptr) {
    if (const int error = folder->Strike(); error != 0) return Fail(error);
  }
  return static_cast<int>(syscall(SYS_rename, from, to));
}

}  // extern "C"
