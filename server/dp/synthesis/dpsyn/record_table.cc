#include "dp/synthesis/dpsyn/record_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

int BitsFor(int64_t size) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(size - 1)));
}

size_t PackedBytes(const std::vector<int64_t>& sizes, int64_t rows) {
  size_t bits = 0;
  for (const int64_t size : sizes) bits += static_cast<size_t>(BitsFor(size));
  return (bits * static_cast<size_t>(rows) + 7) / 8;
}

}  // namespace

RecordTable::RecordTable(AttributeSet attributes, std::vector<int64_t> sizes, int64_t rows)
    : attributes_(std::move(attributes)),
      sizes_(std::move(sizes)),
      rows_(rows),
      narrow_(sizes_.size()),
      wide_(sizes_.size()) {
  for (size_t column = 0; column < sizes_.size(); ++column) {
    if (sizes_[column] <= 256) {
      narrow_[column].resize(static_cast<size_t>(rows));
    } else {
      wide_[column].resize(static_cast<size_t>(rows));
    }
  }
}

size_t RecordTable::ColumnOf(uint32_t attribute) const {
  return *PositionIn(attributes_, attribute);
}

absl::StatusOr<std::vector<uint32_t>> RecordTable::CellsOf(const AttributeSet& set, Pacer& pacer) const {
  std::vector<uint32_t> cells(static_cast<size_t>(rows_));
  std::vector<uint32_t> sizes;
  for (const uint32_t attribute : set) sizes.push_back(static_cast<uint32_t>(sizes_[ColumnOf(attribute)]));
  const std::vector<uint32_t> strides = RowMajorStrides(sizes);
  for (size_t i = set.size(); i-- > 0;) {
    const size_t column = ColumnOf(set[i]);
    const uint32_t stride = strides[i];
    RETURN_IF_ERROR(pacer.InPieces(cells.size(), [&](size_t start, size_t length) {
      if (narrow_[column].empty()) {
        for (size_t row = start; row < start + length; ++row) cells[row] += stride * wide_[column][row];
      } else {
        for (size_t row = start; row < start + length; ++row) cells[row] += stride * narrow_[column][row];
      }
    }));
  }
  return cells;
}

std::string RecordTable::Packed() const {
  std::string bytes(PackedBytes(sizes_, rows_), '\0');
  size_t bit = 0;
  for (size_t row = 0; row < static_cast<size_t>(rows_); ++row) {
    for (size_t column = 0; column < sizes_.size(); ++column) {
      const uint32_t code = Code(column, row);
      for (int i = BitsFor(sizes_[column]); i-- > 0; ++bit) {
        if ((code >> i & 1) == 1)
          bytes[bit / 8] = static_cast<char>(static_cast<uint8_t>(bytes[bit / 8]) | 0x80U >> bit % 8);
      }
    }
  }
  return bytes;
}

absl::StatusOr<RecordTable> RecordTable::Unpacked(AttributeSet attributes, std::vector<int64_t> sizes,
                                                  int64_t rows, std::string_view bytes) {
  if (rows < 0 || rows > kMostRecords)
    return absl::DataLossError("the number of stored records is none that is ever stored");
  if (bytes.size() != PackedBytes(sizes, rows))
    return absl::DataLossError("the stored records have another length");
  RecordTable table(std::move(attributes), std::move(sizes), rows);
  size_t bit = 0;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    for (size_t column = 0; column < table.sizes_.size(); ++column) {
      uint32_t code = 0;
      for (int i = BitsFor(table.sizes_[column]); i-- > 0; ++bit)
        code = code << 1 | (static_cast<uint8_t>(bytes[bit / 8]) >> (7 - bit % 8) & 1U);
      if (code >= table.sizes_[column]) return absl::DataLossError("a stored record lies outside the domain");
      table.Set(column, row, code);
    }
  }
  // One table has one encoding.
  if (table.Packed() != bytes) return absl::DataLossError("bits are set behind the last stored record");
  return table;
}

}  // namespace curator::dp
