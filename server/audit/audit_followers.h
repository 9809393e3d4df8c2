// The followers of the audit: each gets every record after a given id, in the order of ids, soon after it was
// written by this or another server.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "audit/audit_record.h"
#include "audit/audit_store.h"
#include "base/followers.h"

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
  // Follows from the record after `after_id`; without one from what is written after the next look. Returns
  // the follower's number.
  uint64_t Follow(std::optional<int64_t> after_id, OnLook on_look, Followers::OnClose on_close);

  // As of Followers.
  void Took(uint64_t follower) { followers_.Took(follower); }
  void Remove(uint64_t follower) { followers_.Remove(follower); }
  void Close() { followers_.Close(); }
  void Look() { followers_.Look(); }

 private:
  // Those after `after_id`, which becomes the id of the last one.
  std::vector<AuditRecord> TakeNew(std::optional<int64_t>& after_id);

  AuditStore& store_;
  absl::StatusOr<int64_t> newest_ = 0;  // of the present look, which alone uses it
  Followers followers_;                 // the last member: it uses the others
};

}  // namespace curator::audit
