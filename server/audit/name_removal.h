// Removes names from old audit records, on a thread of its own.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "audit/audit_store.h"
#include "base/periodic.h"

namespace curator::audit {

class NameRemoval {
 public:
  struct Options {
    int64_t days = 400;               // after which records lose their names; at least 31
    std::function<int64_t()> now_us;  // microseconds since 1970; thread-safe
    // Called with the store's error, which is for operators, each time that a round fails.
    std::function<void(const absl::Status&)> on_error;
    std::chrono::milliseconds between_rounds = std::chrono::minutes(10);
  };

  // `store` must outlive this object.
  NameRemoval(AuditStore& store, Options options);
  ~NameRemoval() = default;
  NameRemoval(const NameRemoval&) = delete;
  NameRemoval& operator=(const NameRemoval&) = delete;

  // A round: a bounded number of records, in transactions short enough for the records of calls to wait for.
  void RunOnce();

 private:
  AuditStore& store_;
  const Options options_;
  Periodic rounds_;  // the last member: it uses the others
};

}  // namespace curator::audit
