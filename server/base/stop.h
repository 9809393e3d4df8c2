// Whether the client of some work is still there. Thread-safe.
#pragma once

#include <stop_token>

#include "absl/status/status.h"

namespace curator {

// CANCELLED once `stop` is requested.
inline absl::Status CheckGoesOn(const std::stop_token& stop) {
  return stop.stop_requested() ? absl::CancelledError("the client has gone") : absl::OkStatus();
}

}  // namespace curator
