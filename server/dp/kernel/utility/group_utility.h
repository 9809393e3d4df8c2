// Questions about groups, rounded to the lattice, and how far apart one unit can move two scores.
//
// Everything here is computed from public facts. Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/group_scores.h"
#include "dp/kernel/utility/utility.h"

namespace curator::dp {

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
