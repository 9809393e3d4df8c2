// The size of the audit's samples and their seeds, by the mode of tests/testing/nightly.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/testing/nightly.h"

namespace curator::statistics {

// The seed of one sample. Different numbers below 2^20 give different seeds.
inline uint64_t AuditSeed(uint64_t number) {
  return nightly::Seed(number);
}

// The size of one sample: ten times as large at night.
inline size_t AuditSize(size_t usual) {
  return nightly::Volume(usual, 10 * usual);
}

}  // namespace curator::statistics
