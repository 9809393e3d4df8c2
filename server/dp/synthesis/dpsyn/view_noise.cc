#include "dp/synthesis/dpsyn/view_noise.h"

#include <cmath>
#include <numeric>

namespace curator::dp {

std::vector<double> BudgetShares(std::span<const int64_t> cells, BudgetSplit split, bool pure) {
  std::vector<double> shares;
  for (const int64_t each : cells) {
    double weight = 1;
    if (split == BudgetSplit::kSquaredError) {
      // Of the power of four below the number of cells: the cube root of a pure budget, else the square root.
      constexpr double kCubeRoots[] = {1, 1.5874010519681994, 2.5198420997897464};  // of 1, 4, 16
      int power = 0;
      while (power < 30 && int64_t{4} << 2 * power <= each) ++power;
      weight = pure ? std::ldexp(kCubeRoots[power % 3], 2 * (power / 3)) : std::ldexp(1.0, power);
    }
    shares.push_back(weight);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

double NoiseVariance(const ViewBudget& budget, double share) {
  if (!budget.pure) return budget.squared_l2_sensitivity / (2 * budget.amount * share);
  const double scale = budget.l1_sensitivity / (budget.amount * share);
  return 2 * scale * scale;
}

int64_t CellsOf(const Domain& domain, const AttributeSet& set) {
  return domain.CellCount(set).value_or(int64_t{1} << 62);
}

}  // namespace curator::dp
