#include "dp/synthesis/dpsyn/view_noise.h"

#include <cmath>
#include <numeric>

namespace curator::dp {

std::vector<double> BudgetShares(std::span<const int64_t> cells, BudgetSplit split, bool pure) {
  std::vector<double> shares;
  for (const int64_t each : cells) {
    double weight = 1;
    if (split == BudgetSplit::kSquaredError) {
      double size = 1;  // the power of four below the number of cells
      while (size * 4 <= static_cast<double>(each)) size *= 4;
      weight = pure ? std::cbrt(size) : std::sqrt(size);
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
