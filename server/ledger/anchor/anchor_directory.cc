#include "ledger/anchor/anchor_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::ledger {
namespace {

constexpr char kSuffix[] = ".anchor";

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "host";
  std::string host;
  for (const char* c = name; *c != '\0'; ++c) {
    host.push_back(std::isalnum(static_cast<unsigned char>(*c)) != 0 || *c == '-' ? *c : '_');
  }
  return host.empty() ? "host" : host;
}

absl::Status CannotRead(const std::string& path) {
  return ForOperators(
      absl::UnavailableError(absl::StrCat("cannot read the anchor ", path, ": ", std::strerror(errno))),
      {.message = "the ledger's anchor cannot be read: ask again with the same request id", .reason = ""});
}

absl::Status CannotReadFolder(const std::string& directory, const std::error_code& error) {
  return ForOperators(
      absl::UnavailableError(
          absl::StrCat("the anchor folder ", directory, " cannot be read: ", error.message())),
      {.message = "the ledger's anchor cannot be read: ask again with the same request id", .reason = ""});
}

// `status` of a damaged file, with its name and the remedy.
absl::Status Damaged(const std::string& path, const absl::Status& status) {
  return ForOperators(
      absl::DataLossError(absl::StrCat(
          path, ": ", std::string(status.message()),
          ". Restore the file from a copy, or, if another file of this folder covers the newest "
          "charges, stop the servers of this ledger, move the damaged file away and start them again")),
      {.message = "the ledger's anchor is damaged: its operator must restore it", .reason = ""});
}

}  // namespace

// Keeps its reading position. The file grows in place and is sometimes replaced by a new one.
class AnchorDirectory::OtherFile {
 public:
  OtherFile(std::string_view path, std::string_view ledger_uuid)
      : path_(path), ledger_uuid_(ledger_uuid), log_(ledger_uuid) {}
  ~OtherFile() { Close(); }
  OtherFile(const OtherFile&) = delete;
  OtherFile& operator=(const OtherFile&) = delete;

  absl::Status Refresh() {
    const std::optional<FileFacts> named = StatFile(path_);
    if (!named.has_value()) return CannotRead(path_);
    if (descriptor_ >= 0 && named->identity == identity_) {
      return ReadUntilSettled([this] { return log_.end(); },
                              [this](const std::string& added) { return log_.Extend(added); });
    }
    Close();
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const std::optional<FileFacts> opened = descriptor_ < 0 ? std::nullopt : StatFile(descriptor_);
    if (!opened.has_value()) return CannotRead(path_);
    identity_ = opened->identity;
    const absl::Status read =
        ReadUntilSettled([] { return size_t{0}; },
                         [this](const std::string& whole) -> absl::Status {
                           ASSIGN_OR_RETURN(log_, AnchorLog::Parse(ledger_uuid_, whole));
                           return absl::OkStatus();
                         });
    if (!read.ok()) Close();
    return read;
  }
  const AnchorState& state() const { return log_.state(); }

 private:
  // Passes the file's bytes from `offset()` on to `take`. Its server may write meanwhile, so that the end of
  // a write is visible before its beginning: bytes that look damaged are read again, and are damaged only if
  // they stay the same. (Writes go forward: an interrupted one leaves its beginning and then zero bytes,
  // which is not damage.)
  template <typename Offset, typename Take>
  absl::Status ReadUntilSettled(Offset offset, Take take) {
    std::optional<std::string> before;
    while (true) {
      ASSIGN_OR_RETURN(std::string bytes, ReadFrom(offset()));
      const absl::Status taken = take(bytes);
      if (!absl::IsDataLoss(taken)) return taken;
      if (bytes == before) return Damaged(path_, taken);
      before = std::move(bytes);
    }
  }

