// What one principal may use of a server: the values of the configuration's member "quotas", and their
// defaults. docs/OPERATING.md describes them.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace curator {

// Of several servers each allows as much, but for the seconds of syntheses, which all servers on one ledger
// count together.
struct Quotas {
  int64_t calls_per_second = 20;
  int64_t calls_after_a_pause = 60;  // at once
  int64_t concurrent_calls = 8;
  int64_t concurrent_imports = 1;                     // and checks of schemas with a file
  int64_t watches = 4;                                // of operations, also by who waits for the end of one
  int64_t import_bytes_per_hour = int64_t{1} << 30;   // as received, also by checks of schemas
  int64_t verifications_per_minute = 2;               // new passes over histories
  int64_t synthesis_cpu_seconds_per_day = 14'400;     // predicted
  int64_t synthesis_memory_bytes = int64_t{4} << 30;  // predicted, of one synthesis
};

// Those of all principals: a value, and others for some of them.
class QuotaTable {
 public:
  QuotaTable(Quotas usual = {}, std::map<std::string, Quotas, std::less<>> principals = {})  // NOLINT
      : usual_(usual), principals_(std::move(principals)) {}

  const Quotas& Of(std::string_view principal) const {
    const auto found = principals_.find(principal);
    return found == principals_.end() ? usual_ : found->second;
  }

 private:
  Quotas usual_;
  std::map<std::string, Quotas, std::less<>> principals_;
};

}  // namespace curator
