// The nearest tables without negative cells, among those that agree: by ascent of the dual.
//
// Whatever was measured and however it is weighted, Lagrange says: with multipliers m >= 0, one for each
// cell, the best tables x for the squares less 2 m x are a linear function of m, and those for the right
// multipliers, which are 0 where a cell is positive, are the nearest that have no negative cell. The gradient
// of the dual is x itself. So a problem is given by that function: marginals with independent noise
// (marginal_consistency.h) and residuals (residual/residual_projection.h) differ in nothing else.
//
// Nesterov's momentum, restarted when it overshoots (O'Donoghue, Candes 2015).
//
// Thread-safe: pure functions.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/workload/marginal_consistency.h"

namespace curator::dp {

using Tables = std::vector<CellValues>;

inline constexpr double kMostDisagreement = 0.01;  // records
inline constexpr double kMostDistance = 0.05;  // records: from the nearest tables, root mean square of a cell
inline constexpr int kMostRounds = 2000;

struct DualProblem {
  // The tables x(m) = x(0) + M S m for multipliers m, S the diagonal matrix of `weights`. M is symmetric, and
  // S^(1/2) M S^(1/2) has no eigenvalue above 1.
  std::function<Tables(const Tables& multipliers)> tables_at;
  std::vector<double> weights;  // of each table, positive: the squares weigh a distance by no less
};

struct NonNegativeTables {
  Tables tables;  // no cell is below 0
  // No sum that two tables share differs by more.
  double disagreement = 0;
};

// From multipliers of 0, shaped as the tables. Ends when in no table more than kMostDisagreement records are
// below 0 and the nearest tables are within kMostDistance by the duality gap, or after kMostRounds with the
// best tables so far; what is below 0 is then cut off. Takes a call of `tables_at` for each round, and the
// memory of five copies of the tables beside it. Errors: CANCELLED soon after `stop` is requested.
absl::StatusOr<NonNegativeTables> AscendDual(const DualProblem& problem, Tables zeros,
                                             const std::stop_token& stop);

}  // namespace curator::dp
