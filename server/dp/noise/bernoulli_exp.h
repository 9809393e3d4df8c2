// The exact Bernoulli(exp(-x)) trial for a rational x >= 0: the one place where noise meets a transcendental
// number.
#pragma once

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"

namespace curator::dp {

// True with probability exp(-exponent), exactly. Any exponent >= 0 is accepted, however large.
// Errors: INVALID_ARGUMENT, naming "exponent", for a negative numerator or a denominator that is not
// positive.
absl::StatusOr<bool> DrawBernoulliExp(BitSource& bits, Rational exponent);

}  // namespace curator::dp
