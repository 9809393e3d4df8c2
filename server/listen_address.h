// Where a development server may listen.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace curator {

// OK for host:port with a host on the loopback interface: 127.0.0.0/8, [::1] or localhost. INVALID_ARGUMENT
// (--listen) otherwise. Thread-safe: a pure function.
absl::Status CheckLoopback(std::string_view address);

}  // namespace curator
