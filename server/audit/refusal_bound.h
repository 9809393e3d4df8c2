// How many refusals of one principal are recorded a day. Refusals cost a caller nothing, so a caller could
// otherwise fill the audit with them; beyond the bound they are only counted.
//
// All unidentified callers together have the bound of one principal. Days are those of UTC.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace curator::audit {

class RefusalBound {
 public:
  static constexpr int64_t kADay = 1000;

  explicit RefusalBound(int64_t a_day = kADay) : a_day_(a_day) {}

  // Whether to record a refusal of `principal` (empty: of an unidentified caller) that happened now, at
  // `now_us` (microseconds since 1970); else it has been counted.
  bool Admit(const std::string& principal, int64_t now_us);

  struct Count {
    std::string principal;
    int64_t count = 0;
    int64_t since_us = 0;  // the first of them
    bool operator==(const Count&) const = default;
  };
  // What was counted since the last call, by principal.
  std::vector<Count> TakeCounts();

 private:
  int64_t a_day_;
  int64_t day_ = 0;
  std::map<std::string, int64_t> recorded_;  // today
  std::map<std::string, Count> counted_;
};

}  // namespace curator::audit
