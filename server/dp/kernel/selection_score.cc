#include "dp/kernel/selection_score.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/int128.h"

namespace curator::dp {
namespace {

constexpr double kLargestSum = static_cast<double>(int64_t{1} << 50);
constexpr double kLatticeSteps = static_cast<double>(1 << kScoreLatticeBits);

int64_t Rounded(double value) {
  return std::llround(value * kLatticeSteps);
}

}  // namespace

absl::StatusOr<LatticeEstimate> RoundToLattice(const ApproximatedMarginal& candidate, int64_t cells) {
  if (static_cast<int64_t>(candidate.estimate.size()) != cells) {
    return absl::InvalidArgumentError(
        absl::StrCat("an estimate has ", candidate.estimate.size(), " cells; its marginal has ", cells));
  }
  double sum = 0;
  for (const double value : candidate.estimate) sum += std::abs(value);
  if (!std::isfinite(sum) || !std::isfinite(candidate.penalty)) {
    return absl::InvalidArgumentError("an estimate or a penalty is not a finite number");
  }
  if (sum > kLargestSum || std::abs(candidate.penalty) > kLargestSum) {
    return absl::OutOfRangeError("an estimate or a penalty exceeds 2^50");
  }
  LatticeEstimate rounded;
  rounded.cells.reserve(candidate.estimate.size());
  for (const double value : candidate.estimate) rounded.cells.push_back(Rounded(value));
  rounded.penalty = Rounded(candidate.penalty);
  return rounded;
}

int64_t ScoreOf(std::span<const int64_t> counts, const LatticeEstimate& estimate) {
  int64_t score = -estimate.penalty;
  for (size_t i = 0; i < counts.size(); ++i) {
    score += std::abs((counts[i] << kScoreLatticeBits) - estimate.cells[i]);
  }
  return score;
}

Rational FactorForRange(Epsilon epsilon, int64_t range) {
  Int128 numerator = epsilon.units();
  Int128 denominator = static_cast<Int128>(range) * kEpsilonUnitsPerOne;
  for (const int64_t prime : {2, 5}) {
    while (numerator % prime == 0 && denominator % prime == 0 && numerator > 0) {
      numerator /= prime;
      denominator /= prime;
    }
  }
  while (denominator > std::numeric_limits<int64_t>::max()) {
    numerator /= 2;
    denominator = (denominator + 1) / 2;
  }
  return Reduced({static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)});
}

Rational SelectionFactor(Epsilon epsilon, const Sensitivity& one_marginal) {
  return FactorForRange(epsilon, one_marginal.l1 * 2 << kScoreLatticeBits);
}

}  // namespace curator::dp
