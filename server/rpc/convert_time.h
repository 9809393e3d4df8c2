// Times on the wire.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/timestamp.pb.h"

namespace curator::rpc {

// INVALID_ARGUMENT (`field`) unless it is a time of the years 1 to 9999, which all of TimeUtil's functions
// take.
absl::Status CheckTime(std::string_view field, const google::protobuf::Timestamp& time);

}  // namespace curator::rpc
