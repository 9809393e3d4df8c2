#include "ledger/anchor/anchor_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::ledger {
namespace {

// Space for about a thousand records: zero bytes that are on the disk already, so that writing a record
// changes no metadata and its sync waits for nothing else.
constexpr size_t kSpareBytes = size_t{256} << 10;

absl::Status CannotWrite(const std::string& path, const char* step) {
  return ForOperators(
      absl::UnavailableError(absl::StrCat("cannot ", step, " the anchor ", path, ": ", std::strerror(errno),
                                          "; nothing is answered until it can be written")),
      {.message = "the ledger's anchor cannot be written: ask again with the same request id", .reason = ""});
}

absl::Status WriteAt(int descriptor, std::string_view bytes, size_t offset, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return CannotWrite(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

// A rename is durable only once the folder is synced.
absl::Status SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return CannotWrite(folder, "open the folder of");
  const absl::Status synced =
      fsync(descriptor) == 0 ? absl::OkStatus() : CannotWrite(folder, "fsync the folder of");
  close(descriptor);
  return synced;
}

std::optional<FileFacts> StatFrom(int folder, const char* path, int flags) {
  struct statx found = {};
  if (statx(folder, path, flags | AT_STATX_SYNC_AS_STAT, STATX_INO | STATX_SIZE, &found) != 0) {
    return std::nullopt;
  }
  return FileFacts{.identity = {found.stx_dev_major, found.stx_dev_minor, found.stx_ino},
                   .size = found.stx_size};
}

}  // namespace

std::optional<FileFacts> StatFile(const std::string& path) {
  return StatFrom(AT_FDCWD, path.c_str(), 0);
}

std::optional<FileFacts> StatFile(int descriptor) {
  return StatFrom(descriptor, "", AT_EMPTY_PATH);
}

AnchorFile::AnchorFile(std::string_view folder, std::string_view name, std::string_view ledger_uuid)
    : folder_(folder),
      path_(absl::StrCat(folder_, "/", std::string(name))),
      ledger_uuid_(ledger_uuid),
      log_(ledger_uuid) {}

AnchorFile::~AnchorFile() {
  Close();
}

void AnchorFile::Close() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

bool AnchorFile::IsInPlace() const {
  // A record written beyond the end of a truncated file could not be read back.
  const std::optional<FileFacts> found = StatFile(path_);
  return found.has_value() && found->identity == identity_ && found->size >= capacity_;
}

absl::Status AnchorFile::Start() {
  Close();
  const AnchorState whole = log_.state();
  log_ = AnchorLog(ledger_uuid_);
  std::string content = log_.Append(whole);
  // As much space as the state takes: a large state is written again only after as much has been appended.
  const size_t spare = std::max(kSpareBytes, content.size());
  capacity_ = (content.size() + spare) / kAnchorBlockBytes * kAnchorBlockBytes;
  content.resize(capacity_, '\0');
  const std::string draft = absl::StrCat(path_, ".draft");
  const int descriptor = open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return CannotWrite(draft, "create");
  absl::Status written = WriteAt(descriptor, content, 0, draft);
  if (written.ok() && fsync(descriptor) != 0) written = CannotWrite(draft, "fsync");
  const std::optional<FileFacts> started = StatFile(descriptor);
  if (written.ok() && !started.has_value()) written = CannotWrite(draft, "examine");
  if (written.ok() && rename(draft.c_str(), path_.c_str()) != 0) written = CannotWrite(path_, "replace");
  if (written.ok()) written = SyncFolder(folder_);
  if (!written.ok()) {
    close(descriptor);
    return written;
  }
  descriptor_ = descriptor;
  identity_ = started->identity;
  return absl::OkStatus();
}

absl::Status AnchorFile::Append(const AnchorState& change) {
  const size_t end = log_.end();
  const std::string record = log_.Append(change);
  if (descriptor_ < 0 || log_.end() > capacity_ || !IsInPlace()) return Start();
  absl::Status written = WriteAt(descriptor_, record, end, path_);
  if (written.ok() && fdatasync(descriptor_) != 0) written = CannotWrite(path_, "fsync");
  // After a failed write or sync the content is unknown: the next change replaces the file.
  if (!written.ok()) Close();
  return written;
}

}  // namespace curator::ledger
