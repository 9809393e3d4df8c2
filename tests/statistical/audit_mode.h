// How the audit runs: fixed seeds and small samples in continuous integration, fresh seeds and larger samples
// at night.
//
//   CURATOR_AUDIT_SEED=NUMBER|fresh   the base of all seeds, 0 unless given; it is printed when it is not 0
//   CURATOR_AUDIT_FACTOR=NUMBER       how many times larger than usual the samples are, 1 unless given
#pragma once

#include <cstddef>
#include <cstdint>

namespace curator::statistics {

// The seed of one sample: `number` under the base of this run. Different numbers below 2^20 give different
// seeds.
uint64_t AuditSeed(uint64_t number);

// The size of one sample.
size_t AuditSize(size_t usual);

}  // namespace curator::statistics
