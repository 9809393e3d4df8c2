// Events from the wire. Protobuf ends here.
//
// Errors: INVALID_ARGUMENT with the field's path below the event. Thread-safe: a pure function.
#pragma once

#include "absl/status/statusor.h"
#include "curator/v1/event.pb.h"
#include "dp/accounting/certification.h"
#include "dp/accounting/event.h"

namespace curator::rpc {

// The event, valid in itself (dp::ValidateEvent()). Nesting beyond dp::kMaxEventDepth is refused without
// being followed. Nothing is computed: a certified schedule gets its epsilon later (AskedEvent::Certify()).
absl::StatusOr<dp::AskedEvent> FromProto(const v1::Event& event);

// "320", "0.25" or "1/3", exactly; of at most 18 digits.
absl::StatusOr<dp::Rational> ParseRational(std::string_view text, std::string_view field);

}  // namespace curator::rpc
