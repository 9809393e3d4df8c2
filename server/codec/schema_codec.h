// Canonical, versioned bytes of a schema: equal schemas have equal bytes, on every machine.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"

namespace curator::codec {

// Doubles are encoded bit for bit.
std::string EncodeSchema(const dp::Schema& schema);

// Errors: DATA_LOSS for bytes that EncodeSchema() would not have written: another version, malformed or
// invalid content, bytes left over.
absl::StatusOr<dp::Schema> DecodeSchema(std::string_view bytes);

}  // namespace curator::codec
