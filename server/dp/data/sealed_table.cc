#include "dp/data/sealed_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr size_t kColumnAlignment = 64;  // a cache line, and the widest vector

size_t Aligned(size_t offset) {
  return (offset + kColumnAlignment - 1) / kColumnAlignment * kColumnAlignment;
}

}  // namespace

ReadableScope::ReadableScope(const SealedTable& table) : table_(table) {
  table_.pages_->AllowReading();
  const std::byte* const start = std::as_const(*table_.pages_).bytes().data();
  columns_.rows = table_.rows_;
  for (size_t i = 0; i < table_.sizes_.size(); ++i) {
    const int64_t size = table_.sizes_[i];
    columns_.columns.push_back(
        {.codes = start + table_.column_starts_[i], .width = WidthFor(size), .size = size});
  }
  if (table_.groups_) {
    group_of_row_ = {reinterpret_cast<const uint32_t*>(start + table_.groups_start_),
                     static_cast<size_t>(table_.rows_)};
  }
}

ReadableScope::~ReadableScope() {
  table_.pages_->ForbidReading();
}

SealedTableBuilder::SealedTableBuilder(std::vector<int64_t> sizes, RowOwner owner)
    : owner_(owner), columns_(std::move(sizes)) {}

absl::Status SealedTableBuilder::AppendRow(std::span<const uint32_t> codes, std::optional<uint32_t> group) {
  if (group.has_value() != (owner_ != RowOwner::kItself)) {
    return absl::InvalidArgumentError("rows come with a number exactly when they have a unit or a group");
  }
  RETURN_IF_ERROR(columns_.AppendRow(codes));
  if (group) group_of_row_.push_back(*group);
  return absl::OkStatus();
}

void SealedTableBuilder::SetColumns(CodedColumns columns, std::vector<uint32_t> group_of_row) {
  columns_ = std::move(columns);
  group_of_row_ = std::move(group_of_row);
}

absl::StatusOr<std::optional<int64_t>> SealedTableBuilder::CheckedGroups() const {
  const size_t expected = owner_ == RowOwner::kItself ? 0 : static_cast<size_t>(columns_.rows());
  if (group_of_row_.size() != expected)
    return absl::InvalidArgumentError("there is not one unit or group for each row");
  if (owner_ == RowOwner::kItself) return std::nullopt;

  std::vector<bool> seen(group_of_row_.size());  // no more groups than rows
  size_t groups = 0;
  for (const uint32_t group : group_of_row_) {
    if (group >= seen.size())
      return absl::InvalidArgumentError("a unit's or group's number is not below the number of rows");
    if (seen[group]) continue;
    seen[group] = true;
    ++groups;
  }
  if (!std::all_of(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(groups),
                   [](bool used) { return used; })) {
    return absl::InvalidArgumentError("the units or groups in use are not numbered from 0 without a gap");
  }
  return static_cast<int64_t>(groups);
}

absl::StatusOr<SealedTableHandle> SealedTableBuilder::Build() && {
  RETURN_IF_ERROR(columns_.Check());
  const auto table = std::shared_ptr<SealedTable>(new SealedTable());
  ASSIGN_OR_RETURN(table->groups_, CheckedGroups());
  if (owner_ == RowOwner::kUnit) table->units_ = table->groups_;
  table->rows_ = columns_.rows();
  table->sizes_ = columns_.sizes();

  size_t end = 0;
  for (size_t i = 0; i < columns_.columns(); ++i) {
    table->column_starts_.push_back(end);
    end = Aligned(end + columns_.codes(i).size());
  }
  table->groups_start_ = end;
  ASSIGN_OR_RETURN(table->pages_, ProtectedPages::Allocate(end + group_of_row_.size() * sizeof(uint32_t)));

  const std::span<std::byte> bytes = table->pages_->bytes();
  for (size_t i = 0; i < columns_.columns(); ++i) {
    std::ranges::copy(columns_.codes(i), bytes.data() + table->column_starts_[i]);
    columns_.Drop(i);
  }
  std::ranges::copy(std::as_bytes(std::span(group_of_row_)), bytes.data() + table->groups_start_);
  table->pages_->Seal();
  return table;
}

}  // namespace curator::dp
