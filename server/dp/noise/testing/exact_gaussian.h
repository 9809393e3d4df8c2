// The algorithm of the discrete Gaussian samplers in exact arithmetic, for tests of those that are fast.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <cstdlib>

#include "dp/noise/discrete_laplace.h"
#include "dp/noise/exact_uniform.h"

namespace curator::dp {

// Canonne, Kamath, Steinke 2020, Algorithm 3, of the parameter p/q > 0, with a proposal of scale t > 0.
inline int64_t DrawInExactArithmetic(BitBuffer& bits, const mpz_class& p, const mpz_class& q, int64_t t) {
  const DiscreteLaplace proposal = DiscreteLaplace::Create({t, 1}).value();
  while (true) {
    const int64_t value = proposal.Draw(bits);
    const mpz_class difference(mpz_class(std::abs(value)) * q * t - p);
    mpq_class exponent(difference * difference, 2 * p * q * mpz_class(t) * t);
    exponent.canonicalize();
    if (ExactUniform(bits, bits.NextWord()).IsBelowExpOfMinus(exponent)) return value;
  }
}

}  // namespace curator::dp
