// The certificate files of a listener, read again when they change. They lie in one folder that is replaced
// as a whole, by swapping a symbolic link, so that a key is never seen beside the certificate of another.
//
// What does not fit is refused at start. Later it is reported, and the authorities stay as they were: of
// the listener's own certificate and key gRPC itself reads the new files, and new connections fail while
// they do not fit each other.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "auth/certificate.h"
#include "base/periodic.h"

namespace curator::auth {

class CertificateFiles {
 public:
  struct Paths {
    // Both empty for a listener whose TLS is haproxy's.
    std::string certificate = {};
    std::string key = {};
    std::string client_ca;
  };
  struct Options {
    std::chrono::milliseconds between_looks = std::chrono::seconds(10);
    std::function<absl::Time()> now = absl::Now;  // thread-safe
    // Called when the files were read again and are used (OK) or do not fit.
    std::function<void(const absl::Status& state)> report = [](const absl::Status&) {};
  };

  // Errors: INVALID_ARGUMENT that names the file and what is wrong.
  static absl::StatusOr<std::unique_ptr<CertificateFiles>> Open(Paths paths, Options options);
  ~CertificateFiles() = default;
  CertificateFiles(const CertificateFiles&) = delete;
  CertificateFiles& operator=(const CertificateFiles&) = delete;

  std::shared_ptr<const ClientAuthorities> authorities() const;
  // OK while the files are usable, as they were last read.
  absl::Status state() const;
  // When the listener's own certificate ends, as it was last read; none for a listener without one.
  std::optional<absl::Time> expires() const;

  // Reads the files. Blocks.
  void Look();

 private:
  CertificateFiles(Paths paths, Options options) : paths_(std::move(paths)), options_(std::move(options)) {}
  absl::Status Read(TlsFiles& files) const;

  const Paths paths_;
  const Options options_;
  std::mutex looking_;  // one reader at a time; before mutex_
  TlsFiles read_ ABSL_GUARDED_BY(looking_);
  mutable std::mutex mutex_;
  std::shared_ptr<const ClientAuthorities> authorities_ ABSL_GUARDED_BY(mutex_);
  absl::Status state_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Time> expires_ ABSL_GUARDED_BY(mutex_);
  std::optional<Periodic> watcher_;  // the last member: it uses the others
};

}  // namespace curator::auth
