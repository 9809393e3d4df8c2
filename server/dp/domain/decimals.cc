#include "dp/domain/decimals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

// Integers up to here, and powers of ten up to 10^22, are doubles; a quotient of such is rounded once.
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

absl::StatusOr<int> CommonDigits(const EvenSteps& steps, const StepFields& fields) {
  const std::array<std::pair<std::string_view, double>, 3> numbers = {
      {{fields.low, steps.min}, {fields.high, steps.max}, {fields.step, steps.step}}};
  int most = 0;
  for (const auto& [field, value] : numbers) {
    if (!std::isfinite(value)) return InvalidField(field, "is not a finite number");
    const std::optional<Decimal> decimal = DecimalOf(value);
    if (!decimal) {
      return InvalidField(
          field, absl::StrCat("must have at most ", kMostStepDigits,
                              " digits after the point and fewer than 16 in all: got ", WriteNumber(value)));
    }
    most = std::max(most, decimal->digits);
  }
  return most;
}

// "numeric.min" without what stands before the last point.
std::string LastName(std::string_view field) {
  return std::string(field.substr(field.rfind('.') + 1));
}

constexpr int kMostPlace = 18;  // 10^18 units are beyond all bounds

constexpr std::array<int64_t, kMostPlace> PowersOfTen() {
  std::array<int64_t, kMostPlace> powers{};
  int64_t power = 1;
  for (int64_t& each : powers) {
    each = power;
    power *= 10;
  }
  return powers;
}

// Of a number that was found to be one: the digits before its point, and its exponent.
struct Places {
  int64_t before_point = 0;
  int64_t exponent = 0;
};

Places PlacesOf(std::string_view text) {
  Places places;
  const size_t mantissa = std::min(text.find_first_of("eE"), text.size());
  const size_t point = std::min(text.substr(0, mantissa).find('.'), mantissa);
  places.before_point = std::count_if(text.begin(), text.begin() + static_cast<ptrdiff_t>(point), IsDigit);
  std::string_view exponent = text.substr(std::min(mantissa + 1, text.size()));
  const bool is_negative = exponent.starts_with('-');
  constexpr int64_t kMostExponent = 1'000'000'000;  // more than a cell has digits
  for (const char c : exponent) {
    if (IsDigit(c)) places.exponent = std::min(places.exponent * 10 + (c - '0'), kMostExponent);
  }
  if (is_negative) places.exponent = -places.exponent;
  return places;
}

}  // namespace

std::optional<Decimal> DecimalOf(double value) {
  double power = 1;
  for (int digits = 0; digits <= kMostStepDigits; ++digits, power *= 10) {
    const double shifted = std::round(value * power);
    if (!(std::abs(shifted) < kLargestExact)) return std::nullopt;
    if (shifted / power == value) return Decimal{.units = static_cast<int64_t>(shifted), .digits = digits};
  }
  return std::nullopt;
}

absl::StatusOr<CountedSteps> CountSteps(const EvenSteps& steps, const StepFields& fields) {
  ASSIGN_OR_RETURN(const int digits, CommonDigits(steps, fields));
  const double power = std::pow(10, digits);
  for (const double value : {steps.min, steps.max, steps.step}) {
    if (std::abs(value) * power < kLargestExact) continue;
    return InvalidField(fields.step, absl::StrCat("the bounds are too large to be divided as finely as by ",
                                                  digits, " digits after the point"));
  }
  const CountedSteps counted{.low = std::llround(steps.min * power),
                             .high = std::llround(steps.max * power),
                             .step = std::llround(steps.step * power),
                             .digits = digits};
  if (counted.low >= counted.high) {
    return InvalidField(fields.high, absl::StrCat(WriteNumber(steps.max), " is not above ",
                                                  LastName(fields.low), ", ", WriteNumber(steps.min)));
  }
  if (counted.step < 1)
    return InvalidField(fields.step, absl::StrCat("must be above 0: got ", WriteNumber(steps.step)));
  return counted;
}

std::optional<HalfUnits> ReadHalfUnits(std::string_view text, int digits) {
  const auto read = ReadNumber(text);
  const NumberFault* const fault = std::get_if<NumberFault>(&read);
  if (fault != nullptr && *fault == NumberFault::kNotANumber) return std::nullopt;

  static constexpr std::array<int64_t, kMostPlace> kPowers = PowersOfTen();
  const Places places = PlacesOf(text);
  const bool is_negative = text.starts_with('-');
  int64_t place = places.before_point - 1 + places.exponent + digits;  // of the next digit, in units
  int64_t whole = 0;
  int tenths = 0;         // the digit after those of whole units
  bool has_more = false;  // any digit after that is not 0
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if (!IsDigit(c)) continue;
    const int digit = c - '0';
    if (digit != 0) {
      if (place >= kMostPlace) return HalfUnits{.floor = is_negative ? -kMostHalfUnits : kMostHalfUnits};
      if (place >= 0) whole += digit * kPowers[static_cast<size_t>(place)];
      if (place == -1) tenths = digit;
      if (place < -1) has_more = true;
    }
    --place;
  }
  const int64_t halves = 2 * whole + (tenths >= 5 ? 1 : 0);
  const bool is_exact = tenths % 5 == 0 && !has_more;
  if (!is_negative) return HalfUnits{.floor = halves, .is_exact = is_exact};
  return HalfUnits{.floor = is_exact ? -halves : -halves - 1, .is_exact = is_exact};
}

}  // namespace curator::dp
