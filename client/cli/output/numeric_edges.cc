#include "client/cli/output/numeric_edges.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

// Steps counted in units of a power of ten, in which all three numbers are whole.
struct WholeSteps {
  double power = 1;
  double min = 0;
  double step = 1;
  int64_t bins = 0;
};

std::optional<WholeSteps> WholeStepsOf(const v1::Numeric& numeric) {
  constexpr int kMostDigits = 9;
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  const auto is_whole = [](double value, double power) {
    const double shifted = std::round(value * power);
    return std::abs(shifted) < kLargestExact && shifted / power == value;
  };
  double power = 1;
  for (int digits = 0; digits <= kMostDigits; ++digits, power *= 10) {
    if (!is_whole(numeric.min(), power) || !is_whole(numeric.max(), power) ||
        !is_whole(numeric.step(), power)) {
      continue;
    }
    WholeSteps whole{
        .power = power, .min = std::round(numeric.min() * power), .step = std::round(numeric.step() * power)};
    const double bins = (std::round(numeric.max() * power) - whole.min) / whole.step;
    if (!(bins >= 1) || bins != std::floor(bins) || bins > kLargestExact) return std::nullopt;
    whole.bins = static_cast<int64_t>(bins);
    return whole;
  }
  return std::nullopt;
}

bool IsEven(const v1::Numeric& numeric) {
  return numeric.edges_size() == 0 && numeric.has_step();
}

}  // namespace

int64_t EdgeCount(const v1::Numeric& numeric) {
  if (!IsEven(numeric)) return numeric.edges_size();
  const std::optional<WholeSteps> whole = WholeStepsOf(numeric);
  return whole ? whole->bins + 1 : 0;
}

double EdgeAt(const v1::Numeric& numeric, int64_t position) {
  if (!IsEven(numeric)) return numeric.edges(static_cast<int>(position));
  const WholeSteps whole = WholeStepsOf(numeric).value_or(WholeSteps{});
  return (whole.min + static_cast<double>(position) * whole.step) / whole.power;
}

std::string WordsOf(const v1::Numeric& numeric) {
  if (IsEven(numeric)) {
    return absl::StrCat(ExactText(numeric.min()), " to ", ExactText(numeric.max()), " by ",
                        ExactText(numeric.step()));
  }
  if (numeric.edges_size() < 2) return "";
  return absl::StrCat(ExactText(numeric.edges(0)), " to ",
                      ExactText(numeric.edges(numeric.edges_size() - 1)));
}

}  // namespace curator::cli
