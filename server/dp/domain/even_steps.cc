#include "dp/domain/even_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

// Integers up to here, and powers of ten up to 10^22, are doubles; a quotient of such is rounded once.
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

// How many digits after the point `value` has, when it has few.
std::optional<int> DigitsOf(double value) {
  double power = 1;
  for (int digits = 0; digits <= kMostStepDigits; ++digits, power *= 10) {
    const double shifted = std::round(value * power);
    if (std::abs(shifted) > kLargestExact) return std::nullopt;
    if (shifted / power == value) return digits;
  }
  return std::nullopt;
}

absl::StatusOr<int> CommonDigits(const EvenSteps& steps) {
  const std::array<std::pair<std::string_view, double>, 3> numbers = {
      {{"numeric.min", steps.min}, {"numeric.max", steps.max}, {"numeric.step", steps.step}}};
  int most = 0;
  for (const auto& [field, value] : numbers) {
    if (!std::isfinite(value)) return InvalidField(field, "is not a finite number");
    const std::optional<int> digits = DigitsOf(value);
    if (!digits) {
      return InvalidField(
          field, absl::StrCat("must have at most ", kMostStepDigits,
                              " digits after the point and fewer than 16 in all: got ", WriteNumber(value)));
    }
    most = std::max(most, *digits);
  }
  return most;
}

}  // namespace

absl::StatusOr<std::vector<double>> EdgesOf(const EvenSteps& steps) {
  ASSIGN_OR_RETURN(const int digits, CommonDigits(steps));
  const double power = std::pow(10, digits);
  for (const double value : {steps.min, steps.max, steps.step}) {
    if (std::abs(value) * power < kLargestExact) continue;
    return InvalidField("numeric.step",
                        absl::StrCat("the bounds are too large to be divided as finely as by ", digits,
                                     " digits after the point"));
  }
  const int64_t low = std::llround(steps.min * power);
  const int64_t high = std::llround(steps.max * power);
  const int64_t step = std::llround(steps.step * power);
  if (low >= high) {
    return InvalidField("numeric.max",
                        absl::StrCat(WriteNumber(steps.max), " is not above min, ", WriteNumber(steps.min)));
  }
  if (step < 1) {
    return InvalidField("numeric.step", absl::StrCat("must be above 0: got ", WriteNumber(steps.step)));
  }
  if ((high - low) % step != 0) {
    return InvalidField("numeric.step", absl::StrCat("a whole number of steps of ", WriteNumber(steps.step),
                                                     " must lie between ", WriteNumber(steps.min), " and ",
                                                     WriteNumber(steps.max)));
  }
  const int64_t bins = (high - low) / step;
  if (bins > kMaxAttributeSize) {
    return InvalidField("numeric.step",
                        absl::StrCat("makes ", bins, " bins; at most ", kMaxAttributeSize, " are allowed"));
  }
  std::vector<double> edges;
  edges.reserve(static_cast<size_t>(bins) + 1);
  for (int64_t bin = 0; bin <= bins; ++bin) edges.push_back(static_cast<double>(low + bin * step) / power);
  return edges;
}

}  // namespace curator::dp
