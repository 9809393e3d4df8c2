#include "host/server_key.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "host/entropy.h"
#include "host/uuid.h"

namespace curator::host {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("server key: cannot ", std::string(what), " ", path, ": ", std::strerror(errno)));
}

absl::Status CheckOwnership(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Failed("examine", path);
  if (!S_ISREG(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("server key: ", path, " is no regular file"));
  }
  if (info.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat("server key: ", path, " belongs to another user"));
  }
  if ((info.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("server key: ", path, " is open to group or others; chmod 600 it"));
  }
  if (info.st_size != static_cast<off_t>(kSecretSize)) {
    return absl::DataLossError(
        absl::StrCat("server key: ", path, " is ", info.st_size, " bytes long instead of ", kSecretSize));
  }
  return absl::OkStatus();
}

absl::StatusOr<Secret> Read(int fd, const std::string& path) {
  RETURN_IF_ERROR(CheckOwnership(fd, path));
  Secret::Bytes bytes;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed("read", path);
    done += static_cast<size_t>(count);
  }
  Secret secret(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return secret;
}

absl::Status WriteDurably(int fd, std::span<const uint8_t> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed("write", path);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return fsync(fd) == 0 ? absl::OkStatus() : Failed("write", path);
}

absl::Status SyncFolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder.push_back('.');
  const FileDescriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || fsync(fd.get()) != 0) return Failed("write", folder);
  return absl::OkStatus();
}

// Writes a new key under another name and links it to `path`, which fails, harmlessly, if a key has come
// there meanwhile.
absl::Status Create(const std::string& path) {
  const std::string draft = absl::StrCat(path, ".", NewUuid());
  const FileDescriptor fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.ok()) return Failed("create", path);
  Secret::Bytes bytes;
  FillWithEntropy(bytes);
  absl::Status status = WriteDurably(fd.get(), bytes, path);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  if (status.ok() && link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST)
    status = Failed("create", path);
  unlink(draft.c_str());
  RETURN_IF_ERROR(status);
  return SyncFolderOf(path);
}

}  // namespace

Secret::~Secret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

Secret Derive(const Secret& key, std::string_view purpose) {
  Secret::Bytes derived;
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.bytes().data(), static_cast<int>(kSecretSize),
           reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size(), derived.data(),
           &size) == nullptr ||
      size != kSecretSize) {
    std::fputs("curator: no HMAC-SHA-256\n", stderr);
    std::abort();
  }
  const Secret result(derived);
  OPENSSL_cleanse(derived.data(), derived.size());
  return result;
}

absl::StatusOr<ServerKey> ServerKey::OpenOrCreate(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) RETURN_IF_ERROR(Create(path));
  const FileDescriptor fd(open(path.c_str(), kFlags));
  if (!fd.ok() && errno == ELOOP) {
    return absl::FailedPreconditionError(absl::StrCat("server key: ", path, " is no regular file"));
  }
  if (!fd.ok()) return Failed("open", path);
  ASSIGN_OR_RETURN(const Secret secret, Read(fd.get(), path));
  return ServerKey(secret);
}

}  // namespace curator::host
