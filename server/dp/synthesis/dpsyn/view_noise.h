// How a budget is split over views of different sizes, and how large the error is that comes of it.
//
// For choosing and forecasting; nothing is admitted by these numbers. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// What the views may cost together: discrete Laplace noise for `amount` epsilon in all, or discrete Gaussian
// noise for `amount` rho.
struct ViewBudget {
  bool pure = true;
  double amount = 1;
  double l1_sensitivity = 1;          // of one view
  double squared_l2_sensitivity = 1;  // of one view
};

enum class BudgetSplit {
  kEqual,         // all views have the same noise
  kSquaredError,  // the sum over all views' cells of the noise's variance is least
};

// The share of the budget of each view with so many cells. Least squared error: with Gaussian noise a view's
// variance is its sensitivity / share, so shares go as cells^(1/2); with Laplace noise as 1 / share^2, and
// shares as cells^(1/3) (Lagrange). Views whose cells differ by less than a factor of four get the same, so
// that there are few kinds of noise.
std::vector<double> BudgetShares(std::span<const int64_t> cells, BudgetSplit split, bool pure);

// The variance of the noise of a view that gets `share` of the budget.
double NoiseVariance(const ViewBudget& budget, double share);

// Cells, capped at 2^62.
int64_t CellsOf(const Domain& domain, const AttributeSet& set);

}  // namespace curator::dp
