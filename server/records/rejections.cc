#include "records/rejections.h"

#include <algorithm>
#include <functional>

namespace curator::records {

void RejectionCounts::Add(size_t column, const std::string& reason, int64_t line) {
  std::map<std::string, Rows>& reasons = reasons_[column];
  auto found = reasons.find(reason);
  if (found == reasons.end()) {
    const bool is_full = reasons.size() >= kMaxReasonsOfColumn;
    found = reasons.try_emplace(is_full ? std::string(kOtherReasons) : reason).first;
  }
  ++found->second.count;
  if (found->second.lines.size() < kMaxRejectionLines) found->second.lines.push_back(line);
}

std::vector<Rejection> RejectionCounts::List() const {
  std::vector<Rejection> list;
  for (size_t i = 0; i < columns_.size(); ++i) {
    for (const auto& [reason, rows] : reasons_[i]) {
      list.push_back({.attribute = columns_[i], .reason = reason, .rows = rows.count, .lines = rows.lines});
    }
  }
  if (list.size() <= kMaxRejections) return list;
  std::vector<int64_t> counts;
  counts.reserve(list.size());
  for (const Rejection& rejection : list) counts.push_back(rejection.rows);
  const auto last = counts.begin() + static_cast<int64_t>(kMaxRejections) - 1;
  std::ranges::nth_element(counts, last, std::greater<>());
  // Of those with as many rows as the last that has a place, the first in the order of the report.
  size_t ties = kMaxRejections - static_cast<size_t>(std::ranges::count_if(
                                     list, [&](const Rejection& one) { return one.rows > *last; }));
  std::erase_if(list, [&](const Rejection& one) {
    if (one.rows != *last) return one.rows < *last;
    return ties == 0 || ties-- == 0;
  });
  return list;
}

}  // namespace curator::records
