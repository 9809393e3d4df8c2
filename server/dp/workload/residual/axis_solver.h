// The queries over one attribute from which a workload over it is answered with the least noise.
//
// Let G = sum of w q q^T over the queries q of the workload (its Gram matrix), c an offset: a distribution of
// the codes with 1^T c = 1. A strategy is a positive semidefinite S with S c = 0; its queries R have R^T R =
// S, and noise of variance 1 on each costs max_j S_jj. What is answered through the strategy is W (I - c 1^T)
// x, with the total variance tr((I - 1 c^T) G (I - c 1^T) S^+). The least of it over all S with S_jj <= 1 is
// found by a multiplicative fixed point on weights w_j of the codes:
//
//   U an orthonormal basis of what is orthogonal to c;  A = U^T (I - 1 c^T) G (I - c 1^T) U;  D = U^T diag(w) U
//   A^1/2 D A^1/2 = V diag(l) V^T
//   the least possible, from below:   (sum sqrt(l))^2                     (any w: weak duality)
//   attained by S = U M U^T / max g:  sum sqrt(l) max_j g_j,  M = A^1/2 V diag(l^-1/2) V^T A^1/2, g = diag(U M U^T)
//   w_j <- w_j g_j, normalised
//
// Memory: some matrices of codes x codes doubles. Time: O(codes^3) a round, some 10 to 60 rounds.
// Thread-safe: plain values and pure functions; the same input gives the same numbers on one machine.
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
  std::vector<double> inverse;  // S^+ in the sense above: what q^T inverse q is the variance of the part of q
  double variance = 0;          // tr((I - 1 c^T) G (I - c 1^T) S^+), with S_jj <= 1
  double gap = 0;               // variance / the certified least - 1
};

class AxisSolver {
 public:
  // `gram` of `codes` codes, 2 <= codes <= kMostSolvedCodes, positive semidefinite and not 0. Solves it
  // without an offset first, for c* = S*^-1 1 / (1^T S*^-1 1): the offset that the best strategy without the
  // condition S c = 0 has by itself.
  AxisSolver(int64_t codes, Gram gram);

  // (1 - evenness) c* + evenness / codes; 0 <= evenness <= 1.
  std::vector<double> OffsetAt(double evenness) const;

  // The best strategy for an offset, up to `most_gap`, or after kMostRounds. Starts from the weights of the
  // call before.
  static constexpr int kMostRounds = 200;
  SolvedAxis Solve(const std::vector<double>& offset, double most_gap);

 private:
  int64_t codes_;
  Gram gram_;
  std::vector<double> best_offset_;
  std::vector<double> weights_;
};

// The strategy as codes - 1 integer queries whose weights lie within +-`scale`: the rows of a root of S,
// rounded so that they are exactly 0 on an integer offset close to c, which `offset` of the result has.
struct IntegerAxis {
  AxisQueries queries;
  std::vector<double> offset;  // the exact offset of the queries: integers divided by their sum
};
// Errors: INTERNAL where no such rows were found (a scale that is too small).
absl::StatusOr<IntegerAxis> Rounded(const SolvedAxis& solved, int64_t scale);

}  // namespace curator::dp
