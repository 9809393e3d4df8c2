// Messages to other programs of this host.
//
// Thread-safe.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace curator::host {

enum class WhenFull {
  kWait,  // until the receiver has read earlier messages
  kFail,
};

// Sends one datagram to the unix socket at `name`: a path, or an abstract name after "@". Errors:
// INVALID_ARGUMENT where no socket can have that name; UNAVAILABLE where the datagram cannot be sent.
absl::Status SendDatagram(std::string_view name, std::string_view text, WhenFull when_full);

}  // namespace curator::host
