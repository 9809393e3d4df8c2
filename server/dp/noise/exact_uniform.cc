#include "dp/noise/exact_uniform.h"

#include <mpfr.h>

namespace curator::dp {
namespace {

// An MPFR number that frees itself.
class MpfrReal {
 public:
  explicit MpfrReal(unsigned precision_bits) { mpfr_init2(value_, precision_bits); }
  ~MpfrReal() { mpfr_clear(value_); }
  MpfrReal(const MpfrReal&) = delete;
  MpfrReal& operator=(const MpfrReal&) = delete;

  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// exp(-exponent) 2^fraction_bits as an integer, every step rounded in the one direction. MPFR rounds
// correctly.
mpz_class ScaledExp(const mpq_class& exponent, unsigned fraction_bits, mpfr_rnd_t direction) {
  MpfrReal value(fraction_bits + 64);
  const mpq_class negated = -exponent;
  mpfr_set_q(value.get(), negated.get_mpq_t(), direction);
  mpfr_exp(value.get(), value.get(), direction);
  mpfr_mul_2ui(value.get(), value.get(), fraction_bits, direction);
  mpz_class scaled;
  mpfr_get_z(scaled.get_mpz_t(), value.get(), direction);
  return scaled;
}

}  // namespace

ExpEnclosure EncloseExpOfMinus(const mpq_class& exponent, unsigned fraction_bits) {
  return {ScaledExp(exponent, fraction_bits, MPFR_RNDD), ScaledExp(exponent, fraction_bits, MPFR_RNDU)};
}

ExactUniform::ExactUniform(BitBuffer& bits, uint64_t first_word)
    : bits_(bits), prefix_(static_cast<unsigned long>(first_word)) {}

void ExactUniform::DrawAnotherWord() {
  prefix_ <<= 64;
  prefix_ += static_cast<unsigned long>(bits_.NextWord());
  bit_count_ += 64;
}

bool ExactUniform::IsBelowExpOfMinus(const mpq_class& exponent) {
  while (true) {
    const ExpEnclosure threshold = EncloseExpOfMinus(exponent, bit_count_);
    if (prefix_ + 1 <= threshold.lower) return true;
    if (prefix_ >= threshold.upper) return false;
    DrawAnotherWord();
  }
}

}  // namespace curator::dp
