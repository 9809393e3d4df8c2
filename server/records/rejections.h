// Counts the rejected rows of an import by column and reason.
//
// Memory is bounded whatever the rows are: so many reasons of a column, and so many lines of a reason. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "records/import.h"

namespace curator::records {

// The distinct reasons of one column. Further ones are counted together, as kOtherReasons.
inline constexpr size_t kMaxReasonsOfColumn = 16;
inline constexpr std::string_view kOtherReasons = "is outside for other reasons";

class RejectionCounts {
 public:
  // `columns` are the names in the order of the report.
  explicit RejectionCounts(std::vector<std::string> columns)
      : columns_(std::move(columns)), reasons_(columns_.size()) {}

  // A row rejected by this column, which is called at most once for each row and column, lines rising.
  void Add(size_t column, const std::string& reason, int64_t line);

  // ImportReport::rejections.
  std::vector<Rejection> List() const;

 private:
  struct Rows {
    int64_t count = 0;
    std::vector<int64_t> lines;
  };
  std::vector<std::string> columns_;
  std::vector<std::map<std::string, Rows>> reasons_;  // by column
};

}  // namespace curator::records
