#include "metrics/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::metrics {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::FailedPreconditionError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

absl::Status WriteAll(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWrite(path);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsFile>> MetricsFile::Open(Options options) {
  std::unique_ptr<MetricsFile> file(new MetricsFile(std::move(options)));
  RETURN_IF_ERROR(file->Write());
  file->writes_ = std::make_unique<Periodic>(file->options_.between_writes, [written = file.get()] {
    absl::Status status = written->Write();
    if (status.code() != written->last_.code()) written->options_.report(status);
    written->last_ = std::move(status);
  });
  return file;
}

MetricsFile::~MetricsFile() {
  if (writes_ == nullptr) return;
  writes_.reset();
  std::remove(options_.path.c_str());
}

absl::Status MetricsFile::Write() const {
  const std::string text = options_.text();
  const std::string beside = absl::StrCat(options_.path, ".new");
  constexpr mode_t kOwnerAndGroup = S_IRUSR | S_IWUSR | S_IRGRP;
  const int descriptor =
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kOwnerAndGroup);
  if (descriptor < 0) return CannotWrite(beside);
  // The process creates files that nobody else may read.
  absl::Status written =
      fchmod(descriptor, kOwnerAndGroup) == 0 ? WriteAll(descriptor, text, beside) : CannotWrite(beside);
  // A network file system may say only now that it has no room.
  if (close(descriptor) != 0 && written.ok()) written = CannotWrite(beside);
  if (written.ok() && std::rename(beside.c_str(), options_.path.c_str()) != 0)
    written = CannotWrite(options_.path);
  if (!written.ok()) unlink(beside.c_str());
  return written;
}

}  // namespace curator::metrics
