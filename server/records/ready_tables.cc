#include "records/ready_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "base/status_macros.h"
#include "dp/data/sealed_table.h"

namespace curator::records {
namespace {

constexpr size_t kMostJoined = 4;

// The numbers of units in the joined table, in the order of their first part.
class JoinedUnits {
 public:
  // The joined number of each unit of one part, indexed by its number there.
  std::vector<uint32_t> NumbersOf(const UnitCounts& units) {
    std::vector<uint32_t> numbers;
    for (const UnitKey& key : units.keys) {
      numbers.push_back(numbers_.emplace(key, static_cast<uint32_t>(numbers_.size())).first->second);
    }
    return numbers;
  }

 private:
  ByUnit<uint32_t> numbers_;
};

absl::Status CheckShape(const LoadedTable& part, const LoadedTable& first) {
  if (part.table->groups() != part.table->units())
    return absl::InvalidArgumentError("a table whose groups are not its units cannot be a part");
  const bool is_alike = part.table->sizes() == first.table->sizes() &&
                        part.table->units().has_value() == first.table->units().has_value();
  const bool is_part = !part.table->units() || part.units != nullptr;
  if (is_alike && is_part) return absl::OkStatus();
  return absl::InvalidArgumentError("only parts of the same shape are joined");
}

// The rows of all `parts`, at least one, in their order. Errors: those of ReadyTable::Open().
absl::StatusOr<dp::SealedTableHandle> JoinTables(const std::vector<LoadedTable>& parts) {
  const LoadedTable& first = parts.front();
  dp::CodedColumns joined(first.table->sizes());
  JoinedUnits units;
  std::vector<uint32_t> unit_of_row;
  for (const LoadedTable& part : parts) {
    RETURN_IF_ERROR(CheckShape(part, first));
    const std::vector<uint32_t> numbers =
        part.units == nullptr ? std::vector<uint32_t>() : units.NumbersOf(*part.units);
    const dp::ReadableScope scope(*part.table);
    for (size_t i = 0; i < joined.columns(); ++i) {
      const size_t bytes = static_cast<size_t>(part.table->rows()) * dp::BytesOf(joined.width(i));
      joined.AppendCodes(i, std::span(scope.columns().columns[i].codes, bytes));
    }
    for (const uint32_t unit : scope.unit_of_row()) unit_of_row.push_back(numbers[unit]);
  }
  dp::SealedTableBuilder builder(first.table->sizes(),
                                 first.table->units() ? dp::RowOwner::kUnit : dp::RowOwner::kItself);
  builder.SetColumns(std::move(joined), std::move(unit_of_row));
  absl::StatusOr<dp::SealedTableHandle> table = std::move(builder).Build();
  if (absl::IsResourceExhausted(table.status())) throw std::bad_alloc();
  return table;
}

absl::Status BeingRead() {
  return absl::UnavailableError(
      "this server is reading the records of the dataset; nothing was charged; ask again");
}

}  // namespace

absl::Status UnreadableRecords() {
  return absl::FailedPreconditionError(
      "this server cannot read the records of the dataset, and its log says why; nothing was charged");
}

absl::StatusOr<dp::SealedTableHandle> ReadyTable::Open() const {
  if (parts_.size() == 1) return parts_.front().table;
  return owner_->Joined(ids_, parts_);
}

void ReadyTables::Publish(const SealedId& id, LoadedTable table) {
  const std::lock_guard lock(mutex_);
  entries_[id.dataset_id] = {
      .content_hash = id.content_hash, .is_readable = true, .loaded = std::move(table)};
}

void ReadyTables::PublishUnreadable(const SealedId& id) {
  const std::lock_guard lock(mutex_);
  entries_[id.dataset_id] = {.content_hash = id.content_hash, .is_readable = false, .loaded = {}};
}

bool ReadyTables::IsReady(const SealedId& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id.dataset_id);
  return found != entries_.end() && found->second.is_readable &&
         found->second.content_hash == id.content_hash;
}

absl::StatusOr<ReadyTable> ReadyTables::Find(const std::vector<SealedId>& ids) {
  if (ids.empty()) return absl::InvalidArgumentError("a request reads at least one table");
  ReadyTable ready;
  ready.owner_ = this;
  ready.ids_ = ids;
  bool is_unreadable = false;
  const std::lock_guard lock(mutex_);
  for (const SealedId& id : ids) {
    const auto found = entries_.find(id.dataset_id);
    if (found == entries_.end() || found->second.content_hash != id.content_hash) return BeingRead();
    is_unreadable = is_unreadable || !found->second.is_readable;
    ready.parts_.push_back(found->second.loaded);
  }
  if (is_unreadable) return UnreadableRecords();
  return ready;
}

ReadyTable ReadyTables::Holding(std::vector<SealedId> ids, std::vector<LoadedTable> tables) {
  ReadyTable ready;
  ready.owner_ = this;
  ready.ids_ = std::move(ids);
  ready.parts_ = std::move(tables);
  return ready;
}

void ReadyTables::Forget(const std::vector<std::string>& dataset_ids) {
  const std::lock_guard lock(mutex_);
  for (const std::string& id : dataset_ids) {
    entries_.erase(id);
    std::erase_if(joined_, [&id](const auto& joined) {
      return std::ranges::any_of(joined.first,
                                 [&id](const SealedId& dataset) { return dataset.dataset_id == id; });
    });
  }
}

dp::SealedTableHandle ReadyTables::FindJoined(const std::vector<SealedId>& ids) {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(joined_.begin(), joined_.end(), [&](const auto& entry) { return entry.first == ids; });
  if (known == joined_.end()) return nullptr;
  std::rotate(known, known + 1, joined_.end());
  return joined_.back().second;
}

absl::StatusOr<dp::SealedTableHandle> ReadyTables::Joined(const std::vector<SealedId>& ids,
                                                          const std::vector<LoadedTable>& parts) {
  if (dp::SealedTableHandle known = FindJoined(ids)) return known;
  const std::lock_guard joining(joining_);
  // Another request may have joined the same parts in the meantime.
  if (dp::SealedTableHandle known = FindJoined(ids)) return known;
  ASSIGN_OR_RETURN(dp::SealedTableHandle joined, JoinTables(parts));
  const std::lock_guard lock(mutex_);
  const bool is_current = std::ranges::all_of(ids, [&](const SealedId& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(
                                                       mutex_) { return entries_.contains(id.dataset_id); });
  if (!is_current) return joined;
  if (joined_.size() == kMostJoined) joined_.erase(joined_.begin());
  joined_.emplace_back(ids, joined);
  return joined;
}

}  // namespace curator::records