  // The bytes of the file from `offset` on; one block of them when it begins with a zero byte, because no
  // record follows.
  absl::StatusOr<std::string> ReadFrom(size_t offset) const {
    std::string bytes;
    while (true) {
      char block[kAnchorBlockBytes];
      const ssize_t got = pread(descriptor_, block, sizeof(block), static_cast<off_t>(offset + bytes.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return CannotRead(path_);
      bytes.append(block, static_cast<size_t>(got));
      const bool is_known = offset > 0;
      if (got == 0 || (is_known && bytes.front() == '\0')) return bytes;
    }
  }
  void Close() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  }

  const std::string path_;
  const std::string ledger_uuid_;
  AnchorLog log_;
  int descriptor_ = -1;
  FileIdentity identity_;
};

AnchorDirectory::AnchorDirectory(std::string_view directory, std::string_view ledger_uuid)
    : directory_(directory), ledger_uuid_(ledger_uuid) {}

AnchorDirectory::~AnchorDirectory() {
  if (lock_descriptor_ >= 0) close(lock_descriptor_);
}

absl::StatusOr<std::unique_ptr<AnchorDirectory>> AnchorDirectory::Open(std::string_view directory,
                                                                       std::string_view ledger_uuid) {
  std::unique_ptr<AnchorDirectory> anchor(new AnchorDirectory(directory, ledger_uuid));
  std::error_code error;
  std::filesystem::create_directories(anchor->directory_, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("the anchor folder ", anchor->directory_, " cannot be created: ", error.message()));
  }
  RETURN_IF_ERROR(anchor->TakeFile());
  ASSIGN_OR_RETURN(const AnchorState known, anchor->Read());
  RETURN_IF_ERROR(anchor->RaiseTo(known));
  return anchor;
}

absl::StatusOr<AnchorState> AnchorDirectory::ReadOnly(std::string_view directory,
                                                      std::string_view ledger_uuid) {
  std::error_code error;
  if (!std::filesystem::exists(std::string(directory), error)) return AnchorState();
  AnchorDirectory anchor(directory, ledger_uuid);
  return anchor.Read();
}

absl::StatusOr<std::set<std::string>> AnchorDirectory::LedgersIn(std::string_view directory) {
  std::set<std::string> ledgers;
  std::error_code error;
  std::filesystem::directory_iterator files(std::string(directory), error);
  if (error == std::errc::no_such_file_or_directory) return ledgers;
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    const size_t dot = name.find('.');
    if (dot != std::string::npos && absl::EndsWith(name, kSuffix)) ledgers.insert(name.substr(0, dot));
  }
  if (error) return CannotReadFolder(std::string(directory), error);
  return ledgers;
}

absl::Status AnchorDirectory::TakeFile() {
  constexpr int kMostServers = 1000;
  for (int n = 0; n < kMostServers; ++n) {
    own_name_ = absl::StrCat(ledger_uuid_, ".", HostName(), "-", n, kSuffix);
    const std::string lock_path = absl::StrCat(directory_, "/", own_name_, ".lock");
    lock_descriptor_ = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock_descriptor_ < 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("the anchor folder ", directory_, " cannot be written: ", std::strerror(errno)));
    }
    if (flock(lock_descriptor_, LOCK_EX | LOCK_NB) == 0) {
      file_ = std::make_unique<AnchorFile>(directory_, own_name_, ledger_uuid_);
      return absl::OkStatus();
    }
    close(lock_descriptor_);
    lock_descriptor_ = -1;
  }
  return absl::FailedPreconditionError(absl::StrCat("every anchor file in ", directory_, " is in use"));
}

absl::StatusOr<AnchorState> AnchorDirectory::Read() {
  const std::scoped_lock lock(mutex_);
  RETURN_IF_ERROR(ReadOthers());
  AnchorState all = own_;
  for (const auto& [name, file] : others_) RETURN_IF_ERROR(Raise(all, file->state()));
  return all;
}

absl::Status AnchorDirectory::Refresh() {
  const std::scoped_lock lock(mutex_);
  return ReadOthers();
}

absl::StatusOr<ChainHead> AnchorDirectory::HeadOf(const std::string& dataset_id) const {
  const std::scoped_lock lock(mutex_);
  ASSIGN_OR_RETURN(ChainHead highest, StateView(own_).HeadOf(dataset_id));
  for (const auto& [name, file] : others_) {
    ASSIGN_OR_RETURN(ChainHead head, StateView(file->state()).HeadOf(dataset_id));
    RETURN_IF_ERROR(CheckAgree(dataset_id, highest, head));
    if (head.seq > highest.seq) highest = std::move(head);
  }
  return highest;
}

int64_t AnchorDirectory::SpentOf(const CounterKey& key) const {
  const std::scoped_lock lock(mutex_);
  int64_t most = StateView(own_).SpentOf(key);
  for (const auto& [name, file] : others_) most = std::max(most, StateView(file->state()).SpentOf(key));
  return most;
}

