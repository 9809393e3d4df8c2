#include "service/accounts/history_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "service/accounts/budgets.h"

namespace curator::service {

void WatchedHeads::Read(Steady::time_point now) {
  std::vector<std::string> ids;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [id, slot] : slots_) ids.push_back(id);
  }
  if (ids.empty()) return;
  const absl::StatusOr<std::vector<ledger::HistoryHead>> heads = ledger_.HistoryHeads(ids);
  if (!heads.ok()) return;
  ++reads_;
  {
    const absl::MutexLock lock(&mutex_);
    for (const ledger::HistoryHead& head : *heads) {
      const auto slot = slots_.find(head.dataset_id);
      if (slot == slots_.end()) continue;
      const absl::MutexLock slot_lock(&slot->second->mutex);
      slot->second->head = head;
    }
  }
  ReadOldRows(now);
}

std::vector<std::pair<std::string, std::shared_ptr<WatchedHeads::Slot>>> WatchedHeads::TakeOldRows(
    Steady::time_point now) {
  std::vector<std::pair<std::string, std::shared_ptr<Slot>>> old;
  const absl::MutexLock lock(&mutex_);
  auto each = slots_.upper_bound(last_old_row_);
  for (size_t i = 0; i < slots_.size() && old.size() < kMostRowsAtOnce; ++i, ++each) {
    if (each == slots_.end()) each = slots_.begin();
    const absl::MutexLock slot_lock(&each->second->mutex);
    if (now - each->second->row_is_of >= kLongestTrust) old.emplace_back(*each);
  }
  if (!old.empty()) last_old_row_ = old.back().first;
  return old;
}

void WatchedHeads::ReadOldRows(Steady::time_point now) {
  for (const auto& [id, slot] : TakeOldRows(now)) {
    absl::StatusOr<Row> row = RowFrom(id);
    if (absl::IsUnavailable(row.status())) return;
    const absl::MutexLock lock(&slot->mutex);
    slot->row = std::move(row);
    slot->row_of_read = reads_;
    slot->row_is_of = now;
    ++slot->rows_read;
  }
}

absl::StatusOr<WatchedHeads::Row> WatchedHeads::RowFrom(const std::string& dataset_id) const {
  ASSIGN_OR_RETURN(ledger::Dataset row, ledger_.GetDatasetById(dataset_id));
  RETURN_IF_ERROR(ViewOf(row).status());
  return std::make_shared<const ledger::Dataset>(std::move(row));
}

absl::StatusOr<WatchedHeads::Row> WatchedHeads::RowAt(const std::string& dataset_id, Slot& slot,
                                                      int64_t revision) const {
  const uint64_t reads = reads_;
  {
    const absl::MutexLock lock(&slot.mutex);
    const bool has_row = slot.row.ok() && *slot.row != nullptr;
    if (slot.row_of_read == reads || (has_row && (*slot.row)->revision == revision)) return slot.row;
  }
  absl::StatusOr<Row> row = RowFrom(dataset_id);
  const absl::MutexLock lock(&slot.mutex);
  slot.row = row;
  slot.row_of_read = reads;
  ++slot.rows_read;
  return row;
}

std::unique_ptr<WatchedHeads::Watched> WatchedHeads::Watch(const std::string& dataset_id,
                                                           Steady::time_point now) {
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<Slot>& slot = slots_[dataset_id];
  if (slot == nullptr) {
    slot = std::make_shared<Slot>();
    const absl::MutexLock slot_lock(&slot->mutex);
    slot->row_is_of = now;  // when the rights of the first one were read
  }
  ++slot->watched;
  return std::unique_ptr<Watched>(new Watched(*this, dataset_id, slot));
}

WatchedHeads::Watched::~Watched() {
  const absl::MutexLock lock(&heads_.mutex_);
  if (--slot_->watched == 0) heads_.slots_.erase(dataset_id_);
}

WatchedHeads::Watched::State WatchedHeads::Watched::state() const {
  const absl::MutexLock lock(&slot_->mutex);
  return {.head = slot_->head, .rows_read = slot_->rows_read};
}

HistoryWatch::HistoryWatch(Access access, WatchedHeads& heads, Principal principal,
                           std::vector<HistoryPosition> positions)
    : access_(access), heads_(heads), principal_(std::move(principal)) {
  for (HistoryPosition& position : positions) {
    histories_.push_back({.name = std::move(position.dataset), .after_seq = position.after_seq});
  }
}

