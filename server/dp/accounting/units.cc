#include "dp/accounting/units.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/errors.h"

namespace curator::dp {
namespace {

// Longer texts are rejected without parsing, which bounds the work; no amount needs them.
constexpr size_t kMaxTextLength = 64;
// Exponents saturate here: any larger one leads to the same error.
constexpr int kExponentCeiling = 10'000;
// int64 holds every number of 18 digits and some of 19; none of 20.
constexpr size_t kMaxUnitDigits = 19;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// A decimal as written: digits (no leading or trailing zeros) times ten to the exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

// Reads [eE][+-]?digits at the end of a decimal.
std::optional<int> ReadExponent(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  int magnitude = 0;
  for (const char c : text) magnitude = std::min(magnitude * 10 + (c - '0'), kExponentCeiling);
  return negative ? -magnitude : magnitude;
}

// Reads digits, an optional point with digits, an optional exponent; nothing else, no sign, no space.
std::optional<Decimal> ReadDecimal(std::string_view text) {
  Decimal decimal;
  const size_t mark = text.find_first_of("eE");
  if (mark != std::string_view::npos) {
    const std::optional<int> exponent = ReadExponent(text.substr(mark + 1));
    if (!exponent) return std::nullopt;
    decimal.exponent = *exponent;
    text = text.substr(0, mark);
  }
  bool after_point = false;
  for (const char c : text) {
    if (c == '.' && !after_point) {
      after_point = true;
    } else if (IsDigit(c)) {
      decimal.digits.push_back(c);
      if (after_point) --decimal.exponent;
    } else {
      return std::nullopt;
    }
  }
  if (decimal.digits.empty()) return std::nullopt;
  decimal.digits.erase(0, std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size()));
  while (!decimal.digits.empty() && decimal.digits.back() == '0') {
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
  return decimal;
}

absl::StatusOr<int64_t> ParseUnits(std::string_view text, std::string_view field, int decimals) {
  if (text.size() > kMaxTextLength) return InvalidField(field, "is longer than 64 characters");
  if (text.size() > 1 && text.front() == '-') return InvalidField(field, "must not be negative");
  const std::optional<Decimal> decimal = ReadDecimal(text);
  if (!decimal) return InvalidField(field, "must be a decimal number such as 0.5 or 2.5e-3");
  if (decimal->digits.empty()) return 0;

  const int zeros = decimal->exponent + decimals;
  if (zeros < 0) {
    return InvalidField(field, "is finer than the smallest unit, 1e-" + std::to_string(decimals));
  }
  const std::string too_large =
      "is too large: the largest amount is " + DecimalText(std::numeric_limits<int64_t>::max(), decimals);
  if (decimal->digits.size() + static_cast<size_t>(zeros) > kMaxUnitDigits) {
    return InvalidField(field, too_large);
  }
  uint64_t units = 0;  // 19 digits always fit
  for (const char c : decimal->digits) units = units * 10 + static_cast<uint64_t>(c - '0');
  for (int i = 0; i < zeros; ++i) units *= 10;
  if (units > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidField(field, too_large);
  }
  return static_cast<int64_t>(units);
}

}  // namespace

std::string DecimalText(int64_t units, int decimals) {
  if (units == 0) return "0";
  const bool negative = units < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(units) : static_cast<uint64_t>(units);
  std::string digits = std::to_string(magnitude);
  int exponent = -decimals;
  while (digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  std::string text;
  const int leading = static_cast<int>(digits.size()) + exponent;  // digits before the point
  if (leading < -3) {
    text = digits.substr(0, 1);
    if (digits.size() > 1) text += "." + digits.substr(1);
    text += "e" + std::to_string(leading - 1);
  } else if (leading <= 0) {
    text = "0." + std::string(static_cast<size_t>(-leading), '0') + digits;
  } else if (exponent >= 0) {
    text = digits + std::string(static_cast<size_t>(exponent), '0');
  } else {
    text = digits.substr(0, static_cast<size_t>(leading)) + "." + digits.substr(static_cast<size_t>(leading));
  }
  return negative ? "-" + text : text;
}

Rational Reduced(Rational value) {
  if (value.numerator < 0 || value.denominator <= 0) return value;
  const int64_t divisor = std::gcd(value.numerator, value.denominator);
  if (divisor <= 1) return value;
  return {value.numerator / divisor, value.denominator / divisor};
}

template <typename Tag>
absl::StatusOr<Amount<Tag>> Amount<Tag>::Parse(std::string_view text, std::string_view field) {
  const absl::StatusOr<int64_t> units = ParseUnits(text, field, kDecimals);
  if (!units.ok()) return units.status();
  return Amount(*units);
}

template <typename Tag>
std::string Amount<Tag>::ToString() const {
  return DecimalText(units_, kDecimals);
}

template class Amount<EpsilonTag>;
template class Amount<RhoTag>;
template class Amount<DeltaTag>;

}  // namespace curator::dp
