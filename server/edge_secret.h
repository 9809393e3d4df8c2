// The secret by which a server knows that a call came through its edge: the first line of a file that
// haproxy's configuration repeats.
//
// Thread-safe: a pure function of the file.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace curator {

// Errors name `option`: INVALID_ARGUMENT for a file that cannot be read, or has no line of at least 32
// characters; FAILED_PRECONDITION for one that other users of the machine can open.
absl::Status ReadEdgeSecret(const std::string& path, const std::string& option, std::string& secret);

}  // namespace curator
