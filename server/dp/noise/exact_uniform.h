// A uniform real number with lazily drawn bits: what makes every sampler of dp/noise exact. A comparison that
// the bits drawn so far leave open draws more.
//
// For dp/noise only.
#pragma once

#include <gmpxx.h>

#include <cstdint>

#include "dp/noise/bit_source.h"

namespace curator::dp {

// Integers with lower <= 2^fraction_bits exp(-exponent) <= upper and upper - lower <= 2.
struct ExpEnclosure {
  mpz_class lower;
  mpz_class upper;
};
ExpEnclosure EncloseExpOfMinus(const mpq_class& exponent, unsigned fraction_bits);

// U uniform in [0, 1). Not thread-safe.
class ExactUniform {
 public:
  // U begins with the 64 bits of `first_word`; the rest comes from `bits`, which must outlive this.
  ExactUniform(BitBuffer& bits, uint64_t first_word);

  // U < exp(-exponent), for a rational exponent >= 0. Exact: ends with probability one, because exp(-x) is
  // irrational for rational x > 0 and U < 1 always; each further word decides it with probability 1 - 2^-63
  // or better.
  bool IsBelowExpOfMinus(const mpq_class& exponent);

  // prefix() <= 2^bit_count() U < prefix() + 1.
  const mpz_class& prefix() const { return prefix_; }
  unsigned bit_count() const { return bit_count_; }
  void DrawAnotherWord();

 private:
  BitBuffer& bits_;
  mpz_class prefix_;
  unsigned bit_count_ = 64;
};

}  // namespace curator::dp
