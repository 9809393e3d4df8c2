// The queries over one attribute from which a workload over it is answered with the least noise.
//
// Let G = sum of w q q^T over the queries q of the workload (its Gram matrix), c an offset: a distribution of
// the codes with 1^T c = 1. A strategy is a positive semidefinite S with S c = 0; its queries R have R^T R =
// S, and noise of variance 1 on each costs max_j S_jj. What is answered through the strategy is W (I - c 1^T)
// x, with the total variance tr((I - 1 c^T) G (I - c 1^T) S^+). The least of it over all S with S_jj <= 1 is
// found by a multiplicative fixed point on weights w_j of the codes:
//
//   U: an orthonormal basis of what is orthogonal to c
//   F: U B, where B B^T = A = U^T (I - 1 c^T) G (I - c 1^T) U
//   V, l: F^T diag(w) F = V diag(l) V^T, with sum w = 1
//   M, g: M = F V diag(l^-1/2) V^T F^T, g = diag(M)
//   the least possible, from below: (sum sqrt(l))^2, for any w (weak duality)
//   attained by S = M / max g: sum sqrt(l) max_j g_j
//   the next weights: w_j g_j^p, normalised
//
// A workload that does not need all codes - 1 directions has a singular A. [R; 1^T] is to be invertible
// nevertheless, so that A's eigenvalues are raised to 1e-7 of their mean before S is sought: with few queries
// the variance is then up to some 0.2% above the least. `variance` and `gap` are those of G as it is.
//
// Memory: some matrices of codes x codes doubles. Time: O(codes^3) a round, some 10 rounds for a gap of 1e-4,
// 15 to 25 for 1e-6; 2 ms a round for 100 codes. Thread-safe: plain values and pure functions; the same input
// gives the same numbers on one machine.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/queries/product_queries.h"

namespace curator::dp {

inline constexpr int64_t kMostSolvedCodes = 256;

// A symmetric matrix of codes x codes, row-major.
using Gram = std::vector<double>;

// A strategy in doubles.
struct SolvedAxis {
  int64_t codes = 0;
  std::vector<double> offset;    // c
  std::vector<double> strategy;  // S, codes x codes
  std::vector<double> inverse;   // (I - c 1^T) S^+ (I - 1 c^T): q^T inverse q is the variance of q's part
  double variance = 0;           // tr((I - 1 c^T) G (I - c 1^T) S^+), with S_jj <= 1
  double gap = 0;                // variance / the certified least - 1
};

class AxisSolver {
 public:
  // `gram` of `codes` codes, 2 <= codes <= kMostSolvedCodes, positive semidefinite and not 0. Solves it
  // without an offset first, for c* = S*^-1 1 / (1^T S*^-1 1), without its negative parts: the offset that
  // the best strategy without the condition S c = 0 has by itself.
  AxisSolver(int64_t codes, Gram gram);

  // (1 - evenness) c* + evenness / codes, rounded to integers divided by 64 codes, as Rounded() does: then
  // rounding the queries costs next to nothing. 0 <= evenness <= 1.
  std::vector<double> OffsetAt(double evenness) const;

  // The best strategy for an offset (with sum 1 and no negative parts), up to `most_gap` (where A is not
  // singular), or after kMostRounds. Starts from the weights of the call before.
  static constexpr int kMostRounds = 200;
  SolvedAxis Solve(const std::vector<double>& offset, double most_gap);

 private:
  int64_t codes_;
  Gram gram_;
  std::vector<double> best_offset_;
  std::vector<double> weights_;
};

// The strategy as codes - 1 integer queries whose weights lie within +-`scale`: the rows of a root of S,
// rounded so that they are exactly 0 on an integer offset close to c; on c itself where it is from
// OffsetAt(). Then the variance of 100 codes' prefixes or ranges grows by 0.05% to 0.3% with scale = 2^10, by
// 0.001% to 0.03% with 2^15.
// The variance factor is near the square of what R was scaled by.
struct IntegerAxis {
  AxisQueries queries;
  std::vector<double> offset;  // the exact offset of the queries: integers divided by their sum
};
// 2 <= scale <= kLargestWeight (linear_queries.h). Errors: INTERNAL where no such rows were found, or they
// are not independent (a scale that is too small).
absl::StatusOr<IntegerAxis> Rounded(const SolvedAxis& solved, int64_t scale);

}  // namespace curator::dp
