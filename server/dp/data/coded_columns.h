// Tables as columns of codes, each in the narrowest width that holds its codes. A private table has a column
// for each attribute of its domain, then one for each measure; a public one has its attributes alone.
//
// The common form of private and public tables; it protects nothing by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// Bytes per code. Codes are stored in the machine's byte order.
enum class CodeWidth : uint8_t { kOneByte = 1, kTwoBytes = 2, kFourBytes = 4 };

// The narrowest width for the codes 0..size-1.
CodeWidth WidthFor(int64_t size);

constexpr size_t BytesOf(CodeWidth width) {
  return static_cast<size_t>(width);
}

// More rows than this are refused, so that a row's number and any count fit 32 bits.
inline constexpr int64_t kMaxRows = (int64_t{1} << 31) - 1;

// Codes of one column, as many as the table has rows, each below `size`.
struct ColumnView {
  const std::byte* codes = nullptr;
  CodeWidth width = CodeWidth::kOneByte;
  int64_t size = 1;

  uint32_t operator[](int64_t row) const;
};

struct ColumnsView {
  int64_t rows = 0;
  std::vector<ColumnView> columns;
};

// The sizes of all columns of a table, in their order: the numbers of their codes.
std::vector<int64_t> SizesOf(const Domain& domain);

// Without the measures.
std::vector<int64_t> AttributeSizesOf(const Domain& domain);

// Columns that grow. Not thread-safe.
class CodedColumns {
 public:
  // `sizes`: of each column, from 1 to kMaxAttributeSize.
  explicit CodedColumns(std::vector<int64_t> sizes);

  // One more row. INVALID_ARGUMENT, and no row, unless there is one code below its size for each column.
  absl::Status AppendRow(std::span<const uint32_t> codes);

  // Reserves memory for `bytes` bytes of one column.
  void Reserve(size_t column, size_t bytes) { codes_[column].reserve(bytes); }

  // More codes of one column, as raw bytes in its width. Unchecked until Check().
  void AppendCodes(size_t column, std::span<const std::byte> codes);

  // INVALID_ARGUMENT unless all columns are equally long, at most kMaxRows long, and hold codes below their
  // sizes.
  absl::Status Check() const;

  size_t columns() const { return sizes_.size(); }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  CodeWidth width(size_t column) const { return WidthFor(sizes_[column]); }
  std::span<const std::byte> codes(size_t column) const { return codes_[column]; }
  int64_t rows() const;  // of the first column; of all, once checked

  // Valid until the columns change.
  ColumnsView View() const;

  // Frees the memory of one column.
  void Drop(size_t column);

 private:
  std::vector<int64_t> sizes_;
  std::vector<std::vector<std::byte>> codes_;
};

}  // namespace curator::dp
