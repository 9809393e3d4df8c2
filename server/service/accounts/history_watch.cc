#include "service/accounts/history_watch.h"

#include <algorithm>

#include "base/errors.h"
#include "base/status_macros.h"
#include "service/accounts/budgets.h"

namespace curator::service {

void WatchedHeads::Read() {
  std::vector<std::string> ids;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [id, slot] : slots_) ids.push_back(id);
  }
  if (ids.empty()) return;
  const absl::StatusOr<std::vector<ledger::HistoryHead>> heads = ledger_.HistoryHeads(ids);
  if (!heads.ok()) return;
  const absl::MutexLock lock(&mutex_);
  for (const ledger::HistoryHead& head : *heads) {
    const auto slot = slots_.find(head.dataset_id);
    if (slot == slots_.end()) continue;
    const absl::MutexLock slot_lock(&slot->second->mutex);
    slot->second->head = head;
  }
}

std::unique_ptr<WatchedHeads::Watched> WatchedHeads::Watch(const std::string& dataset_id) {
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<Slot>& slot = slots_[dataset_id];
  if (slot == nullptr) slot = std::make_shared<Slot>();
  ++slot->watched;
  return std::unique_ptr<Watched>(new Watched(*this, dataset_id, slot));
}

WatchedHeads::Watched::~Watched() {
  const absl::MutexLock lock(&heads_.mutex_);
  if (--slot_->watched == 0) heads_.slots_.erase(dataset_id_);
}

std::optional<ledger::HistoryHead> WatchedHeads::Watched::head() const {
  const absl::MutexLock lock(&slot_->mutex);
  return slot_->head;
}

HistoryWatch::HistoryWatch(Access access, WatchedHeads& heads, Principal principal,
                           std::vector<HistoryPosition> positions)
    : access_(access), heads_(heads), principal_(std::move(principal)) {
  for (HistoryPosition& position : positions) {
    histories_.push_back({.name = std::move(position.dataset), .after_seq = position.after_seq});
  }
}

absl::StatusOr<std::vector<WatchedEntry>> HistoryWatch::Look(Steady::time_point now) {
  directory::DirectoryStore::Snapshot directory;
  if (access_.directory != nullptr) {
    ASSIGN_OR_RETURN(directory, access_.directory->Current());
  }
  std::vector<WatchedEntry> found;
  // Each look begins after the last one that was looked at, so that a long history delays no other.
  for (size_t i = 0; i < histories_.size() && found.size() < kMostAtOnce; ++i) {
    History& history = histories_[first_];
    const absl::Status looked = LookAt(history, directory, now, found);
    if (!looked.ok() && !absl::IsUnavailable(looked)) {
      // The next look meets the error again, and finds nothing before it.
      if (!found.empty()) return found;
      return ConcerningDataset(looked, history.name.text());
    }
    first_ = (first_ + 1) % histories_.size();
  }
  return found;
}

absl::Status HistoryWatch::LookAt(History& history, const directory::DirectoryStore::Snapshot& directory,
                                  Steady::time_point now, std::vector<WatchedEntry>& found) {
  const std::optional<ledger::HistoryHead> head =
      history.watched == nullptr ? std::nullopt : history.watched->head();
  const bool may_have_moved = !head || head->seq > history.after_seq;
  const bool has_same_rights = head && head->revision == history.revision && directory == history.directory &&
                               !HaveRolesEnded(history.roles_end_at_us) &&
                               now - history.read_at < kLongestTrust;
  if (!may_have_moved && has_same_rights) return absl::OkStatus();
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(access_, Method::kWatchLedger, principal_, history.name));
  if (history.watched == nullptr) history.watched = heads_.Watch(view.record.id);
  if (may_have_moved) {
    const auto limit = static_cast<int64_t>(kMostAtOnce - found.size());
    ASSIGN_OR_RETURN(EntriesPage read, ReadVisibleEntries(access_, Method::kWatchLedger, principal_, view,
                                                          {.after_seq = history.after_seq, .limit = limit}));
    history.after_seq = read.last_seq;
    // What was there when the head was read, and was not found, is not the principal's to see.
    if (head && !read.has_more) history.after_seq = std::max(history.after_seq, head->seq);
    for (ledger::Entry& entry : read.entries) {
      found.push_back({history.name.text(), std::move(entry)});
    }
  }
  history.revision = view.record.revision;
  history.directory = directory;
  history.roles_end_at_us = view.roles_end_at_us;
  history.read_at = now;
  return absl::OkStatus();
}

}  // namespace curator::service
