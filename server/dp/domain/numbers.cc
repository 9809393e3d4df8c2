#include "dp/domain/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/charconv.h"

namespace curator::dp {
namespace {

// What is left after an optional sign.
std::string_view WithoutSign(std::string_view text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  return text;
}

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::variant<int64_t, NumberFault> ReadInteger(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = WithoutSign(text);
  if (digits.empty() || !IsDigit(digits.front())) return NumberFault::kNotANumber;

  // Negative numbers are accumulated downwards, because the smallest integer has no positive twin.
  int64_t value = 0;
  bool overflow = false;
  size_t at = 0;
  for (; at < digits.size() && IsDigit(digits[at]); ++at) {
    const int64_t digit = digits[at] - '0';
    overflow = overflow || __builtin_mul_overflow(value, int64_t{10}, &value) ||
               __builtin_add_overflow(value, negative ? -digit : digit, &value);
  }
  if (at < digits.size() && digits[at] == '.') {
    for (++at; at < digits.size() && digits[at] == '0'; ++at) {
    }
  }
  if (at < digits.size()) return NumberFault::kNotANumber;
  if (overflow) return negative ? NumberFault::kTooSmall : NumberFault::kTooLarge;
  return value;
}

std::variant<double, NumberFault> ReadNumber(std::string_view text) {
  const std::string_view unsigned_text = WithoutSign(text);
  // Only a digit or a point may follow the sign: this also keeps "nan", "inf" and "+-1" out.
  if (unsigned_text.empty() || !(IsDigit(unsigned_text.front()) || unsigned_text.front() == '.')) {
    return NumberFault::kNotANumber;
  }
  const bool negative = text.front() == '-';
  const char* const end = unsigned_text.data() + unsigned_text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(unsigned_text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return NumberFault::kNotANumber;
  if (error ==
      std::errc::result_out_of_range) {  // std::from_chars does not say in which direction; Abseil does
    absl::from_chars(unsigned_text.data(), end, value);
    if (value > 1) return negative ? NumberFault::kTooSmall : NumberFault::kTooLarge;
  }
  return negative ? 0.0 - value : value;
}

std::string WriteNumber(double value) {
  constexpr double kLeastPlain = 1e-6;
  constexpr double kMostPlain = 0x1p53;
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= kLeastPlain && size <= kMostPlain);
  std::array<char, 32> buffer;
  char* const limit = buffer.data() + buffer.size();
  const std::to_chars_result written =
      is_plain ? std::to_chars(buffer.data(), limit, value, std::chars_format::fixed)
               : std::to_chars(buffer.data(), limit, value);
  return std::string(buffer.data(), written.ptr);
}

std::string WriteFixed(double value, int digits) {
  std::array<char, std::numeric_limits<double>::max_exponent10 + 320> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits);
  return std::string(buffer.data(), end);
}

}  // namespace curator::dp
