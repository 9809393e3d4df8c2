#include "records/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::records {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr char kMakingSuffix[] = ".making";

absl::Status SystemError(std::string_view action, const std::filesystem::path& path, int error) {
  return ForOperators(
      absl::UnavailableError(absl::StrCat("cannot ", std::string(action), " ", path.string(), ": ",
                                          std::generic_category().message(error))),
      {.message = "the server cannot use its files now: ask again with the same request id", .reason = ""});
}

absl::Status Damaged(const std::string& message) {
  return ForOperators(
      absl::DataLossError(message),
      {.message = "a file of the server is damaged: its operator must restore it", .reason = ""});
}

int FlockWaiting(int descriptor, int operation) {
  int result = 0;
  do {
    result = flock(descriptor, operation);
  } while (result != 0 && errno == EINTR);
  return result;
}

// Still reachable by its name: it was not removed between opening and locking.
bool HasName(int descriptor) {
  struct stat facts;
  return fstat(descriptor, &facts) == 0 && facts.st_nlink > 0;
}

bool IsInTheMaking(const std::filesystem::path& path) {
  return path.extension() == kMakingSuffix;
}

// Unique among running processes: it has the process id and a counter.
std::filesystem::path MakingPath(const std::filesystem::path& final_path) {
  static std::atomic<uint64_t> count{0};
  return absl::StrCat(final_path.string(), ".", getpid(), "-", count.fetch_add(1), kMakingSuffix);
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<File> File::OpenForReading(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT)
    return absl::NotFoundError(absl::StrCat("there is no file ", path.string()));
  if (descriptor < 0) return SystemError("open", path, errno);
  return File(descriptor, path);
}

absl::StatusOr<int64_t> File::Size() const {
  struct stat facts;
  if (fstat(descriptor_, &facts) != 0) return SystemError("inspect", path_, errno);
  return static_cast<int64_t>(facts.st_size);
}

absl::Status File::Read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("read", path_, errno);
    if (count == 0) return Damaged(absl::StrCat(path_.string(), " is shorter than it should be"));
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status File::Skip(int64_t bytes) {
  return lseek(descriptor_, bytes, SEEK_CUR) >= 0 ? absl::OkStatus() : SystemError("read", path_, errno);
}

absl::StatusOr<std::unique_ptr<PendingFile>> PendingFile::Create(const std::filesystem::path& final_path) {
  while (true) {
    const std::filesystem::path path = MakingPath(final_path);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return SystemError("create", path, errno);
    File file(descriptor, path);
    if (FlockWaiting(descriptor, LOCK_EX) != 0) return SystemError("lock", path, errno);
    if (!HasName(descriptor)) continue;  // taken for abandoned before the lock was on it
    return std::unique_ptr<PendingFile>(new PendingFile(std::move(file), final_path));
  }
}

PendingFile::~PendingFile() {
  if (!is_committed_) unlink(file_.path_.c_str());
}

absl::Status PendingFile::Write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file_.descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("write", file_.path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status PendingFile::Commit() {
  if (fsync(file_.descriptor_) != 0) return SystemError("sync", file_.path_, errno);
  if (rename(file_.path_.c_str(), final_path_.c_str()) != 0) return SystemError("rename", file_.path_, errno);
  is_committed_ = true;
  return SyncFolder(final_path_.parent_path());
}

absl::StatusOr<FolderLock> FolderLock::Take(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "lock";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (descriptor < 0) return SystemError("open", path, errno);
  File file(descriptor, path);
  if (FlockWaiting(descriptor, LOCK_EX) != 0) return SystemError("lock", path, errno);
  return FolderLock(std::move(file));
}

absl::Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return absl::OkStatus();
  const std::filesystem::path parent = std::filesystem::absolute(folder, error).parent_path();
  if (parent != folder) RETURN_IF_ERROR(MakeFolder(parent));
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return SystemError("make the folder", folder, errno);
  if (!std::filesystem::is_directory(folder, error)) return SystemError("make the folder", folder, ENOTDIR);
  return SyncFolder(parent);
}

absl::Status SyncFolder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError("open the folder", folder, errno);
  const int result = fsync(descriptor);
  const int error = errno;
  close(descriptor);
  return result == 0 ? absl::OkStatus() : SystemError("sync the folder", folder, error);
}

absl::StatusOr<bool> Exists(const std::filesystem::path& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error) return SystemError("inspect", path, error.value());
  return exists;
}

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path, int64_t max_bytes) {
  ASSIGN_OR_RETURN(File file, File::OpenForReading(path));
  ASSIGN_OR_RETURN(const int64_t size, file.Size());
  if (size > max_bytes) return Damaged(absl::StrCat(path.string(), " is larger than it can be"));
  std::string bytes(static_cast<size_t>(size), '\0');
  RETURN_IF_ERROR(file.Read(std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

absl::Status RemoveAbandoned(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsInTheMaking(entry->path())) continue;
    const int descriptor = open(entry->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;  // committed or removed meanwhile
    // The process that writes the file holds a lock on it, which ends with the process.
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(entry->path().c_str());
    close(descriptor);
  }
  return error ? SystemError("list", folder, error.value()) : absl::OkStatus();
}

struct Digest::Context {
  EVP_MD_CTX* state = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(state); }
};

Digest::Digest() : context_(std::make_unique<Context>()) {
  if (context_->state == nullptr || EVP_DigestInit_ex(context_->state, EVP_sha256(), nullptr) != 1)
    std::abort();
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;

void Digest::Add(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()) != 1) std::abort();
}

std::string Digest::Finish() {
  std::string digest(kDigestBytes, '\0');
  if (EVP_DigestFinal_ex(context_->state, reinterpret_cast<unsigned char*>(digest.data()), nullptr) != 1)
    std::abort();
  return digest;
}

}  // namespace curator::records
