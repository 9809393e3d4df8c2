// Decimal numbers counted exactly, as integers of units of their last digit.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/even_steps.h"

namespace curator::dp {

// units / 10^digits.
struct Decimal {
  int64_t units = 0;  // below 2^53 in absolute value
  int digits = 0;     // 0..kMostStepDigits
  bool operator==(const Decimal&) const = default;
};

// The decimal of the fewest digits after the point whose nearest double is `value`; none when it needs more
// than kMostStepDigits of them or 2^53 units, or is not finite.
std::optional<Decimal> DecimalOf(double value);

// Bounds and a step in units of the last digit of all three.
struct CountedSteps {
  int64_t low = 0;
  int64_t high = 0;
  int64_t step = 1;
  int digits = 0;
  bool operator==(const CountedSteps&) const = default;
};

// What errors call the three numbers.
struct StepFields {
  std::string_view low;
  std::string_view high;
  std::string_view step;
};

// Errors: INVALID_ARGUMENT with one of the fields, for numbers that are not finite, have more digits after
// the point than kMostStepDigits, or overflow when counted in units of the last digit; for bounds that do not
// rise, and for a step that is not positive.
absl::StatusOr<CountedSteps> CountSteps(const EvenSteps& steps, const StepFields& fields);

// Half units, so that the nearest of two neighbouring integers can be found exactly.
struct HalfUnits {
  int64_t floor = 0;      // the largest integer that is not above 2 * number * 10^digits
  bool is_exact = false;  // it is that number
  bool operator==(const HalfUnits&) const = default;
};
inline constexpr int64_t kMostHalfUnits = 2'000'000'000'000'000'000;

// A finite decimal with an optional sign and exponent, of any length and size, as ReadNumber() knows them;
// none for other texts. What is beyond kMostHalfUnits in absolute value is kMostHalfUnits (or the negative of
// it), not exact. Computed from the text's digits alone, without rounding. `digits` is 0..kMostStepDigits.
std::optional<HalfUnits> ReadHalfUnits(std::string_view text, int digits);

}  // namespace curator::dp