int64_t AnchorDirectory::OwnSeqOf(const std::string& dataset_id) const {
  const std::scoped_lock lock(mutex_);
  return StateView(own_).OwnSeqOf(dataset_id);
}

absl::StatusOr<bool> AnchorDirectory::MayHaveOtherFiles() {
  // A folder's time changes with its list of files. The clock of a file system advances in steps of up to 10
  // ms, so a file may be added without changing a recent time: the list is read until the time is older.
  constexpr auto kLongestTick = std::chrono::milliseconds(50);
  struct stat status = {};
  if (stat(directory_.c_str(), &status) != 0) return CannotRead(directory_);
  const FolderTime seen = {status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  const auto now = std::chrono::steady_clock::now();
  if (seen != folder_time_) {
    folder_time_ = seen;
    folder_time_since_ = now;
    is_list_complete_ = false;
  }
  if (is_list_complete_) return false;
  is_list_complete_ = now - folder_time_since_ > kLongestTick;
  return true;
}

absl::Status AnchorDirectory::ReadOthers() {
  ASSIGN_OR_RETURN(const bool may_have_others, MayHaveOtherFiles());
  if (may_have_others) RETURN_IF_ERROR(ListOthers());
  // A file that disappeared stays in the list and is an error: its state is not dropped while this runs.
  for (const auto& [name, file] : others_) RETURN_IF_ERROR(file->Refresh());
  return absl::OkStatus();
}

absl::Status AnchorDirectory::ListOthers() {
  std::error_code error;
  std::filesystem::directory_iterator files(directory_, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    // Its own file is read once, when it is taken; from then on the state in memory is ahead of it.
    if (name == own_name_ && has_begun_) continue;
    if (absl::StartsWith(name, absl::StrCat(ledger_uuid_, ".")) && absl::EndsWith(name, kSuffix)) {
      std::unique_ptr<OtherFile>& file = others_[name];
      if (file == nullptr) file = std::make_unique<OtherFile>(files->path().string(), ledger_uuid_);
    }
  }
  return error ? CannotReadFolder(directory_, error) : absl::OkStatus();
}

absl::Status AnchorDirectory::RaiseTo(const AnchorState& state) {
  ASSIGN_OR_RETURN(const int64_t point, Add(state));
  return MakeDurable(point);
}

absl::StatusOr<int64_t> AnchorDirectory::Add(const AnchorState& state) {
  const std::scoped_lock lock(mutex_);
  const AnchorState missing = Missing(own_, state);
  RETURN_IF_ERROR(Raise(own_, state));
  if (!has_begun_ || !(missing == AnchorState())) {
    RETURN_IF_ERROR(Raise(unwritten_, missing));
    has_begun_ = true;
    others_.erase(own_name_);
    ++own_generation_;
  }
  return own_generation_;
}

bool AnchorDirectory::IsDurable(const std::string& dataset_id, int64_t seq) const {
  const std::scoped_lock lock(mutex_);
  const auto known = durable_seqs_.find(dataset_id);
  return known != durable_seqs_.end() && known->second >= seq;
}

int64_t AnchorDirectory::EntriesBehind(const std::string& dataset_id) const {
  const std::scoped_lock lock(mutex_);
  const auto own = own_.heads.find(dataset_id);
  if (own == own_.heads.end()) return 0;
  const auto durable = durable_seqs_.find(dataset_id);
  return own->second.seq - (durable == durable_seqs_.end() ? 0 : durable->second);
}

absl::Status AnchorDirectory::MakeDurable(int64_t point) noexcept {
  std::unique_lock lock(mutex_);
  while (durable_generation_ < point) {
    if (writing_) {
      written_.wait(lock);
      continue;
    }
    writing_ = true;
    const AnchorState change = std::exchange(unwritten_, {});
    const int64_t generation = own_generation_;
    lock.unlock();
    const absl::Status written = file_->Append(change);
    lock.lock();
    writing_ = false;
    if (written.ok()) {
      durable_generation_ = generation;
      for (const auto& [dataset_id, head] : change.heads) durable_seqs_[dataset_id] = head.seq;
    } else {
      // The next write covers it too. It cannot contradict what came since: own_ has both.
      Raise(unwritten_, change).IgnoreError();
    }
    written_.notify_all();
    RETURN_IF_ERROR(written);
  }
  return absl::OkStatus();
}

}  // namespace curator::ledger
