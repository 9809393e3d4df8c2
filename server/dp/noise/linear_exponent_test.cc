#include <gtest/gtest.h>

#include <vector>

#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {
namespace {

constexpr uint64_t kLargestPart = (uint64_t{1} << 63) - 1;

// d numerator / denominator in units of 2^-58, minus what LinearExponent says.
mpq_class Excess(uint64_t numerator, uint64_t denominator, uint64_t d) {
  mpq_class exact(mpz_class(d) * numerator << FixedExponent::kFractionBits, mpz_class(denominator));
  exact.canonicalize();
  return exact - mpz_class(LinearExponent(numerator, denominator)(d).units);
}

std::vector<uint64_t> Parts() {
  std::vector<uint64_t> parts;
  for (int bit = 0; bit < 63; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (const uint64_t part : {power - 1, power, power + 1, power / 3 * 5}) {
      if (part > 0 && part <= kLargestPart) parts.push_back(part);
    }
  }
  parts.push_back(kLargestPart);
  return parts;
}

TEST(LinearExponent, IsWithinItsErrorForAllSizesOfSlopeAndArgument) {
  const std::vector<uint64_t> parts = Parts();
  for (size_t i = 0; i < parts.size(); i += 3) {
    for (size_t j = 0; j < parts.size(); j += 5) {
      for (size_t k = (i + j) % 7; k < parts.size(); k += 7) {
        const mpq_class excess = Excess(parts[i], parts[j], parts[k]);
        ASSERT_GE(excess, 0) << parts[i] << "/" << parts[j] << " * " << parts[k];
        const bool largest = LinearExponent(parts[i], parts[j])(parts[k]).units == FixedExponent::kLargest;
        ASSERT_TRUE(largest || excess < LinearExponent::kError)
            << parts[i] << "/" << parts[j] << " * " << parts[k];
      }
    }
  }
}

TEST(LinearExponent, SaysLargestExactlyFromSixtyFourOn) {
  const LinearExponent third(1, 3);
  EXPECT_LT(third(191).units, FixedExponent::kLargest);
  EXPECT_EQ(third(192 + 1).units, FixedExponent::kLargest);
  const LinearExponent steep(64, 1);
  EXPECT_EQ(steep(0).units, 0u);
  EXPECT_EQ(steep(1).units, FixedExponent::kLargest);
  const LinearExponent barely(63, 1);
  EXPECT_EQ(barely(1).units, uint64_t{63} << 58);
  EXPECT_EQ(barely(2).units, FixedExponent::kLargest);
}

TEST(LinearExponent, OfSlopeZeroIsZeroEverywhere) {
  const LinearExponent flat(0, 5);
  EXPECT_EQ(flat(0).units, 0u);
  EXPECT_EQ(flat(~uint64_t{0}).units, 0u);
}

}  // namespace
}  // namespace curator::dp
