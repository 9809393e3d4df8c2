// The header `traceparent` (W3C Trace Context), by which a server's log lines about a call are found.
#pragma once

#include <string>

namespace curator::client {

inline constexpr char kTraceParentKey[] = "traceparent";

// The trace of one request, whose attempts all belong to it. Not thread-safe.
class Trace {
 public:
  // A new one, of the operating system's entropy.
  Trace();

  // The header's value for the next attempt, "00-<trace id>-<another parent id>-01"; empty where the system
  // gives no entropy: the attempt is then sent without it.
  std::string NextParent() const;

 private:
  std::string id_;  // 32 hexadecimal digits, or empty
};

}  // namespace curator::client
