// Refusal rules between the wire and plain types. Protobuf ends here.
//
// Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "codec/refusal_rules_codec.h"
#include "curator/v1/dataset.pb.h"

namespace curator::rpc {

// Errors: INVALID_ARGUMENT with the field's path within the rule, for what is no kind, no amount or no time;
// what the dataset has to have is not checked.
absl::StatusOr<codec::RefusalRule> FromProto(const v1::RefusalRule& proto);
v1::RefusalRule ToProto(const codec::RefusalRule& rule);

}  // namespace curator::rpc
