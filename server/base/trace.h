// The trace that a call belongs to: an id by which the lines about one request are found in the logs of all
// programs that it passed through. It comes as the header `traceparent` (W3C Trace Context).
//
// Thread-safe: the current trace is the thread's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace curator {

inline constexpr char kTraceParentKey[] = "traceparent";
inline constexpr int kTraceIdBytes = 16;

// The 32 hexadecimal digits of the trace id in a header's value. None for a value that the standard forbids:
// of version 00 exactly "00-TRACE-PARENT-FLAGS" in lower case, with neither id zero; a later version may have
// more after these, from a hyphen on.
std::optional<std::string> TraceIdIn(std::string_view trace_parent);

// Such an id of kTraceIdBytes random bytes.
std::string TraceIdOf(std::string_view bytes);

// The id of what this thread works on; empty where there is none.
const std::string& CurrentTraceId();

// Makes an id the current one of this thread until it is destroyed, and then the one before again.
class TraceScope {
 public:
  explicit TraceScope(std::string trace_id);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  std::string before_;
};

}  // namespace curator
