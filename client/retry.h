// When the same request may be sent again, and how long to wait.
//
// Only what the request id makes safe is repeated: UNAVAILABLE (the outcome may be unknown; the server finds
// the earlier charge under the same id and replays it) and ABORTED with RetryInfo (the server says that
// nothing happened). Everything else is an answer.
//
// Thread-safe: pure functions.
#pragma once

#include <chrono>
#include <string_view>

#include "absl/status/status.h"

namespace curator::client {

struct RetryPolicy {
  std::chrono::milliseconds first_delay{100};  // doubled after every failure ...
  std::chrono::milliseconds longest_delay{1000};
  std::chrono::milliseconds window{3000};  // no attempt begins later than this after the first failure
};

bool MayRetry(const absl::Status& status);

// The wait after `failures` (>= 1) failed attempts, the last of which ended with `status`: at least what the
// server asked for; otherwise between half and all of the doubled delay. The share is taken from
// `request_id`, so that clients that failed together do not return together.
std::chrono::milliseconds DelayAfter(const RetryPolicy& policy, int failures, const absl::Status& status,
                                     std::string_view request_id);

}  // namespace curator::client
