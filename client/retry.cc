#include "client/retry.h"

#include <algorithm>
#include <cstdint>

#include "client/error.h"

namespace curator::client {
namespace {

// FNV-1a: spreads clients in time; it decides nothing about data.
uint64_t Spread(std::string_view request_id, int failures) {
  uint64_t hash = 14695981039346656037u ^ static_cast<uint64_t>(failures);
  for (const char c : request_id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash >> 32;
}

}  // namespace

bool MayRetry(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return true;
  return absl::IsAborted(status) && RetryDelay(status).has_value();
}

std::chrono::milliseconds DelayAfter(const RetryPolicy& policy, int failures, const absl::Status& status,
                                     std::string_view request_id) {
  auto delay = policy.first_delay;
  for (int i = 1; i < failures && delay < policy.longest_delay; ++i) delay *= 2;
  delay = std::min(delay, policy.longest_delay);
  const auto half = delay / 2;
  const auto spread = std::chrono::milliseconds(static_cast<int64_t>(
      Spread(request_id, failures) % (static_cast<uint64_t>((delay - half).count()) + 1)));
  return std::max(half + spread, RetryDelay(status).value_or(std::chrono::milliseconds(0)));
}

}  // namespace curator::client
