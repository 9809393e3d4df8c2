// What noise of many variances on products of queries costs (dp/queries/product_queries.h).
//
// Claim. Let group B have the answers m y, y = R x, to the cells x of its marginal, with the multiplier m,
// and let answer r get independent discrete Gaussian noise of the parameter m^2 s f_r, with s = sigma_squared
// of the group and f_r the product of its queries' variance factors. Let K(x, y) = sum_r R_rx R_ry / f_r for
// two cells, and k the records of a unit. Then all groups together are rho-zCDP with rho the sum over the
// groups of k^2 N / (2 s),
//
//   ADD_REMOVE    N = max_x K(x, x) = c
//   REPLACE_ONE   N = 2 c + 2 max(0, max_i l_i c / c_i)
//
// where c = prod c_i, c_i = max_x K_i(x, x), and l_i = max(0, -min_{x != y} K_i(x, y)) are those of the
// queries over each attribute. For Helmert contrasts of n codes K_i(x, y) = [x = y] - 1/n, so c_i = (n - 1)/n
// and l_i/c_i = 1/(n - 1). A group without attributes counts the records: N = 1 under both relations. The
// multiplier has no part in it.
//
// Proof. A shift m d_r of an answer costs d_r^2 / (2 s f_r) (Canonne, Kamath, Steinke 2020), and independent
// noises add up: |d|^2 / (2 s) in the norm that divides by f_r. A record adds the column R_x, whose squared
// norm is K(x, x). K is the product of the K_i, because R and f are products. REPLACE_ONE: pair the records
// that leave with those that enter, those without a partner with 0. |R_x - R_y|^2 = K(x, x) + K(y, y) - 2
// K(x, y), at most 2 c - 2 K(x, y), and a negative K(x, y) has an odd number of negative factors: with one of
// them, -l_i at least, and |K_j| <= c_j for the others (Cauchy and Schwarz), K(x, y) >= -max_i l_i c / c_i. k
// records move by at most k times the largest of one: k^2. The number of records moves by at most k under
// both relations (sensitivity.h). The Helmert contrasts divided by sqrt(k (k + 1)) and the vector (1, ...,
// 1)/sqrt(n) are an orthonormal basis, so K_i = I - J/n.
//
// Not enough, and each caught by a test: 2 c under REPLACE_ONE (two codes of a binary attribute have opposite
// contrasts: 4 c); the largest row in place of the largest column; variances that are not divided by.
//
// The costs are those of a norm of the move, so they are those of LinearDraws for accounts of parts: see
// dp/workload/workload_plan.h.
//
// Thread-safe: pure functions.
#pragma once

#include <span>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/queries/product_queries.h"

namespace curator::dp {

// The rho of all groups together, each with the parameter at its position; rounded up. Errors: those of
// ValidateProducts(); INVALID_ARGUMENT unless there is a positive parameter for each group;
// FAILED_PRECONDITION where a unit may own any number of records, INVALID_ARGUMENT where it owns fewer than
// one; OUT_OF_RANGE for a rho that no account could hold.
absl::StatusOr<Rho> CostOfProducts(const Domain& domain, const UnitBound& unit, const ProductQueries& queries,
                                   std::span<const Rational> sigma_squared);

}  // namespace curator::dp
