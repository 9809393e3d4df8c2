// The number of records that a release measured, which a relative error can be a share of.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/client.h"

namespace curator::client {

struct ReleaseTotal {
  double records = 0;  // noisy; above 0
  std::string words;   // "the sum of the marginal over sex", "its count", "the model's number of records"
};

// Of an answer the sum of the marginal with the fewest cells; without a marginal its count, where it has one
// count or counts of groups that add up to one. Of a model its number of records. A count of records that
// fulfil conditions is the total of those.
// Errors: FAILED_PRECONDITION, naming the release, when it measured no such number, or one that noise has
// made 0 or negative.
absl::StatusOr<ReleaseTotal> TotalOf(const ReleaseContent& content);

}  // namespace curator::client
