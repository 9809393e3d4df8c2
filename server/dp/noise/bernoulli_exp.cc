// Source: the task of Canonne, Kamath, Steinke 2020, Algorithm 1, done by inversion: a uniform real number U
// is below exp(-x) with probability exp(-x).
//
// Exactness: from the first 63 bits of U where the proved error of the fixed-point exp(-x) allows a decision,
// otherwise from further bits of U against exp(-x) enclosed by MPFR as tightly as it takes. Range: any
// x = n/d with 0 <= n < 2^63 and 0 < d < 2^63; x >= 64 is settled as such (linear_exponent.h).
#include "dp/noise/bernoulli_exp.h"

#include "base/errors.h"
#include "dp/noise/bit_buffer.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"
#include "dp/noise/linear_exponent.h"

namespace curator::dp {

absl::StatusOr<bool> DrawBernoulliExp(BitSource& bits, Rational exponent) {
  if (exponent.numerator < 0 || exponent.denominator <= 0) {
    return InvalidField("exponent", "must be a quotient n/d with n >= 0 and d > 0");
  }
  if (exponent.numerator == 0) return true;
  BitBuffer buffer(bits, 1);
  const uint64_t word = buffer.NextWord();
  const LinearExponent slope(static_cast<uint64_t>(exponent.numerator),
                             static_cast<uint64_t>(exponent.denominator));
  const Comparison comparison = CompareUniformWithExp(word, slope(1), LinearExponent::kError);
  if (comparison != Comparison::kUndecided) return comparison == Comparison::kBelow;
  mpq_class exact(mpz_class(exponent.numerator), mpz_class(exponent.denominator));
  exact.canonicalize();
  return ExactUniform(buffer, word).IsBelowExpOfMinus(exact);
}

}  // namespace curator::dp
