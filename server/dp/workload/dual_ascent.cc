#include "dp/workload/dual_ascent.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "base/stop.h"

namespace curator::dp {
namespace {

Tables WithoutNegatives(Tables tables) {
  for (CellValues& table : tables)
    for (double& cell : table) cell = std::max(cell, 0.0);
  return tables;
}

// The largest total that a table loses when its negative cells become 0: no shared sum moves by more.
double MostNegativeMass(const Tables& tables) {
  double most = 0;
  for (const CellValues& table : tables) {
    double mass = 0;
    for (const double cell : table) mass -= std::min(cell, 0.0);
    most = std::max(most, mass);
  }
  return most;
}

// The inner product of the multipliers' last two steps: momentum overshoots where it is negative.
bool Overshoots(const Tables& at, const Tables& next, const Tables& last) {
  double product = 0;
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t c = 0; c < at[i].size(); ++c) product += (at[i][c] - next[i][c]) * (next[i][c] - last[i][c]);
  return product > 0;
}

// How far from the root mean square of a cell's distance to the nearest tables these are at most: their
// duality gap. Multipliers where cells are positive push them up for nothing.
double SlacknessOf(const Tables& multipliers, const Tables& tables, std::span<const double> weights) {
  double gap = 0;
  double sum = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    double products = 0;
    for (size_t c = 0; c < tables[i].size(); ++c) products += std::abs(multipliers[i][c] * tables[i][c]);
    gap += products * weights[i];
    sum += static_cast<double>(tables[i].size()) * weights[i];
  }
  return std::sqrt(gap / sum);
}

}  // namespace

absl::StatusOr<NonNegativeTables> AscendDual(const DualProblem& problem, Tables zeros,
                                             const std::stop_token& stop) {
  Tables last = std::move(zeros);
  Tables at = last;
  Tables best;
  double best_excess = std::numeric_limits<double>::infinity();  // over what is tolerated
  double momentum = 1;
  for (int round = 0; round < kMostRounds && best_excess > 1; ++round) {
    RETURN_IF_ERROR(CheckGoesOn(stop));
    const Tables tables = problem.tables_at(at);
    const double excess = std::max(MostNegativeMass(tables) / kMostDisagreement,
                                   SlacknessOf(at, tables, problem.weights) / kMostDistance);
    if (excess < best_excess) {
      best = tables;
      best_excess = excess;
    }
    Tables next = at;
    for (size_t i = 0; i < next.size(); ++i)
      for (size_t c = 0; c < next[i].size(); ++c) next[i][c] = std::max(at[i][c] - tables[i][c], 0.0);
    if (Overshoots(at, next, last)) momentum = 1;
    const double grown = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    const double carried = (momentum - 1) / grown;
    momentum = grown;
    for (size_t i = 0; i < next.size(); ++i)
      for (size_t c = 0; c < next[i].size(); ++c) at[i][c] = next[i][c] + carried * (next[i][c] - last[i][c]);
    last = std::move(next);
  }
  const double disagreement = MostNegativeMass(best);
  return NonNegativeTables{WithoutNegatives(std::move(best)), disagreement};
}

}  // namespace curator::dp
