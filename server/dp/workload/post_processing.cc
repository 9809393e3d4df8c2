#include "dp/workload/post_processing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"

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

// Lagrange: the nearest tables that agree, have the total and no negative cell are Estimate(measured + m) for
// some multipliers m >= 0 that are 0 where a cell is positive: a projection, so no eigenvalue is above 1. The
// weights of the squares are the same for all cells of a marginal, so multipliers and clipping are cell by
// cell whatever they are.
absl::StatusOr<NonNegativeTables> NonNegativeConsistent(const MarginalConsistency& consistency,
                                                        const Tables& measured,
                                                        std::span<const MeasuredShape> shapes,
                                                        const std::stop_token& stop) {
  const double total = std::max(TotalOf(consistency.Estimate(measured, std::nullopt).front()), 0.0);
  DualProblem problem;
  problem.tables_at = [&](const Tables& multipliers) {
    Tables raised = measured;
    for (size_t i = 0; i < raised.size(); ++i)
      for (size_t c = 0; c < raised[i].size(); ++c) raised[i][c] += multipliers[i][c];
    return consistency.Estimate(std::move(raised), total);
  };
  for (const MeasuredShape& shape : shapes) problem.weights.push_back(1 / shape.variance);
  Tables zeros;
  for (const CellValues& table : measured) zeros.emplace_back(table.size(), 0.0);
  return AscendDual(problem, std::move(zeros), stop);
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
                                          const PostProcessing& steps, const std::stop_token& stop) {
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
  ASSIGN_OR_RETURN(NonNegativeTables projected,
                   NonNegativeConsistent(consistency, result.marginals, shapes, stop));
  result = {std::move(projected.tables), projected.disagreement};
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
