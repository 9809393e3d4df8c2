#include "dp/workload/post_processing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/workload/marginal_consistency.h"

namespace curator::dp {
namespace {

double TotalOf(const CellValues& cells) {
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

// The nearest table to `cells` without negative cells and with the sum `total` >= 0: all cells decrease by
// the same amount and stop at 0 (the projection onto a simplex; Held, Wolfe, Crowder 1974).
CellValues NonNegativeOfTotal(CellValues cells, double total) {
  CellValues falling = cells;
  std::sort(falling.begin(), falling.end(), std::greater<>());
  double sum = 0;
  double level = 0;
  for (size_t kept = 1; kept <= falling.size(); ++kept) {
    sum += falling[kept - 1];
    const double candidate = (sum - total) / static_cast<double>(kept);
    if (kept > 1 && falling[kept - 1] <= candidate) break;
    level = candidate;
  }
  for (double& cell : cells) cell = std::max(cell - level, 0.0);
  return cells;
}

std::vector<CellValues> WithoutNegatives(std::vector<CellValues> tables) {
  for (CellValues& table : tables)
    for (double& cell : table) cell = std::max(cell, 0.0);
  return tables;
}

// The largest total that a table loses when its negative cells become 0: no shared sum moves by more.
double MostNegativeMass(const std::vector<CellValues>& tables) {
  double most = 0;
  for (const CellValues& table : tables) {
    double mass = 0;
    for (const double cell : table) mass -= std::min(cell, 0.0);
    most = std::max(most, mass);
  }
  return most;
}

using Tables = std::vector<CellValues>;

// The inner product of the multipliers' last two steps: momentum overshoots where it is negative.
bool Overshoots(const Tables& at, const Tables& next, const Tables& last) {
  double product = 0;
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t c = 0; c < at[i].size(); ++c) product += (at[i][c] - next[i][c]) * (next[i][c] - last[i][c]);
  return product > 0;
}

// How far from the root mean square of a cell's distance to the nearest tables these are at most: their
// duality gap. Multipliers where cells are positive push them up for nothing.
double SlacknessOf(const Tables& multipliers, const Tables& tables, std::span<const MeasuredShape> shapes) {
  double gap = 0;
  double weights = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    double products = 0;
    for (size_t c = 0; c < tables[i].size(); ++c) products += std::abs(multipliers[i][c] * tables[i][c]);
    gap += products / shapes[i].variance;
    weights += static_cast<double>(tables[i].size()) / shapes[i].variance;
  }
  return std::sqrt(gap / weights);
}

// Lagrange: the nearest tables that agree, have the total and no negative cell are Estimate(measured + m) for
// some multipliers m >= 0 that are 0 where a cell is positive. They are found by ascent of the dual, whose
// gradient is the tables themselves with Lipschitz constant 1 (a projection), with Nesterov's momentum,
// restarted when it overshoots (O'Donoghue, Candes 2015). The weights of the squares are the same for all
// cells of a marginal, so multipliers and clipping are cell by cell whatever they are.
PostProcessed NonNegativeConsistent(const MarginalConsistency& consistency, const Tables& measured,
                                    std::span<const MeasuredShape> shapes) {
  const double total = std::max(TotalOf(consistency.Estimate(measured, std::nullopt).front()), 0.0);
  const auto tables_at = [&](const Tables& multipliers) {
    Tables raised = measured;
    for (size_t i = 0; i < raised.size(); ++i)
      for (size_t c = 0; c < raised[i].size(); ++c) raised[i][c] += multipliers[i][c];
    return consistency.Estimate(std::move(raised), total);
  };
  Tables last;
  for (const CellValues& table : measured) last.emplace_back(table.size(), 0.0);
  Tables at = last;
  Tables best;
  double best_excess = std::numeric_limits<double>::infinity();  // over what is tolerated
  double momentum = 1;
  for (int round = 0; round < kMostRounds && best_excess > 1; ++round) {
    const Tables tables = tables_at(at);
    const double excess = std::max(MostNegativeMass(tables) / kMostDisagreement,
                                   SlacknessOf(at, tables, shapes) / kMostDistance);
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
  return {WithoutNegatives(std::move(best)), disagreement};
}

std::vector<CellValues> EachNonNegative(std::vector<CellValues> tables) {
  for (CellValues& table : tables) {
    const double total = std::max(TotalOf(table), 0.0);
    table = NonNegativeOfTotal(std::move(table), total);
  }
  return tables;
}

}  // namespace

std::string Describe(const PostProcessing& steps) {
  std::string words;
  const auto add = [&words](bool chosen, const char* word) {
    if (chosen) words += (words.empty() ? "" : ", ") + std::string(word);
  };
  add(steps.non_negative, "non-negative");
  add(steps.consistent, "consistent");
  add(steps.integer, "integer");
  return words;
}

absl::Status CheckPostProcessing(const Domain& domain, std::span<const MeasuredShape> marginals,
                                 const PostProcessing& steps) {
  if (!steps.consistent || marginals.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckConsistency(domain, marginals));
  int64_t cells = 0;
  for (const MeasuredShape& marginal : marginals) cells += *domain.CellCount(marginal.attributes);
  if (!steps.non_negative || cells <= kMostProjectedCells) return absl::OkStatus();
  return InvalidField("post_processing", "marginals of " + std::to_string(cells) +
                                             " cells together are too many to be non-negative and "
                                             "consistent; at most " +
                                             std::to_string(kMostProjectedCells));
}

absl::StatusOr<PostProcessed> PostProcess(const Domain& domain, std::vector<MeasuredMarginal> marginals,
                                          const PostProcessing& steps) {
  std::vector<MeasuredShape> shapes;
  PostProcessed result;
  for (MeasuredMarginal& marginal : marginals) {
    shapes.push_back(marginal.shape);
    result.marginals.push_back(std::move(marginal.cells));
  }
  if (result.marginals.empty() || !steps.any()) return result;
  RETURN_IF_ERROR(CheckPostProcessing(domain, shapes, steps));
  if (!steps.consistent) {
    if (steps.non_negative) result.marginals = EachNonNegative(std::move(result.marginals));
    if (steps.integer)
      for (CellValues& table : result.marginals) table = RoundedToTotal(table, std::round(TotalOf(table)));
    return result;
  }
  ASSIGN_OR_RETURN(const MarginalConsistency consistency, MarginalConsistency::Create(domain, shapes));
  if (!steps.non_negative) {
    result.marginals = consistency.Estimate(std::move(result.marginals), std::nullopt);
    if (steps.integer) result.marginals = consistency.Rounded(std::move(result.marginals));
    return result;
  }
  result = NonNegativeConsistent(consistency, result.marginals, shapes);
  if (steps.integer) {
    result.marginals = RoundedAlike(domain, shapes, std::move(result.marginals));
    const bool all_agree = std::all_of(shapes.begin(), shapes.end(), [](const MeasuredShape& shape) {
      return shape.attributes.size() <= 2;
    });
    if (all_agree) result.disagreement = 0;
  }
  return result;
}

std::vector<double> PostProcess(AnswerKind kind, std::vector<double> answers, const PostProcessing& steps) {
  for (double& answer : answers) {
    if (steps.non_negative && kind == AnswerKind::kCounts) answer = std::max(answer, 0.0);
    if (steps.integer) answer = std::round(answer);
  }
  return answers;
}

}  // namespace curator::dp
