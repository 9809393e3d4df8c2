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

// Rounds a question to the lattice. `bonuses` are public numbers added to the scores: one for each candidate,
// or none at all.
//
// Claim. On neighbouring tables let d_i be the change of candidate i's score, in steps. Then
// |d_i - d_j| <= range for all i and j. Proof: above each kind in lattice_utility.cc.
//
// Claim. Every score is an exact integer below 2^62. Proof: a table has fewer than 2^31 rows, hence fewer
// units. A unit adds at most kLargestClip, that is 2^30 steps, to the score of a LatticeSum or of clipped
// LatticeGroups: below 2^61 in all; to that of unclipped ones see group_utility.h. Within a unit, rows'
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

}  // namespace curator::dp
