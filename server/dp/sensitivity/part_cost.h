// What a request posts to the account of each dataset part that it touches, so that the largest of the parts'
// accounts bounds what the whole dataset has lost.
//
// Setting. A public attribute divides the records into parts; which parts a request reads is public. A
// request that reads the parts T depends on the records of T only. Each part has an account, and a request
// posts the same amount x to the account of every part of T, those without records included.
//
// Units. Two neighbouring datasets differ in at most H = m records under ADD_REMOVE (those of the unit, at
// most m in all parts together), and in H = 2 m under REPLACE_ONE (at most m that leave and m that enter,
// wherever they lie). Let w_p be the number of these that lie in the part p, divided by H: the w_p sum to at
// most 1.
//
// Claim. If every request costs these two datasets at most the sum over T of w_p x, in a counter of an
// additive rule, then all requests together cost them at most the largest of the parts' accounts, in that
// counter. Proof. Sum over the requests and exchange the sums: sum_p w_p (what was posted to p) <= max_p
// (what was posted to p), because the weights are at most 1 in all. The weights are fixed by the two
// datasets, so this holds after every prefix, however the requests were chosen: it is what a
// filter needs, counter by counter. (The growing database of Lecuyer, Spahn, Vodrahalli, Geambasu, Hsu 2019
// is the case H = 1.)
//
// Which x is enough for a request of cost c, stated under the dataset's own relation and unit:
//   - H = 1: x = c. The one record lies in a part of T (weight 1) or in none (no change at all).
//   - x = H c, always. Either no record of the difference lies in T, or the weights of T are at least 1/H. It
//     takes one thing of the mechanism: its cost covers units of which only some records lie in T, so also
//     one that only enters or only leaves. All claims of dp/kernel do (sensitivity.h).
//   - Draws whose cost is at least linear in the records that change (LinearDraws): under ADD_REMOVE x = c;
//     under REPLACE_ONE, draw by draw, x = max(c, 2 r), with r the cost of the same draw under ADD_REMOVE.
//     Proof for a change of J records that leave T and I that enter, so that the weights of T are
//     (J + I)/(2 m): see LinearDraws. For m = 1 this says: a record that is replaced within T costs c, one
//     that moves between T and another part costs r, and half of x.
//
// Not enough, and each caught by a test: c alone under REPLACE_ONE (a number of records is as private when a
// record leaves as when it is replaced: c = r); r alone; posting only to parts that have records; a person's
// bound that holds in each part separately.
//
// Thread-safe: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// Draws of which each costs a unit that changes only some of its records at most the same share of what it
// costs in full. With c the cost of the draw for a unit of at most m records, under the dataset's relation,
// and r its cost under ADD_REMOVE, that is, for J records that leave and I that enter:
//   ADD_REMOVE    at most (J/m) c (or (I/m) c: one of them is 0)
//   REPLACE_ONE   at most (J + I)/(2 m) times max(c, 2 r)
//
// It holds for noise on marginal counts, and on the number of records, under every rule. Let k marginals be
// counted. L1 <= k (J + I) and L1 in full is 2 k m (k m under ADD_REMOVE): a share of (J + I)/(2 m). Costs
// are epsilon, linear in L1; its square; and divergences of discrete Laplace noise, which are convex in each
// coordinate's shift and 0 at 0, so at most linear below their ends. L2^2 <= k (J^2 + I^2) <= k m (J + I),
// and in full 2 k m^2: again the share. The number of records moves by |J - I| <= J + I: at most (J + I)/m of
// its full cost r under ADD_REMOVE, which is the share of 2 r.
//
// It holds for noise on sums of groups (PrivateQueries::NoisySums), too. All of these costs are convex in the
// vector by which the sums move, the same for its opposite, and 0 at 0. Let I <= J, and pair each record that
// enters with one that leaves: the sums move by the mean of m vectors, of which I are m times what a pair
// moves, at a cost of at most c, J - I are m times what a single record moves, at most r, and the others 0.
// So the cost is at most (I c + (J - I) r)/m, which is at most (J + I)/(2 m) times max(c, 2 r); and J/m times
// the cost in full under ADD_REMOVE.
//
// It holds for noise on errors of estimated marginals (PrivateQueries::NoisyErrors): each of them moves by at
// most J + I, of m or 2 m in full. That is the share in L1; and (J + I)^2 is at most the share of 4 m^2.
//
// And for selections whose score moves by at most a record's share of its bound for each record that changes
// (PrivateQueries::SelectWorstCandidates of marginals: the bound is an L1 sensitivity of one marginal, and of
// PrivateQueries::SelectMeasuredOrPublic two of them): the range of its likelihood ratios shrinks in
// proportion, and the costs of a bounded range are at least linear in it. So it does for the selections of a
// quantile of each group (PrivateQueries::SelectQuantiles): where it is charged as two of them, their ranges
// are J/m and I/m of that of one, together the share of two; where it is one group, charged as one, I pairs
// and J - I single records move it, as above.
//
// It does NOT hold for numbers of units in groups and of groups, where a unit counts once however many
// records it has (PrivateQueries::NoisyUnitCounts, NoisyGroupSizes, NoisyGroupMarginals), for scores in which
// a unit is clipped to one vote (dp/kernel/utility), nor for a stated (epsilon, delta).
struct LinearDraws {
  std::vector<CountedEvent> draws;  // under the dataset's own relation; composed, they are the request
  // The same draws, in the same order, under ADD_REMOVE: with the same noise, as seen by a unit that only
  // enters or only leaves.
  std::vector<CountedEvent> removals;
};

// The amounts to post to the account, under `rule`, of each part that a request touches. `event` is what the
// request does under the dataset's relation and unit, which are `unit`; `linear` when its draws are linear.
// What is certified for a composition as a whole is charged as a whole. Errors: those of CostOf();
// INVALID_ARGUMENT when the lists of `linear` do not match.
absl::StatusOr<std::vector<CounterAmount>> PartCostOf(const RuleSpec& rule, const UnitBound& unit,
                                                      const Event& event,
                                                      const std::optional<LinearDraws>& linear);

}  // namespace curator::dp
