#include "tests/ledger/forgetful_disk.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>

namespace curator::ledger {

namespace fs = std::filesystem;

// What SQLite allocates for an open file: this, and behind it the real VFS's own.
struct ForgetfulDisk::File {
  sqlite3_file base;
  ForgetfulDisk* disk;
  const std::string* path;  // null for temporary files, which nothing survives
  bool syncs_folder;        // with its next sync, as SQLite does for new logs and journals
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

struct ForgetfulDisk::Methods {
  static File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* Real(sqlite3_file* file) { return Of(file).real(); }
  static ForgetfulDisk& Disk(sqlite3_vfs* vfs) { return *static_cast<ForgetfulDisk*>(vfs->pAppData); }

  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* opened, int flags, int* out_flags) {
    ForgetfulDisk& disk = Disk(vfs);
    File& file = Of(opened);
    file.base.pMethods = nullptr;
    file.disk = &disk;
    file.path = nullptr;
    file.syncs_folder = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    const bool is_lasting =
        (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0 && name != nullptr;
    const bool was_there = is_lasting && fs::exists(name);
    const int code = disk.real_->xOpen(disk.real_, name, file.real(), flags, out_flags);
    if (code != SQLITE_OK) return code;
    file.base.pMethods = &kMethods;
    if (!is_lasting) return SQLITE_OK;
    const std::scoped_lock lock(disk.mutex_);
    const auto [content, is_new] = disk.contents_.try_emplace(name);
    file.path = &content->first;
    if (is_new && was_there) content->second = {true, false, ContentOf(name), {}};
    content->second.is_deleted = false;
    return SQLITE_OK;
  }
  static int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    ForgetfulDisk& disk = Disk(vfs);
    const std::scoped_lock lock(disk.mutex_);
    if (const int code = disk.Count(); code != SQLITE_OK) return code;
    const int code = disk.real_->xDelete(disk.real_, name, sync_folder);
    const auto content = disk.contents_.find(name);
    if (code != SQLITE_OK || content == disk.contents_.end()) return code;
    if (sync_folder != 0 && !disk.pretends_to_sync_) {
      content->second = {};
    } else {
      // The name may come back, with the content or without.
      content->second.is_deleted = true;
      content->second.unsynced.push_back({0, {}});
    }
    return SQLITE_OK;
  }

  static int Close(sqlite3_file* file) {
    const int code = Real(file)->pMethods->xClose(Real(file));
    file->pMethods = nullptr;
    return code;
  }
  static int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    ForgetfulDisk& disk = *Of(file).disk;
    const std::scoped_lock lock(disk.mutex_);
    const int failure = disk.Count();
    if (Of(file).path != nullptr && (failure == SQLITE_OK || disk.loses_power_)) {
      // What the loss of power interrupts may be there in part.
      disk.contents_[*Of(file).path].unsynced.push_back(
          {offset, std::string(static_cast<const char*>(bytes), static_cast<size_t>(size))});
    }
    return failure != SQLITE_OK ? failure : Real(file)->pMethods->xWrite(Real(file), bytes, size, offset);
  }
  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    ForgetfulDisk& disk = *Of(file).disk;
    const std::scoped_lock lock(disk.mutex_);
    if (const int failure = disk.Count(); failure != SQLITE_OK) return failure;
    if (Of(file).path != nullptr) disk.contents_[*Of(file).path].unsynced.push_back({size, {}});
    return Real(file)->pMethods->xTruncate(Real(file), size);
  }
  static int Sync(sqlite3_file* file, int) {
    ForgetfulDisk& disk = *Of(file).disk;
    const std::scoped_lock lock(disk.mutex_);
    if (const int failure = disk.Count(); failure != SQLITE_OK) return failure;
    if (Of(file).path == nullptr || disk.pretends_to_sync_) return SQLITE_OK;
    Content& content = disk.contents_[*Of(file).path];
    for (const UnsyncedWrite& write : content.unsynced) Apply(content.synced, write);
    content.unsynced.clear();
    content.is_kept = true;
    if (Of(file).syncs_folder) disk.SyncFolderOf(*Of(file).path);
    Of(file).syncs_folder = false;
    return SQLITE_OK;
  }

  static int Read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
    return Real(file)->pMethods->xRead(Real(file), bytes, size, offset);
  }
  static int FileSize(sqlite3_file* file, sqlite3_int64* size) {
    return Real(file)->pMethods->xFileSize(Real(file), size);
  }
  static int Lock(sqlite3_file* file, int level) { return Real(file)->pMethods->xLock(Real(file), level); }
  static int Unlock(sqlite3_file* file, int level) {
    return Real(file)->pMethods->xUnlock(Real(file), level);
  }
  static int CheckReservedLock(sqlite3_file* file, int* is_locked) {
    return Real(file)->pMethods->xCheckReservedLock(Real(file), is_locked);
  }
  static int FileControl(sqlite3_file* file, int what, void* argument) {
    return Real(file)->pMethods->xFileControl(Real(file), what, argument);
  }
  static int SectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
  static int DeviceCharacteristics(sqlite3_file* file) {
    return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
  }
  static int ShmMap(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
    return Real(file)->pMethods->xShmMap(Real(file), page, size, extend, memory);
  }
  static int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
    return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
  }
  static void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
  static int ShmUnmap(sqlite3_file* file, int remove) {
    return Real(file)->pMethods->xShmUnmap(Real(file), remove);
  }

  // Version 2: with shared memory, without memory-mapped files, which would be written past xWrite.
  static constexpr sqlite3_io_methods kMethods = {2,
                                                  Close,
                                                  Read,
                                                  Write,
                                                  Truncate,
                                                  Sync,
                                                  FileSize,
                                                  Lock,
                                                  Unlock,
                                                  CheckReservedLock,
                                                  FileControl,
                                                  SectorSize,
                                                  DeviceCharacteristics,
                                                  ShmMap,
                                                  ShmLock,
                                                  ShmBarrier,
                                                  ShmUnmap,
                                                  nullptr,
                                                  nullptr};
};

