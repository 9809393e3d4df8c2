// The program that translates SQL: a process of its own for each statement, without records, keys or ledger,
// so that a statement that breaks the parser breaks nothing else.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/principal.h"

namespace curator::service {

class SqlProgram {
 public:
  static constexpr int kMostAtOnce = 8;
  static constexpr int kMostOfOnePrincipal = 2;
  static constexpr std::chrono::milliseconds kPatience{2000};
  static constexpr size_t kMostOutput = size_t{4} << 20;

  // `path` is that of the program, from this process's present folder; empty: where this process's own
  // program is, curator-sql.
  explicit SqlProgram(const std::string& path, std::chrono::milliseconds patience = kPatience);

  // What the program answers to a serialized task (proto/curator/internal/sql.proto). Errors: OverQuota() for
  // a principal that has kMostOfOnePrincipal statements translated already, Overloaded() where all places are
  // taken or the program did not end in time; INVALID_ARGUMENT ("sql") for a statement that breaks the
  // program; UNAVAILABLE where it cannot be started or does not work. Reasons are logged, without the
  // statement.
  absl::StatusOr<std::string> Run(const Principal& principal, std::string_view task);

 private:
  class Place;

  const std::string path_;
  const std::chrono::milliseconds patience_;
  absl::Mutex mutex_;
  std::map<std::string, int> running_ ABSL_GUARDED_BY(mutex_);  // by principal
  int all_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace curator::service
