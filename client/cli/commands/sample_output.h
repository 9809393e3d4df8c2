// Synthetic records on their way into a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/commands/session.h"

namespace curator::cli {

// What to sample: `rows` absent means the model's own noisy number of records.
struct Sample {
  std::string release;
  std::optional<int64_t> rows;
  bool as_bins = false;
};

// Writes the sample as CSV to `path` ("-" is standard output), whole or not at all. Returns the bytes
// written.
absl::StatusOr<int64_t> WriteSample(Session& session, const Sample& sample, const std::string& path);

}  // namespace curator::cli