absl::StatusOr<std::vector<WatchedEntry>> HistoryWatch::Look(Steady::time_point now) {
  RETURN_IF_ERROR(ReadDirectory());
  std::vector<WatchedEntry> found;
  // Each look begins after the last one that was looked at, so that a long history delays no other.
  for (size_t i = 0; i < histories_.size() && found.size() < kMostAtOnce; ++i) {
    History& history = histories_[first_];
    const absl::Status looked = LookAt(history, now, found);
    if (!looked.ok() && !absl::IsUnavailable(looked)) {
      // The next look meets the error again, and finds nothing before it.
      if (!found.empty()) return found;
      return ConcerningDataset(looked, history.name.text());
    }
    first_ = (first_ + 1) % histories_.size();
  }
  return found;
}

absl::Status HistoryWatch::ReadDirectory() {
  if (access_.directory == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access_.directory->Current());
  if (current == directory_) return absl::OkStatus();
  Standing standing = StandingOf(access_.directory, current, principal_);
  if (standing != standing_) ++standings_;
  standing_ = std::move(standing);
  directory_ = current;
  return absl::OkStatus();
}

absl::Status HistoryWatch::LookAt(History& history, Steady::time_point now,
                                  std::vector<WatchedEntry>& found) {
  WatchedHeads::Watched::State state;
  if (history.watched != nullptr) state = history.watched->state();
  const bool may_have_moved = !state.head || state.head->seq > history.after_seq;
  if (!HasSameRights(history, state)) RETURN_IF_ERROR(ReadRights(history, state, now));
  return may_have_moved ? ReadEntries(history, state.head, found) : absl::OkStatus();
}

bool HistoryWatch::HasSameRights(const History& history, const WatchedHeads::Watched::State& state) const {
  return state.head && state.head->revision == history.revision && state.rows_read == history.rows_read &&
         history.standings == standings_ && !HaveRolesEnded(history.roles.end_at_us);
}

absl::Status HistoryWatch::ReadRights(History& history, const WatchedHeads::Watched::State& state,
                                      Steady::time_point now) {
  if (!state.head) return FindRights(history, state, now);
  const absl::StatusOr<std::shared_ptr<const ledger::Dataset>> row =
      history.watched->RowAt(state.head->revision);
  if (absl::IsUnavailable(row.status())) return row.status();
  // To whom it says so that the row is damaged depends on the principal.
  if (!row.ok() || *row == nullptr) return FindRights(history, state, now);
  ASSIGN_OR_RETURN(history.roles, RolesFor(access_, Method::kWatchLedger, principal_, **row));
  history.revision = (*row)->revision;
  return NoteRights(history, state);
}

absl::Status HistoryWatch::FindRights(History& history, const WatchedHeads::Watched::State& state,
                                      Steady::time_point now) {
  // By its id once that is known: another dataset may have the name by now.
  const bool is_first = history.watched == nullptr;
  const absl::StatusOr<DatasetView> view = FindHistory(
      access_, Method::kWatchLedger, principal_, is_first ? history.name : DatasetName(history.dataset_id));
  const bool is_gone =
      absl::IsNotFound(view.status()) || (view.ok() && view->record.id != history.dataset_id);
  if (!is_first && is_gone) {
    return absl::NotFoundError(
        absl::StrCat("there is no dataset \"", history.name.text(), "\" that you may see any more"));
  }
  RETURN_IF_ERROR(view.status());
  if (is_first) {
    history.watched = heads_.Watch(view->record.id, now);
    history.dataset_id = view->record.id;
    allowed_.push_back(history.name.text());
  }
  history.roles = {.roles = view->roles, .end_at_us = view->roles_end_at_us};
  history.revision = view->record.revision;
  return NoteRights(history, state);
}

absl::Status HistoryWatch::NoteRights(History& history, const WatchedHeads::Watched::State& state) {
  history.rows_read = state.rows_read;
  history.standings = standings_;
  if (access_.directory == nullptr) return absl::OkStatus();
  // The roles may be those of a newer directory than directory_, of which the next one may be the same again.
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, access_.directory->Current());
  if (current != directory_) history.standings = 0;
  return absl::OkStatus();
}

absl::Status HistoryWatch::ReadEntries(History& history, const std::optional<ledger::HistoryHead>& head,
                                       std::vector<WatchedEntry>& found) {
  ledger::EntryRange range{.after_seq = history.after_seq,
                           .limit = static_cast<int64_t>(kMostAtOnce - found.size())};
  // What came after the head is shown when the rights of that time are known.
  if (head) range.before_seq = head->seq + 1;
  ASSIGN_OR_RETURN(EntriesPage read, ReadVisibleEntries(access_, Method::kWatchLedger, principal_,
                                                        history.dataset_id, history.roles.roles, range));
  history.after_seq = read.last_seq;
  // What was there when the head was read, and was not found, is not the principal's to see.
  if (head && !read.has_more) history.after_seq = std::max(history.after_seq, head->seq);
  for (ledger::Entry& entry : read.entries) found.push_back({history.name.text(), std::move(entry)});
  return absl::OkStatus();
}

}  // namespace curator::service
