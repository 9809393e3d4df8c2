// The private table itself. Only dp/kernel, dp/data and records may include this header; all other code holds
// a SealedTableHandle.
//
// Its columns lie in pages that can be read only through a ReadableScope; outside of a draw they are
// inaccessible.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"
#include "dp/data/protected_pages.h"
#include "dp/data/sealed_table_handle.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// Immutable and thread-safe. The numbers of rows, units and groups are as private as the rows are.
class SealedTable {
 public:
  int64_t rows() const { return rows_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }

  // The number of persons or groups that own the rows; none when each row is a unit of its own.
  std::optional<int64_t> units() const { return units_; }

  // The number of groups of rows: the units, where units own several rows, or groups of rows that are units
  // of their own. None where rows have neither.
  std::optional<int64_t> groups() const { return groups_; }

 private:
  friend class ReadableScope;
  friend class SealedTableBuilder;
  SealedTable() = default;

  int64_t rows_ = 0;
  std::vector<int64_t> sizes_;
  std::optional<int64_t> units_;
  std::optional<int64_t> groups_;
  std::vector<size_t> column_starts_;  // where each column begins in `pages_`
  size_t groups_start_ = 0;
  std::unique_ptr<ProtectedPages> pages_;
};

// Makes `table` readable for the lifetime of this object; the table must outlive it. Scopes may nest and
// overlap on several threads.
class ReadableScope {
 public:
  explicit ReadableScope(const SealedTable& table);
  ~ReadableScope();
  ReadableScope(const ReadableScope&) = delete;
  ReadableScope& operator=(const ReadableScope&) = delete;

  // Pointers into the table, valid while the scope lives.
  const ColumnsView& columns() const { return columns_; }

  // The unit (0..units-1) that owns each row; empty when each row is a unit of its own.
  std::span<const uint32_t> unit_of_row() const {
    return table_.units_ ? group_of_row_ : std::span<const uint32_t>();
  }

  // The group (0..groups-1) in which each row lies; empty where there are none. Where units own several rows,
  // they are the groups.
  std::span<const uint32_t> group_of_row() const { return group_of_row_; }

 private:
  const SealedTable& table_;
  ColumnsView columns_;
  std::span<const uint32_t> group_of_row_;
};

// Whether each row has a number beside its codes, and of what.
enum class RowOwner {
  kItself,         // none: each row is a unit of its own
  kUnit,           // of the unit that owns it
  kItselfInGroup,  // of the group in which it lies; each row is a unit of its own
};

// Fills a table and seals it. Not thread-safe.
class SealedTableBuilder {
 public:
  // `sizes`: of each column, from 1 to kMaxAttributeSize.
  explicit SealedTableBuilder(std::vector<int64_t> sizes, RowOwner owner = RowOwner::kItself);
  explicit SealedTableBuilder(const Domain& domain, RowOwner owner = RowOwner::kItself)
      : SealedTableBuilder(SizesOf(domain), owner) {}

  // Appends a row, with the number of its unit or group exactly where `owner` says that rows have one.
  // INVALID_ARGUMENT for codes that are not below their size.
  absl::Status AppendRow(std::span<const uint32_t> codes, std::optional<uint32_t> group = std::nullopt);

  // Replaces all rows by whole columns, with the units or groups of their rows where rows have one.
  void SetColumns(CodedColumns columns, std::vector<uint32_t> group_of_row);

  // INVALID_ARGUMENT when columns differ in length, codes are not below their sizes, or the units or groups
  // in use are not numbered from 0 without a gap. RESOURCE_EXHAUSTED when there is no memory.
  absl::StatusOr<SealedTableHandle> Build() &&;

 private:
  absl::StatusOr<std::optional<int64_t>> CheckedGroups() const;

  RowOwner owner_;
  CodedColumns columns_;
  std::vector<uint32_t> group_of_row_;
};

}  // namespace curator::dp
