// Utilities rounded to the public lattice, and how far one privacy unit can move their scores.
//
// Everything here is computed from public facts. Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/group_scores.h"
#include "dp/kernel/utility/utility.h"

namespace curator::dp {

// What a unit's sum of values is compared with before it is clipped.
enum class Reference { kZero, kBestCandidate };

// A unit contributes clip(sum over its records of value - reference, low, high), all in lattice steps.
struct LatticeSum {
  std::vector<int64_t> values;  // value of candidate j in cell x: values[x * candidates + j]
  Reference reference = Reference::kZero;
  int64_t low = 0;
  int64_t high = 0;
};

struct LatticeFrequency {
  int64_t most_per_unit = 1;
};

struct LatticeQuantile {
  int64_t numerator = 1;
  int64_t denominator = 2;
};

struct LatticeUtility {
  AttributeSet attributes;
  size_t candidates = 0;
  std::variant<LatticeSum, LatticeFrequency, LatticeQuantile, LatticeGroups> kind;
  std::vector<int64_t> bonuses;  // of each candidate, in steps
  int64_t range = 1;             // in steps, at least 1
};

// Rounds a query to the lattice. `bonuses` are public numbers added to the scores: one for each candidate,
// or none at all.
//
// Claim. On neighbouring tables let d_i be the change of candidate i's score, in steps. Then
// |d_i - d_j| <= range for all i and j. Proof: above each kind in lattice_utility.cc.
//
// Claim. Every score is an exact integer below 2^62. Proof: a table has fewer than 2^31 rows, hence fewer
// units. A unit adds at most kLargestClip, that is 2^30 steps, to the score of a LatticeSum or of clipped
// LatticeGroups: below 2^61 in all; for unclipped ones see RecordsInGroups below. Within a unit, rows'
// values of at most kLargestValue, 2^31 steps, sum to less than 2^62, so that the difference of two such sums
// is below 2^63. A frequency is at most the number of rows, below 2^51 steps; a quantile misses by at most
// 1000 records for each row, below 2^61 steps. A bonus is at most 2^60 steps.
//
// Errors: INVALID_ARGUMENT for no candidates, a malformed marginal, a table that has not one number for each
// cell, numbers that are NaN or plus infinity, bounds out of order, a clip or a quantile out of range,
// bonuses of another number than candidates; FAILED_PRECONDITION where a sensitivity rests on a
// record bound that the unit does not have; OUT_OF_RANGE when a bound, a bonus or the number of values
// exceeds its limit.
absl::StatusOr<LatticeUtility> ToLattice(const Utility& utility, std::span<const double> bonuses,
                                         const Domain& domain, const UnitBound& unit);

// How far apart one unit can move the scores of two codes as the value of this quantile of a group of
// records, in steps. Records may leave the group, enter it, or have another code. Errors: INVALID_ARGUMENT
// for a quantile that is not strictly between 0 and 1, or a denominator above kLargestQuantileDenominator;
// those of MarginalsSensitivity() for the unit.
absl::StatusOr<int64_t> QuantileRange(const UnitBound& unit, int64_t numerator, int64_t denominator);

// A query about groups, rounded to the lattice, and how far apart one unit can move two scores.
struct QuestionOnGroups {
  LatticeGroups lattice;
  int64_t range = 1;  // in steps: |d_i - d_j| of the scores' changes d
};

// Groups that are clipped. Neighbours: as the role says.
//
// Claim. A group that enters or leaves moves scores apart by at most the clip (in steps): range = clip under
// ADD_REMOVE, twice that under REPLACE_ONE. A group around a record that changes, likewise 2 clip and 4 clip.
// Proof. A group's contributions to the scores lie in [-clip, 0], whatever its members and however they are
// weighed, because each is clipped to that; they are a function of the group's own members alone. One
// vector of contributions that enters or leaves has entries within clip of each other. A record that enters
// or leaves replaces the vector of its group by another one (of zeros, for an empty group): two such
// vectors. A record that is replaced does so in two groups at most.
//
// Errors: those of CheckGroupModel(); INVALID_ARGUMENT for a width or clip that is not above 0, a weight
// inside the integral where the model has none, a role that the unit does not have; OUT_OF_RANGE for a clip
// above kLargestClip.
absl::StatusOr<QuestionOnGroups> OnLattice(const ClippedGroups& utility, int64_t codes,
                                           const UnitBound& unit);

// Records that are units of their own, in groups; the score is the sum over groups of the logarithm of their
// integrated, weighted density.
//
// Claim. range = D + 4 E, D the largest spread of one record (record_influence.h), in steps,
// E = ErrorInSteps(); twice that under REPLACE_ONE. Proof. Adding a record changes the exact logarithm of one
// group by h, of which max - min <= D; the group's two scores are each within E of the exact logarithms, so
// a change d_i of a score is within 2 E of h_i, and |d_i - d_j| <= D + 4 E. A replaced record is one that
// leaves and one that enters.
//
// This is why a record's weight must be a function of its own response: then the others' terms stay as they
// are. Clipping terms record by record would not do, as integrated densities are no sums over records; and a
// group's own weight would change with each of its records, and with it what all others contribute.
//
// Claim. Scores are below 2^61.1, with bonuses below 2^62. Proof. |h| <= D + 16, because
// -a ln(2 pi within^2) / 2 lies between its bounds and is at most 16 in absolute value, as within lies in
// [1e-6, 1e6]; D <= kLargestClip, and there are fewer than 2^31 records. (Binomial: a group adds less than
// 64.)
//
// Errors: those of CheckGroupModel(); INVALID_ARGUMENT for a width that is not above 0, and where units may
// own more than one record; OUT_OF_RANGE for a spread above kLargestClip.
absl::StatusOr<QuestionOnGroups> OnLattice(const RecordsInGroups& utility, int64_t codes,
                                           const UnitBound& unit);

}  // namespace curator::dp
