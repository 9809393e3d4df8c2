// Makes views agree wherever they overlap (Li, Zhang, Wang, DPSyn 2018, section 3; Qardaji, Yang, Li 2014).
//
// For every set A of attributes that views share, small sets before large ones: the views' own estimates of
// the marginal A are averaged, and each view is moved so that its marginal is the average. Shared sets are
// closed under intersection, which makes the order correct: when A is adjusted, the views that hold A
// agree already on every shared B inside A, so averaging changes none of them; and a view's marginal over any
// other shared B changes by what its marginal over the intersection of A and B changes, which is nothing.
//
// Not thread-safe: one plan belongs to one set of views, and works in place. Functions of public noisy
// answers.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// A set of attributes in at least two views.
struct SharedSet {
  AttributeSet set;
  std::vector<size_t> views;  // those that hold all of it
};

// All intersections of two or more of `sets`, by rising size; the empty set first. Errors: INVALID_ARGUMENT
// ("settings.views", with the numbers) when there are more than MostShared(sets.size()), which is at most
// kMostSharedSets, so that finding them takes at most kMostIntersections; CANCELLED as in Pacer.
inline constexpr size_t kMostSharedSets = 200'000;
inline constexpr size_t kMostIntersections = size_t{1} << 25;
// How many shared sets so many sets may have: the fewer, the more sets there are to be compared with each.
size_t MostShared(size_t sets);
absl::StatusOr<std::vector<SharedSet>> SharedSets(const std::vector<AttributeSet>& sets, Pacer& pacer);

// Overload without cancellation.
absl::StatusOr<std::vector<SharedSet>> SharedSets(const std::vector<AttributeSet>& sets);

// One pass. The weights are the inverse variances of the views' estimates: w_i ~ 1 / (C_i v_i), with C_i the
// cells that are summed for one of A's and v_i the noise of one; for equal noise those of the paper. The
// difference is spread evenly over the C_i cells. Totals (the empty set) and all shared marginals agree
// afterwards, up to rounding. Errors: CANCELLED as in Pacer.
absl::Status MakeConsistent(const std::vector<SharedSet>& shared, std::vector<ViewTable>& views,
                            Pacer& pacer);

// The same by proportion: each view's cells are multiplied by average / own marginal, which keeps them from 0
// on upwards, and so one pass does not suffice: it is repeated until no marginal of a shared set moves by
// more than `tolerance` times the total, at most `most_sweeps` times. All cells must be 0 or more. A marginal
// cell that is 0 in one view and not in the average gets its share evenly. A view of a single attribute is
// the average itself of that attribute.
absl::Status RakeConsistent(const std::vector<SharedSet>& shared, double tolerance, int most_sweeps,
                            std::vector<ViewTable>& views, Pacer& pacer);

}  // namespace curator::dp
