// Reference values as exact numbers: quotients, units, enclosures.
#pragma once

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "dp/accounting/interval.h"
#include "dp/accounting/units.h"
#include "tests/testing/reference_vectors.h"
#include "tests/testing/shared_folder.h"

namespace curator::dp::testing {

// The cases of vectors/`file`, or the end of the test (REQUIRE_SHARED).
#define LOAD_CASES_OR_SKIP(cases, file) \
  REQUIRE_SHARED("vectors/" file);      \
  const nlohmann::json cases = ::curator::shared::ReferenceCases("vectors/" file)

// "0.25", "2.5e-320", "1/11", "-0.1": exactly.
inline mpq_class Exactly(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash != std::string::npos) {
    mpq_class quotient(text, 10);
    quotient.canonicalize();
    return quotient;
  }
  const size_t mark = text.find_first_of("eE");
  long exponent = mark == std::string::npos ? 0 : std::stol(text.substr(mark + 1));
  std::string digits = text.substr(0, mark);
  const size_t point = digits.find('.');
  if (point != std::string::npos) {
    exponent -= static_cast<long>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(exponent)));
  mpq_class value{mpz_class(digits, 10)};
  if (exponent >= 0) return value * power;
  return value / power;
}

// In units, rounded up or down; none when it does not fit an int64.
inline std::optional<int64_t> UnitsUp(const mpq_class& value, int64_t units_per_one) {
  const mpq_class scaled = value * units_per_one;
  mpz_class units;
  mpz_cdiv_q(units.get_mpz_t(), scaled.get_num_mpz_t(), scaled.get_den_mpz_t());
  if (!units.fits_slong_p()) return std::nullopt;
  return units.get_si();
}
inline std::optional<int64_t> UnitsDown(const mpq_class& value, int64_t units_per_one) {
  const mpq_class scaled = value * units_per_one;
  mpz_class units;
  mpz_fdiv_q(units.get_mpz_t(), scaled.get_num_mpz_t(), scaled.get_den_mpz_t());
  if (!units.fits_slong_p()) return std::nullopt;
  return units.get_si();
}

// As a quotient of int64s, which it must be.
inline Rational AsRational(const mpq_class& value) {
  EXPECT_TRUE(value.get_num().fits_slong_p() && value.get_den().fits_slong_p());
  return {value.get_num().get_si(), value.get_den().get_si()};
}

// An integer of any length, enclosed.
inline Interval RealOf(const mpz_class& value) {
  const mpz_class base(1'000'000'000'000'000'000);
  if (abs(value) < base) return Interval(value.get_si());
  const mpz_class high = value / base;
  const mpz_class low = value % base;
  return RealOf(high) * Interval(base.get_si()) + Interval(low.get_si());
}

// The number itself, enclosed.
inline Interval RealOf(const std::string& text) {
  const mpq_class value = Exactly(text);
  return RealOf(mpz_class(value.get_num())) / RealOf(mpz_class(value.get_den()));
}

// Compares a computed double with a reference value, "inf" included. What no double holds is only compared in
// size.
inline void ExpectClose(double computed, const std::string& reference, double relative,
                        const std::string& what) {
  constexpr double kTiny = 1e-300;
  const double expected =
      reference == "inf" ? std::numeric_limits<double>::infinity() : Exactly(reference).get_d();
  if (computed == expected || (std::abs(computed) < kTiny && std::abs(expected) < kTiny)) return;
  EXPECT_NEAR(computed, expected, relative * std::abs(expected)) << what;
}

}  // namespace curator::dp::testing
