// The followers of the audit: each gets every record after a given id, in the order of ids, soon after it was
// written by this or another server.
//
// One thread reads new records while there are followers. A follower gets its next records when it has sent
// the last ones to its client, so a slow one delays no other.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "audit/audit_record.h"
#include "audit/audit_store.h"
#include "base/periodic.h"

namespace curator::audit {

class AuditFollowers {
 public:
  static constexpr int64_t kMostAtOnce = 1000;

  // `store` must outlive this object.
  explicit AuditFollowers(AuditStore& store,
                          std::chrono::milliseconds between_looks = std::chrono::milliseconds(500));
  ~AuditFollowers() = default;
  AuditFollowers(const AuditFollowers&) = delete;
  AuditFollowers& operator=(const AuditFollowers&) = delete;

  // Called at each look with what is new, at most kMostAtOnce records and perhaps none; after some, not
  // before Took(). Must not block. May still be called once while the follower is being removed, so it holds
  // what it needs.
  using OnLook = std::function<void(const std::vector<AuditRecord>& records)>;
  // Called by Close(); must not block.
  using OnClose = std::function<void()>;
  // Follows from the record after `after_id`; without one from what is written after the next look. Returns
  // the follower's number.
  uint64_t Follow(std::optional<int64_t> after_id, OnLook on_look, OnClose on_close);
  // The follower has taken all that it got.
  void Took(uint64_t follower);
  void Remove(uint64_t follower);

  // The server is stopping: calls OnClose of all followers, and of those who come later at once.
  void Close();

  // Looks now.
  void Look();

 private:
  struct Follower {
    std::optional<int64_t> after_id;  // of looking_
    OnLook on_look;
    OnClose on_close;
    bool has_taken = true;  // guarded by mutex_
  };

  std::vector<std::shared_ptr<Follower>> Ready();
  void Show(Follower& follower, const absl::StatusOr<int64_t>& newest);
  std::vector<AuditRecord> NewOf(const Follower& follower, int64_t newest);

  AuditStore& store_;
  absl::Mutex looking_;  // one look at a time; before mutex_
  absl::Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Follower>> followers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  Periodic looks_;  // the last member: it uses the others
};

}  // namespace curator::audit
