// A table of synthetic records as columns of codes.
//
// Not thread-safe while it is modified. A byte a code for attributes of up to 256 values, else four.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

inline constexpr int64_t kMostRecords = int64_t{1} << 24;  // of a table that is made or stored

class RecordTable {
 public:
  // `rows` records of zeros, over attributes of these sizes (in the order of `attributes`).
  RecordTable(AttributeSet attributes, std::vector<int64_t> sizes, int64_t rows);

  const AttributeSet& attributes() const { return attributes_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t rows() const { return rows_; }

  uint32_t Code(size_t column, size_t row) const {
    return narrow_[column].empty() ? wide_[column][row] : narrow_[column][row];
  }
  void Set(size_t column, size_t row, uint32_t code) {
    if (narrow_[column].empty()) {
      wide_[column][row] = code;
    } else {
      narrow_[column][row] = static_cast<uint8_t>(code);
    }
  }
  size_t ColumnOf(uint32_t attribute) const;

  // The cell of every record in the marginal of `set` (of the attributes), row-major. Errors: CANCELLED as in
  // Pacer.
  absl::StatusOr<std::vector<uint32_t>> CellsOf(const AttributeSet& set, Pacer& pacer) const;

  // The codes, packed: one record after another, each attribute in as few bits as its size needs, the highest
  // bit first.
  std::string Packed() const;

  // The table that Packed() wrote. Errors: DATA_LOSS for another length, or a code beyond its size.
  static absl::StatusOr<RecordTable> Unpacked(AttributeSet attributes, std::vector<int64_t> sizes,
                                              int64_t rows, std::string_view bytes);

 private:
  AttributeSet attributes_;
  std::vector<int64_t> sizes_;
  int64_t rows_;
  std::vector<std::vector<uint8_t>> narrow_;  // empty for attributes of more than 256 values
  std::vector<std::vector<uint32_t>> wide_;   // empty for all others
};

}  // namespace curator::dp
