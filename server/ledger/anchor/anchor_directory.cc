#include "ledger/anchor/anchor_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

absl::Status CannotWrite(const std::string& path, const char* step) {
  return absl::UnavailableError(absl::StrCat("cannot ", step, " the anchor ", path, ": ",
                                             std::strerror(errno),
                                             "; nothing is answered until it can be written"));
}

absl::Status WriteAll(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return CannotWrite(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// A renamed file is only there for good once its folder is.
absl::Status SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return CannotWrite(folder, "open the folder of");
  const absl::Status synced =
      fsync(descriptor) == 0 ? absl::OkStatus() : CannotWrite(folder, "fsync the folder of");
  close(descriptor);
  return synced;
}

}  // namespace

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
        absl::StrCat("the anchor folder ", anchor->directory_, " cannot be made: ", error.message()));
  }
  RETURN_IF_ERROR(anchor->TakeFile());
  ASSIGN_OR_RETURN(const AnchorState known, anchor->Read());
  RETURN_IF_ERROR(anchor->RaiseTo(known));
  return anchor;
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
    if (flock(lock_descriptor_, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
    close(lock_descriptor_);
    lock_descriptor_ = -1;
  }
  return absl::FailedPreconditionError(absl::StrCat("every anchor file in ", directory_, " is in use"));
}

absl::StatusOr<AnchorState> AnchorDirectory::Read() {
  const std::scoped_lock lock(mutex_);
  RETURN_IF_ERROR(ReadOthers());
  AnchorState all = own_;
  for (const auto& [name, file] : others_) RETURN_IF_ERROR(Raise(all, file.state));
  return all;
}

absl::Status AnchorDirectory::ReadOthers() {
  std::error_code error;
  std::filesystem::directory_iterator files(directory_, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    // Its own file is read once, when it is taken; from then on memory is ahead of it.
    if (name == own_name_ && own_generation_ > 0) continue;
    if (absl::StartsWith(name, absl::StrCat(ledger_uuid_, ".")) && absl::EndsWith(name, kSuffix)) {
      RETURN_IF_ERROR(ReadOneFile(name));
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("the anchor folder ", directory_, " cannot be read: ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status AnchorDirectory::ReadOneFile(const std::string& name) {
  const std::string path = absl::StrCat(directory_, "/", name);
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot read the anchor ", path, ": ", std::strerror(errno)));
  }
  const int64_t modified_ns = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  const auto known = others_.find(name);
  if (known != others_.end() && known->second.inode == status.st_ino &&
      known->second.modified_ns == modified_ns) {
    return absl::OkStatus();
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return absl::UnavailableError(absl::StrCat("cannot read the anchor ", path));
  absl::StatusOr<AnchorState> state = ParseAnchorText(ledger_uuid_, text.str());
  if (!state.ok()) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", std::string(state.status().message()),
                     ". Put the file back from where it was kept, or, when another file "
                     "of this folder vouches for the newest charges, move it away"));
  }
  others_[name] = {status.st_ino, modified_ns, *std::move(state)};
  return absl::OkStatus();
}

absl::Status AnchorDirectory::RaiseTo(const AnchorState& state) {
  std::unique_lock lock(mutex_);
  AnchorState raised = own_;
  RETURN_IF_ERROR(Raise(raised, state));
  if (own_generation_ == 0 || !(raised == own_)) {
    own_ = std::move(raised);
    ++own_generation_;
  }
  const int64_t wanted = own_generation_;
  while (durable_generation_ < wanted) {
    if (writing_) {
      written_.wait(lock);
      continue;
    }
    writing_ = true;
    const AnchorState snapshot = own_;
    const int64_t generation = own_generation_;
    lock.unlock();
    const absl::Status written = WriteFile(snapshot);
    lock.lock();
    writing_ = false;
    if (written.ok()) durable_generation_ = generation;
    written_.notify_all();
    RETURN_IF_ERROR(written);
  }
  return absl::OkStatus();
}

absl::Status AnchorDirectory::WriteFile(const AnchorState& state) const {
  const std::string path = absl::StrCat(directory_, "/", own_name_);
  const std::string draft = absl::StrCat(path, ".draft");
  const int descriptor = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return CannotWrite(draft, "create");
  absl::Status written = WriteAll(descriptor, AnchorText(ledger_uuid_, state), draft);
  if (written.ok() && fsync(descriptor) != 0) written = CannotWrite(draft, "fsync");
  if (close(descriptor) != 0 && written.ok()) written = CannotWrite(draft, "close");
  if (written.ok() && rename(draft.c_str(), path.c_str()) != 0) written = CannotWrite(path, "replace");
  RETURN_IF_ERROR(written);
  return SyncFolder(directory_);
}

}  // namespace curator::ledger
