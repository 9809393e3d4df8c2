// What may be measured of a call: how long it took and how large its messages were.
//
// Numbers of records are private (docs/PRIVACY.md), so what reveals them is not measured: nothing of the
// calls that send records, seal them, or show them to their owner; and of the calls that wait for a draw no
// more than between which two of a few durations their time was, and no bytes where these depend on it.
//
// Thread-safe: constants and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace curator::rpc {

// In seconds, ascending: the bounds between which durations are counted.
inline constexpr std::array<double, 10> kDurationBounds = {0.001, 0.005, 0.025, 0.1, 0.25,
                                                           1,     2.5,   10,    60,  600};

enum class Measured : uint8_t {
  // The call handles records: neither duration nor bytes.
  kNothing,
  // The call waits for a draw: its duration rounded up to one of kDurationBounds.
  kInSteps,
  // The same, and no bytes: it sends messages while the draw goes on, so their number depends on how long
  // that is.
  kStepWithoutBytes,
  kAsItIs,
};

// By the path of a call, "/curator.v1.QueryService/AnswerWorkload".
Measured MeasuredOf(std::string_view path);

// What is measured of a duration. One above the greatest bound is rounded up to a multiple of it.
std::optional<absl::Duration> MeasuredDuration(Measured measured, absl::Duration took);

// A method of the API or of grpc.health.v1.
struct ServedMethod {
  std::string path;
  std::string service;  // "curator.v1.QueryService"
  std::string method;   // "AnswerWorkload"
  std::string type;     // "unary", "client_stream", "server_stream" or "bidi_stream"
};

// All, as the table of permissions (service/permissions.h) has them.
std::vector<ServedMethod> ServedMethods();

}  // namespace curator::rpc
