// What a parser of exact decimals must do with any text, told by arbitrary-precision arithmetic.
#pragma once

#include <gmpxx.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {

// The units that `text` stands for; none when it must be refused: no decimal, negative, finer than a unit,
// beyond int64, longer than 64 characters.
inline std::optional<int64_t> UnitsOf(std::string_view text, int decimals) {
  if (text.size() > 64) return std::nullopt;
  size_t at = 0;
  std::string digits;
  long exponent = decimals;
  const auto read_digits = [&](long per_digit) {
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      digits += text[at];
      exponent += per_digit;
    }
  };
  read_digits(0);
  if (at < text.size() && text[at] == '.') {
    ++at;
    read_digits(-1);
  }
  if (digits.empty()) return std::nullopt;
  std::string written;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) written += text[at++];
    const size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) written += text[at];
    if (at == first) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  const mpz_class significand(digits, 10);
  if (significand == 0) return 0;
  const mpz_class power(written.empty() ? "0" : written[0] == '+' ? written.substr(1) : written, 10);
  if (abs(power) > 200) return std::nullopt;  // 64 digits cannot make up for that
  exponent += power.get_si();
  mpz_class factor;
  mpz_ui_pow_ui(factor.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(exponent)));
  if (exponent < 0 && significand % factor != 0) return std::nullopt;
  const mpz_class units = exponent < 0 ? mpz_class(significand / factor) : mpz_class(significand * factor);
  if (!units.fits_slong_p()) return std::nullopt;
  return units.get_si();
}

}  // namespace curator::fuzz
