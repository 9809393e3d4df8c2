// How far one privacy unit can move a vector of marginal counts: the only place where that is decided.
//
// Claim. Let a unit own at most m records, and let k marginals be counted over a table, each cell of each
// marginal one coordinate. A record lies in exactly one cell of each marginal. Then, for tables that are
// neighbours,
//
//                 L1 of the vector   L2^2 of the vector   Linf (one coordinate)   number of records
//   ADD_REMOVE    k m                k m^2                m                       m
//   REPLACE_ONE   2 k m              2 k m^2              m                       m
//
// Proof. ADD_REMOVE: one marginal changes by a vector of integers c >= 0 (or c <= 0 throughout) whose
// absolute values sum to at most m, so its L1 is at most m and its squared L2 at most m^2 (the square of a
// sum of non-negative numbers is at least the sum of their squares), reached when all m records share a cell.
// REPLACE_ONE: the unit's old records leave (a vector a >= 0 of sum at most m) and its new ones enter (b >= 0
// of sum at most m), so in one marginal
//
//   |b - a|_1   <= 2 m
//   |b - a|_2^2 <= |a|_2^2 + |b|_2^2 <= 2 m^2, because a.b >= 0
//   |b_i - a_i| <= m
//
// Marginals add up in L1 and in squared L2. The number of records moves by at most m under both relations (a
// replaced person may own fewer records; a replaced record may be rejected at import).
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/domain/domain.h"
#include "dp/workload/noise_spec.h"

namespace curator::dp {

// Of a whole vector of integer counts.
struct Sensitivity {
  int64_t l1 = 0;
  int64_t l2_squared = 0;
  int64_t linf = 0;

  bool operator==(const Sensitivity&) const = default;
};

// Of `marginals` >= 1 marginals counted together. Errors: INVALID_ARGUMENT for an empty vector or a unit
// bound below 1; FAILED_PRECONDITION where a unit may own any number of records; OUT_OF_RANGE when a
// sensitivity exceeds 2^53 (refused, never wrapped).
absl::StatusOr<Sensitivity> MarginalsSensitivity(const UnitBound& unit, int64_t marginals);

// Of the number of records.
absl::StatusOr<Sensitivity> RecordCountSensitivity(const UnitBound& unit);

// What adding `noise` to a vector of `sensitivity` is, for the accountant. A discrete Gaussian's Linf is
// stated where its L2 does not imply it.
Event NoiseEvent(const NoiseSpec& noise, const Sensitivity& sensitivity);

// The noise that costs exactly `epsilon` on a vector of `sensitivity`: discrete Laplace of scale
// L1 / epsilon. Errors: INVALID_ARGUMENT for epsilon <= 0; OUT_OF_RANGE when the reduced quotient does
// not fit or exceeds kMaxNoiseScale.
absl::StatusOr<NoiseSpec> LaplaceNoiseFor(const Sensitivity& sensitivity, Epsilon epsilon);

// The noise that costs exactly `rho`: discrete Gaussian of sigma^2 = L2^2 / (2 rho). Errors likewise
// ("spend.rho"), with kMaxNoiseVariance as the limit of sigma^2.
absl::StatusOr<NoiseSpec> GaussianNoiseFor(const Sensitivity& sensitivity, Rho rho);

// Noise larger than this is refused: it would be useless, and the limit keeps all sums of counts and noise
// far from 2^63.
inline constexpr int64_t kMaxNoiseScale = int64_t{1} << 30;
inline constexpr int64_t kMaxNoiseVariance = int64_t{1} << 60;

}  // namespace curator::dp
