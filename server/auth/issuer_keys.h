// The issuers that a server trusts, and their keys, which it reads from files: the server itself connects to
// no issuer. Another program fetches the keys and writes the files (client/jwks).
//
// The file of an issuer is <folder>/<alias>.json: a key set (key_set.h) with two more members, "issuer",
// which must be its "iss", and "fetched_at", when its keys were fetched (RFC 3339). A file that changes is
// read within a second or so. Of one that cannot be read the last good content stays in use, until that is
// 24 hours old: then no token of the issuer is accepted any more.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "auth/jwt.h"
#include "auth/key_set.h"
#include "base/periodic.h"

namespace curator::auth {

class IssuerKeys {
 public:
  static constexpr absl::Duration kMostAge = absl::Hours(24);
  static constexpr absl::Duration kBetweenWakes = absl::Seconds(30);

  struct Options {
    std::string folder;
    std::chrono::milliseconds between_looks = std::chrono::seconds(1);
    std::function<absl::Time()> now = absl::Now;  // thread-safe
    // Asks for the keys of this issuer to be fetched; must not block. Called once in kBetweenWakes at most.
    std::function<void(const Issuer& issuer)> wake = [](const Issuer&) {};
    // A line for the log: what changed in a file; or, as a fault, why it is not used, or that the keys are
    // too old.
    std::function<void(const Issuer& issuer, std::string_view what, bool is_fault)> report =
        [](const Issuer&, std::string_view, bool) {};
  };

  IssuerKeys(std::vector<Issuer> issuers, Options options);
  ~IssuerKeys() = default;
  IssuerKeys(const IssuerKeys&) = delete;
  IssuerKeys& operator=(const IssuerKeys&) = delete;

  // Null for an issuer that is not trusted.
  const Issuer* Find(std::string_view issuer) const;
  // The key of this id. Errors (faults.h): NotAccepted(kInvalid) for an unknown id, after which the keys may
  // have been asked for; CannotTell() when there are no keys, or they are too old.
  absl::StatusOr<VerificationKey> FindKey(const Issuer& issuer, std::string_view kid);
  // OK when this key is still one of the issuer's. Errors as of FindKey().
  absl::Status CheckHas(const Issuer& issuer, std::string_view thumbprint) const;
  // OK while every issuer has keys that are not too old; else the fault of one.
  absl::Status State() const;
  // When the keys of each issuer in use were fetched, by its alias; the infinite past where it has none.
  std::map<std::string, absl::Time> FetchedAt() const;

  // Reads the files that have changed. Blocks.
  void Look();

 private:
  struct FileTime {
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    bool operator==(const FileTime&) const = default;
  };
  struct Known {
    Issuer issuer;
    FileTime read;                       // of the file that was read last, good or not
    std::shared_ptr<const KeySet> keys;  // null until a good file was read
    absl::Time fetched_at;
    std::optional<absl::Time> woken_at;
    bool was_fresh = true;  // when it was last looked at
  };

  void LookAt(Known& known);
  void ReportAge(Known& known);
  absl::Status CheckAge(const Known& known) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const Options options_;
  std::mutex looking_;  // one reader of the files at a time; before mutex_
  mutable std::mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;  // by "iss"; the keys do not change
  std::optional<Periodic> watcher_;                  // the last member: it uses the others
};

}  // namespace curator::auth
