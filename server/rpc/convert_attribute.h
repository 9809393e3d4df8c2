// Attributes and measures of a schema, between their wire form and dp/domain. The server and the `curator`
// program share it, so that both make the same bins and labels of a schema (docs/adr/0006).
//
// Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "curator/v1/schema.pb.h"
#include "dp/domain/attribute.h"
#include "dp/domain/measure.h"

namespace curator::rpc {

// INVALID_ARGUMENT with a field path below the attribute ("integer.bin_width") when its kind is missing or
// invalid.
absl::StatusOr<dp::Attribute> FromProto(const v1::Attribute& attribute);
v1::Attribute ToProto(const dp::Attribute& attribute);

// INVALID_ARGUMENT with a field path below the measure ("resolution").
absl::StatusOr<dp::Measure> FromProto(const v1::Measure& measure);
v1::Measure ToProto(const dp::Measure& measure);

}  // namespace curator::rpc
