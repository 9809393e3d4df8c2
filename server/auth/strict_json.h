// JSON (RFC 8259) where two readers must not understand it differently: tokens, keys, configuration.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::auth {

// INVALID_ARGUMENT, which says where, for what is no JSON, for an object with the same key twice, for text
// after the value, and for more than 32 levels.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text);

}  // namespace curator::auth
