// How long tests run, and from which seeds: fixed seeds and small volumes in continuous integration, fresh
// seeds and larger volumes at night (tests/run --nightly).
//
//   CURATOR_NIGHTLY=1          the larger volumes; and fresh seeds, unless the next says which
//   CURATOR_TEST_SEED=NUMBER   the base of all seeds, 0 unless given
//
// A base that is not 0 is printed, and a failure repeats when CURATOR_TEST_SEED is set to it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace curator::nightly {

bool IsOn();

// How much of something a test does: samples, rounds, steps.
size_t Volume(size_t usual, size_t at_night);

// The seed of one sample: `number` under the base of this run. Different numbers below 2^20 give different
// seeds.
uint64_t Seed(uint64_t number);

}  // namespace curator::nightly
