// Reference vectors: published values, computed independently with 60 digits, in the folder
// CURATOR_SHARED/vectors.
//
// Without that folder a test that needs it is skipped, unless the environment variable CI is set: then it
// fails.
#pragma once

#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "dp/accounting/interval.h"
#include "dp/accounting/units.h"

namespace curator::dp::testing {

inline std::filesystem::path VectorFolder() {
  const char* shared = std::getenv("CURATOR_SHARED");
  const std::filesystem::path folder = shared != nullptr
                                           ? std::filesystem::path(shared)
                                           : std::filesystem::path(CURATOR_REPOSITORY) / ".." / "shared";
  return folder / "vectors";
}

// The cases of one file; none when the folder is absent.
inline std::optional<nlohmann::json> LoadCases(const std::string& file) {
  std::ifstream in(VectorFolder() / file);
  if (!in) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(in), {});
  // Infinity is no JSON; as text it is what the other columns hold.
  for (size_t at = 0; (at = text.find(": Infinity", at)) != std::string::npos;)
    text.replace(at, 10, ": \"inf\"");
  return nlohmann::json::parse(text).at("cases");
}

#define LOAD_CASES_OR_SKIP(cases, file)                                                                      \
  const std::optional<nlohmann::json> cases##_loaded = ::curator::dp::testing::LoadCases(file);              \
  if (!cases##_loaded && std::getenv("CI") != nullptr) FAIL() << "reference vectors are absent: " << (file); \
  if (!cases##_loaded) GTEST_SKIP() << "reference vectors are absent (set CURATOR_SHARED): " << (file);      \
  const nlohmann::json& cases = *cases##_loaded

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

// The number itself, enclosed.
inline Interval RealOf(const std::string& text) {
  const Rational quotient = AsRational(Exactly(text));
  return Interval::Of(quotient);
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
