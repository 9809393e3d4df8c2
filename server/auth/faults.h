// Why a proof of identity is not accepted: for its holder one of a few classes, for the server's log the
// details. A holder who could read the details could tell which part of a forgery was right.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace curator::auth {

enum class Fault {
  kMissing,           // the call proves nothing
  kNameGiven,         // it names a principal, as only development mode accepts
  kExpired,           // it was valid
  kInvalid,           // it is not, and never will be
  kUnknownPrincipal,  // it is valid, and of nobody who is known here
  kDisabled,          // it is of a principal that is disabled
};

// UNAUTHENTICATED. Clients get the class, as message and as reason ("TOKEN_EXPIRED"); `detail` is for
// operators (base/errors.h).
absl::Status NotAccepted(Fault fault, std::string_view detail);

// UNAVAILABLE: whether the proof is valid cannot be told now, which is not its holder's fault.
absl::Status CannotTell(std::string_view detail);

}  // namespace curator::auth
