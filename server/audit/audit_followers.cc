#include "audit/audit_followers.h"

#include <utility>

namespace curator::audit {

AuditFollowers::AuditFollowers(AuditStore& store, std::chrono::milliseconds between_looks)
    : store_(store), followers_(between_looks, [this] { newest_ = store_.NewestId(); }) {}

uint64_t AuditFollowers::Follow(std::optional<int64_t> after_id, OnLook on_look,
                                Followers::OnClose on_close) {
  return followers_.Follow(
      [this, after_id, on_look = std::move(on_look)]() mutable {
        const std::vector<AuditRecord> records = TakeNew(after_id);
        on_look(records);
        return !records.empty();
      },
      std::move(on_close));
}

std::vector<AuditRecord> AuditFollowers::TakeNew(std::optional<int64_t>& after_id) {
  // While the store is away there is nothing to show; the next look may find it back.
  if (!newest_.ok()) return {};
  if (!after_id.has_value()) after_id = *newest_;
  if (*after_id >= *newest_) return {};
  std::vector<AuditRecord> records =
      store_.ReadAfter(*after_id, kMostAtOnce).value_or(std::vector<AuditRecord>());
  if (!records.empty()) after_id = records.back().id;
  return records;
}

}  // namespace curator::audit
