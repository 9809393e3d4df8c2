// Random identifiers.
#pragma once

#include <string>
#include <string_view>

namespace curator::host {

// A version 4 UUID (RFC 9562) of 122 random bits, in lower case: "f81d4fae-7dec-4cd0-a765-00a0c91e6bf6".
// Thread-safe.
std::string NewUuid();

// Whether `text` has the shape 8-4-4-4-12 of hexadecimal digits; any version, either case.
bool IsUuid(std::string_view text);

}  // namespace curator::host
