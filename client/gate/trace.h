// Trace context (W3C), by which one request can be found in the logs of all programs that it passed through.
//
// Thread-safe.
#pragma once

#include <string>

namespace curator::gate {

// "00-<trace id>-<parent id>-01", of a new trace.
std::string NewTraceParent();

}  // namespace curator::gate
