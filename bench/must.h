// A benchmark has nothing to do after an error but to say so.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::bench {

// Ends the program with a message when there is an error.
inline void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename Value>
Value Must(absl::StatusOr<Value> value) {
  Must(value.status());
  return *std::move(value);
}

}  // namespace curator::bench