ForgetfulDisk::ForgetfulDisk() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
  vfs_.pNext = nullptr;
  vfs_.zName = "forgetful";
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
  vfs_.xOpen = Methods::Open;
  vfs_.xDelete = Methods::Delete;
  sqlite3_vfs_register(&vfs_, 1);
}

ForgetfulDisk::~ForgetfulDisk() {
  sqlite3_vfs_unregister(&vfs_);
  sqlite3_vfs_register(real_, 1);
}

void ForgetfulDisk::FailAt(int64_t operation, int64_t times, int code) {
  const std::scoped_lock lock(mutex_);
  operations_left_ = operation;
  failures_left_ = times;
  failure_ = code;
  has_failed_ = false;
  loses_power_ = false;
}

void ForgetfulDisk::LosePowerAt(int64_t operation) {
  FailAt(operation, std::numeric_limits<int64_t>::max(), SQLITE_IOERR);
  const std::scoped_lock lock(mutex_);
  loses_power_ = true;
}

void ForgetfulDisk::PretendToSync() {
  const std::scoped_lock lock(mutex_);
  pretends_to_sync_ = true;
}

void ForgetfulDisk::SyncAgain() {
  const std::scoped_lock lock(mutex_);
  pretends_to_sync_ = false;
}

void ForgetfulDisk::Repair() {
  FailAt(-1, 0, SQLITE_OK);
}

bool ForgetfulDisk::has_failed() {
  const std::scoped_lock lock(mutex_);
  return has_failed_;
}

int ForgetfulDisk::Count() {
  if (operations_left_ > 0) {
    --operations_left_;
    return SQLITE_OK;
  }
  if (operations_left_ < 0 || failures_left_ == 0) return SQLITE_OK;
  --failures_left_;
  has_failed_ = true;
  return failure_;
}

void ForgetfulDisk::SyncFolderOf(const std::string& path) {
  for (auto& [name, content] : contents_) {
    if (content.is_deleted && fs::path(name).parent_path() == fs::path(path).parent_path()) content = {};
  }
}

void ForgetfulDisk::Apply(std::string& content, const UnsyncedWrite& write) {
  const auto offset = static_cast<size_t>(write.offset);
  if (write.bytes.empty()) {
    content.resize(std::min(content.size(), offset));
    return;
  }
  content.resize(std::max(content.size(), offset + write.bytes.size()));
  content.replace(offset, write.bytes.size(), write.bytes);
}

void ForgetfulDisk::ApplyTorn(std::string& content, const UnsyncedWrite& write, std::mt19937_64& random) {
  constexpr size_t kSector = 512;
  if (write.bytes.empty()) return Apply(content, write);
  for (size_t start = 0; start < write.bytes.size(); start += kSector) {
    if (random() % 2 == 0) continue;
    Apply(content, {write.offset + static_cast<int64_t>(start), write.bytes.substr(start, kSector)});
  }
}

std::string ForgetfulDisk::ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void ForgetfulDisk::RestorePower(uint64_t seed) {
  Repair();
  const std::scoped_lock lock(mutex_);
  std::mt19937_64 random(seed);
  for (auto& [path, content] : contents_) {
    fs::remove(path + "-shm");
    // All that was written had time to reach the disk, nothing had, or anything in between.
    const uint64_t kept_of_four = random() % 5;
    for (const UnsyncedWrite& write : content.unsynced) {
      if (random() % 4 >= kept_of_four) continue;
      content.is_kept = true;
      if (random() % 4 == 0) {
        ApplyTorn(content.synced, write, random);
      } else {
        Apply(content.synced, write);
      }
    }
    content.unsynced.clear();
    content.is_deleted = false;
    if (content.is_kept) {
      std::ofstream(path, std::ios::binary | std::ios::trunc) << content.synced;
    } else {
      fs::remove(path);
    }
  }
}

}  // namespace curator::ledger
