// What an import tells the owner, and the owner alone: every figure depends on the records. It is never
// logged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace curator::records {

struct RejectedRow {
  int64_t line = 0;       // where the row begins; 1 is the header's line
  std::string attribute;  // or the id column
  std::string reason;     // does not repeat the cell
  bool operator==(const RejectedRow&) const = default;
};

struct ImportReport {
  int64_t rows_read = 0;
  int64_t rows_accepted = 0;
  int64_t rows_rejected = 0;
  std::vector<RejectedRow> examples;         // the first few rejected rows
  std::vector<std::string> ignored_columns;  // of the file, in its order
  int64_t responses_clamped = 0;  // accepted, with the response of nested records beyond its bounds
  bool operator==(const ImportReport&) const = default;
};

inline constexpr size_t kMaxExamples = 10;

}  // namespace curator::records
