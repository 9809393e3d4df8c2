// Integer arithmetic that refuses instead of wrapping.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::dp {

inline absl::StatusOr<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return absl::OutOfRangeError("a cost does not fit 64 bits");
  return sum;
}

inline absl::StatusOr<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return absl::OutOfRangeError("a cost does not fit 64 bits");
  return product;
}

}  // namespace curator::dp
