// What a ledger reports to its operator, beside the results of calls.
#pragma once

#include <functional>
#include <string_view>

namespace curator::ledger {

// `event` is a fixed word in snake_case, for a log line; `detail` says more, without line ends and without
// anything private. Thread-safe. Called while locks may be held: must not call the ledger. May be empty.
using Report = std::function<void(std::string_view event, std::string_view detail)>;

inline void Notify(const Report& report, std::string_view event, std::string_view detail) {
  if (report) report(event, detail);
}

}  // namespace curator::ledger
