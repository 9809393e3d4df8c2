// How far one privacy unit can move a vector of counts, and the noise that covers it: the only place where
// sensitivities of counts are computed. (Those of selections: dp/kernel/selection_score.h and
// dp/kernel/utility/lattice_utility.h.)
//
// Claim for marginals. Let a unit own at most m records, and let k marginals be counted over a table, each
// cell of each marginal one coordinate. A record lies in exactly one cell of each marginal. Then, for tables
// that are neighbours,
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

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/grouped_sums.h"
#include "dp/queries/linear_queries.h"

namespace curator::dp {

// Bounds on the change of a vector of integer counts between neighbours: in L1, in squared L2, and in one
// coordinate (linf).
struct Sensitivity {
  int64_t l1 = 0;
  int64_t l2_squared = 0;
  int64_t linf = 0;

  bool operator==(const Sensitivity&) const = default;
};

// The sensitivity of `marginals` >= 1 marginals counted together. Errors: INVALID_ARGUMENT for
// `marginals` < 1 or a unit bound below 1; FAILED_PRECONDITION where a unit may own any number of records;
// OUT_OF_RANGE when a sensitivity exceeds 2^53 (refused, never wrapped).
absl::StatusOr<Sensitivity> MarginalsSensitivity(const UnitBound& unit, int64_t marginals);

// The sensitivity of the number of records. Errors: those of MarginalsSensitivity().
absl::StatusOr<Sensitivity> RecordCountSensitivity(const UnitBound& unit);

// The sensitivity of the errors of `candidates` >= 1 public estimates of marginals together: of each the sum
// over its cells of |count - estimate|. The same marginal may occur several times.
//
// Claim. Let D be the L1 sensitivity of one marginal, m under ADD_REMOVE and 2 m under REPLACE_ONE. Then k
// errors move by at most k D in L1, k D^2 in squared L2, and D each.
//
// Proof. An error is the L1 norm of c - e, and the estimate e is the same for both tables: by the triangle
// inequality ||c - e|_1 - |c' - e|_1| <= |c - c'|_1 <= D. All k may move by D at once.
//
// Not enough, and each caught by a test: D for the whole list, and under REPLACE_ONE m in place of 2 m: a
// record that leaves a cell that is above its estimate, and enters one that is below, lowers the error twice.
// Errors: those of MarginalsSensitivity().
absl::StatusOr<Sensitivity> ErrorsSensitivity(const UnitBound& unit, int64_t candidates);

// The sensitivity of the answers of all groups of queries together, as one vector.
//
// Claim. Let w_x be the weights of a record x in all queries of all groups, s_q the distance from the
// smallest to the largest weight of query q, 0 included, and m the records that a unit may own. Then the
// answers move by at most
//
//                L1                                 squared L2                               one answer
//   ADD_REMOVE   m max_x |w_x|_1                    m^2 max_x |w_x|_2^2                      m max |w|
//   REPLACE_ONE  m min(2 max_x |w_x|_1, sum_q s_q)  m^2 min(c max_x |w_x|_2^2, sum_q s_q^2)  m max_q s_q
//
// with c = 2 when no weight is negative, else 4. The largest over x is over all values of all attributes: of
// queries over one attribute set it is that of their common cells, of queries over several it is found by
// LargestSum() (max_sum.h), exactly or from above; so predicates that no record fulfils together are not
// added up, whichever of their attributes keeps them apart. Under REPLACE_ONE the minimum is also taken set
// by set and the bounds added up; and where all groups are over one small marginal, every pair of cells is
// compared.
//
// Proof. A record x adds w_x. ADD_REMOVE: a unit adds a sum of at most m such vectors, whose norm is at most
// m times the largest. REPLACE_ONE: it adds such a sum b and takes one, a, away; pair the records (those
// without a partner with 0). Each pair moves the vector by at most max |w_x - w_y| in any norm, 0 among the
// w: so at most by the largest of all pairs where that is computed; each query by at most s_q, hence sum_q
// s_q in L1, sum_q s_q^2 in squared L2; and by at most two vectors in any norm, so 2 max |w_x|_1 and (2 max
// |w_x|_2)^2. Where no weight is negative, w_x.w_y >= 0 and |w_x - w_y|_2^2 <= 2 max |w_x|_2^2. Parts of the
// vector add up in L1 and in squared L2, so bounds of a pair may be taken part by part. The m pairs together:
// m times in L1, m^2 times in squared L2.
//
// A box has weight 1 in its cells, so |w_x|_1 and |w_x|_2^2 are the number of boxes that x lies in. A parity
// has its weight in every cell, in absolute value, so it adds that to |w_x|_1 for every x, and the span of
// twice its weight.
//
// So a marginal is 1, not its number of cells, a single query with weights 0 and 1 is 1 under both relations,
// k parities are k, all ranges of n bins are the most that share one, floor((n + 1)^2 / 4), and predicates
// that exclude each other are 1. Errors: those of ValidateQueries() and of MarginalsSensitivity() for the
// unit; OUT_OF_RANGE when a sensitivity exceeds 2^53.
absl::StatusOr<Sensitivity> QueriesSensitivity(const Domain& domain, const UnitBound& unit,
                                               std::span<const QueryGroup> groups);

// The sensitivity of integer sums over disjoint groups of records, to which each record adds a number of
// `range` (dp/queries/grouped_sums.h), or 0 where it has none. `sums` >= 1 is their number.
//
// Claim. Let M = max(|low|, |high|) be the largest absolute value, W = max(high, 0) - min(low, 0) the width
// with 0 included, and k the records of a unit. Then
//
//                                  L1      squared L2             one sum
//   ADD_REMOVE                     k M     k^2 M^2                k M
//   REPLACE_ONE   one sum          k W     k^2 W^2                k W
//                 several sums     2 k M   k^2 max(W^2, 2 M^2)    k W
//
// Proof. Each record adds to one sum at most. ADD_REMOVE: a unit adds at most k numbers of at most M in
// absolute value, whose norm is largest where they share a sum. REPLACE_ONE: pair the records that leave with
// those that enter, those without a partner with 0. A pair moves one sum by the difference of two numbers of
// the range or 0, at most W; or two sums by at most M each, 2 M in L1 and 2 M^2 in squared L2. W <= 2 M. The
// k pairs together move by at most k times the largest in any norm.
//
// Not enough, and each caught by a test: high - low in place of W (a record that leaves a group where all
// values lie far from 0 takes its whole value along), and 2 k^2 M^2 alone (values of opposite signs in one
// sum move it by 2 M: 4 M^2).
// Errors: INVALID_ARGUMENT for `sums` < 1, a range that does not rise and one of 0 alone; those of
// MarginalsSensitivity() for the unit; OUT_OF_RANGE when a sensitivity exceeds 2^62.
absl::StatusOr<Sensitivity> SumsSensitivity(const UnitBound& unit, const SummandRange& range, int64_t sums);

// The sensitivity of the numbers of units that have a record in each of `groups` >= 1 disjoint groups of
// records.
//
// Claim. With k the records of a unit, which may be unbounded:
//
//                  L1                   squared L2           one count
//   ADD_REMOVE     min(k, groups)       min(k, groups)       1
//   REPLACE_ONE    min(2 k, groups)     min(2 k, groups)     1
//
// Proof. A unit counts once in each group where it has a record: at most in k of them. REPLACE_ONE: the old
// unit leaves at most k groups and the new one enters as many; a group that both are in does not change. So
// no count changes by more than one, of at most all groups.
// Errors: INVALID_ARGUMENT for `groups` < 1 or a unit bound below 1.
absl::StatusOr<Sensitivity> UnitCountsSensitivity(const UnitBound& unit, int64_t groups);

// How many selections a quantile of each of `groups` disjoint groups costs, whatever their number: 2 under
// REPLACE_ONE where there are several, else 1 (PrivateQueries::SelectQuantiles).
int64_t QuantileSelections(const UnitBound& unit, int64_t groups);

// What a group of records is to the privacy unit.
enum class GroupRole {
  kUnit,          // units are groups: one enters or leaves as a whole
  kAroundRecord,  // records are units of their own, in groups that the table knows: one of them changes
};

// Bins of group sizes: bin i holds the groups of least_sizes[i] to least_sizes[i + 1] - 1 records, the last
// one all larger groups. INVALID_ARGUMENT unless the sizes rise from 1 and there are at most 2^16 of them.
absl::Status CheckSizeBins(std::span<const int64_t> least_sizes);

// The sensitivity of the numbers of groups in `bins` >= 1 bins.
//
// Claim. With one bin, the number of groups, every sensitivity is 1. With more of them:
//
//                                       L1   L2^2   Linf
//   units are groups    ADD_REMOVE       1    1      1
//                       REPLACE_ONE      2    2      1
//   units are records   ADD_REMOVE       2    2      1
//   in groups           REPLACE_ONE      4    8      2
//
// Proof. A group that enters or leaves changes one bin by one; of two that are exchanged, one leaves its bin
// and the other enters its own. A record that enters or leaves moves its group from one bin to another, or
// makes or ends a group: at most -1 in one bin and +1 in another. One that is replaced does both: the
// triangle inequality, L2 <= 2 sqrt(2). The number of groups itself grows or falls by one at most; where a
// record leaves and another enters, it can do one of each.
Sensitivity GroupSizesSensitivity(NeighbourRelation relation, GroupRole role, size_t bins);

// The sensitivity of `marginals` >= 1 marginals that count groups, which are the units, each in one cell of
// each marginal.
//
// Claim. That of marginals of units of one record: k in L1 and squared L2 under ADD_REMOVE, 2 k under
// REPLACE_ONE, 1 in one count.
//
// Proof. A group's cell in each marginal is a function of its own records: the table of one row for each
// group, in that cell, is one in which each unit owns one record. The bound of k marginals is the sum of k
// bounds of one, so these tables need not be the same. Of a unit without records there is no row. Errors:
// those of MarginalsSensitivity().
absl::StatusOr<Sensitivity> GroupMarginalsSensitivity(NeighbourRelation relation, int64_t marginals);

// The accounting event of adding `noise` to a vector of `sensitivity`. A discrete Gaussian's Linf is stated
// where its L2 does not imply it.
Event NoiseEvent(const NoiseSpec& noise, const Sensitivity& sensitivity);

// The noise that costs exactly `epsilon` on a vector of `sensitivity`: discrete Laplace of scale
// L1 / epsilon. Errors: INVALID_ARGUMENT ("spend.epsilon") for epsilon <= 0, and when the reduced quotient
// does not fit or exceeds kMaxNoiseScale.
absl::StatusOr<NoiseSpec> LaplaceNoiseFor(const Sensitivity& sensitivity, Epsilon epsilon);

// The noise that costs exactly `rho`: discrete Gaussian of sigma^2 = L2^2 / (2 rho). Errors: the same with
// "spend.rho" and kMaxNoiseVariance.
absl::StatusOr<NoiseSpec> GaussianNoiseFor(const Sensitivity& sensitivity, Rho rho);

// Noise larger than this is refused: it would be useless, and the limit keeps all sums of counts and noise
// far from 2^63.
inline constexpr int64_t kMaxNoiseScale = int64_t{1} << 30;
inline constexpr int64_t kMaxNoiseVariance = int64_t{1} << 60;

}  // namespace curator::dp
