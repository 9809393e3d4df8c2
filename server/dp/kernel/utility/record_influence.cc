#include "dp/kernel/utility/record_influence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace curator::dp {
namespace {

// A margin for rounding: the bounds are computed in doubles, whose error is far smaller.
constexpr double kMargin = 1e-9;

double Spread(const NormalGroupGrid& grid, uint32_t code, double weight) {
  const double value = static_cast<double>(grid.values[code]) * grid.step;
  const double farthest = std::max(value, grid.span - value);
  const double between = grid.largest_between_squared;
  const double least_half_log = grid.least_log_square / 2;
  double most = 0;
  for (size_t k = 0; k < grid.precision.size(); ++k) {
    const double squares = weight * farthest * farthest * grid.precision[k] / 2;
    const double widened = 1 + weight * between * grid.precision[k];
    const double drop = std::max(squares, std::log(widened) / 2 + squares / widened);
    most = std::max(most, weight * (grid.log_square[k] / 2 - least_half_log) + drop);
  }
  return most * (1 + kMargin);
}

double Spread(const BinomialGroupGrid& grid, uint32_t /*code*/, double weight) {
  return weight * (grid.log_success.back() - grid.log_success.front()) * (1 + kMargin);
}

// The largest weight that keeps to the width, near `guess`: neighbouring codes have neighbouring weights.
int64_t LargestWeight(const GroupGrid& grid, uint32_t code, double width, int64_t guess) {
  const auto keeps = [&](int64_t weight) {
    return weight == 0 ||
           SpreadOfOneRecord(grid, code, static_cast<double>(weight) / static_cast<double>(kWholeRecord)) <=
               width;
  };
  int64_t low = guess;  // keeps, once the loops are done
  int64_t high = guess + 1;
  for (int64_t step = 1; !keeps(low); step *= 2) {
    high = low;
    low = std::max<int64_t>(0, low - step);
  }
  for (int64_t step = 1; high <= kWholeRecord && keeps(high); step *= 2) {
    low = high;
    high = std::min(high + step, kWholeRecord + 1);
  }
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (keeps(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double SpreadOfOneRecord(const GroupGrid& grid, uint32_t code, double weight) {
  return std::visit([&](const auto& kind) { return Spread(kind, code, weight); }, grid);
}

std::vector<int64_t> WeightsOfCodes(const GroupGrid& grid, size_t codes, RecordWeights kind, double width) {
  std::vector<int64_t> weights(codes, kWholeRecord);
  if (kind == RecordWeights::kOne) return weights;
  int64_t guess = kWholeRecord;
  for (uint32_t code = 0; code < codes; ++code)
    guess = weights[code] = LargestWeight(grid, code, width, guess);
  if (kind == RecordWeights::kScalar) std::ranges::fill(weights, *std::ranges::min_element(weights));
  return weights;
}

double LargestSpread(const GroupGrid& grid, std::span<const int64_t> weights) {
  double largest = 0;
  for (uint32_t code = 0; code < weights.size(); ++code) {
    const double weight = static_cast<double>(weights[code]) / static_cast<double>(kWholeRecord);
    largest = std::max(largest, SpreadOfOneRecord(grid, code, weight));
  }
  return largest;
}

double LargestTerm(const NormalGroupGrid& grid) {
  double logarithm = 0;
  for (const double each : grid.log_square) logarithm = std::max(logarithm, std::abs(each));
  return logarithm + *std::ranges::max_element(grid.precision) * grid.span * grid.span;
}

// Normal. ln(2 pi s^2), 1 / s^2 and t^2 / s^2 are taken as the doubles that they were rounded to: the theorem
// holds for whatever numbers stand there. What is left is the rounding of at most 16 operations, each of at
// most half a unit in the last place of T, the group's weight times LargestTerm() (plus
// ln(1 + w t^2 / s^2) < 80): in doubles at most 16 2^-53 (2^29 + 80), about one step of 2^-20; beyond
// kMostInDoubles, in extended precision, at most 16 2^-64 T with T < 2^31 LargestTerm(). Rounding adds half a
// step.
//
// Binomial. The exponents of the points lose at most 4 2^-53 2^31 |ln edge| < 2^-16, 16 steps, and so does
// the logarithm of their mean.
int64_t ErrorInSteps(const GroupGrid& grid) {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto* normal = std::get_if<NormalGroupGrid>(&grid);
  if (normal == nullptr) return 17;
  return 2 + static_cast<int64_t>(std::ceil(LargestTerm(*normal) / 512));
}

}  // namespace curator::dp
