// A table that needs no protection: public data, or records sampled from a release.
//
// A separate type, so that public and private tables cannot be confused.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"

namespace curator::dp {

// Immutable and thread-safe.
class PublicTable {
 public:
  // INVALID_ARGUMENT when columns differ in length or codes are not below their sizes.
  static absl::StatusOr<PublicTable> Create(CodedColumns columns) {
    if (absl::Status status = columns.Check(); !status.ok()) return status;
    return PublicTable(std::move(columns));
  }

  int64_t rows() const { return columns_.rows(); }
  const std::vector<int64_t>& sizes() const { return columns_.sizes(); }
  ColumnsView columns() const { return columns_.View(); }

 private:
  explicit PublicTable(CodedColumns columns) : columns_(std::move(columns)) {}
  CodedColumns columns_;
};

}  // namespace curator::dp
