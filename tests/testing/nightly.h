// How long tests run, and from which seeds: fixed seeds and small volumes in continuous integration, fresh
// seeds and larger volumes at night (.ci/nightly).
//
//   CURATOR_NIGHTLY=1              ten times the samples, or more; fresh seeds, unless the next says which
//   CURATOR_TEST_SEED=NUMBER       the base of all seeds, 0 unless given
//   CURATOR_NIGHTLY_CASES=NUMBER   how many independent cases one test runs (kills, losses of power,
//                                  histories): a slice of a volume that takes hours
//
// A base that is not 0 is printed. A failure repeats when the same variables are set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace curator::nightly {

bool IsOn();

// How much of something a test does: samples, rounds, steps.
size_t Volume(size_t usual, size_t at_night);

// How many independent cases a test runs, each from a seed of its own: `usual` unless the environment says.
// Ends the program when what it says is not a number above 0: a test of no cases would pass.
size_t Cases(size_t usual);

// The seed of one sample: `number` under the base of this run. Different numbers below 2^20 give different
// seeds.
uint64_t Seed(uint64_t number);

}  // namespace curator::nightly
