// Texts that nobody can guess: ids of sessions, values that a page has to know, verifiers of PKCE.
//
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace curator::gate {

// 256 bits from the system, as 43 characters of base64url. Aborts where the system has none.
std::string RandomText();

// The SHA-256 of a text as 43 characters of base64url.
std::string Digest(std::string_view text);

}  // namespace curator::gate
