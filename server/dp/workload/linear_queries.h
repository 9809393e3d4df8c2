// Integer linear queries over the cells of a marginal: single cells, ranges (boxes of cells), predicates
// (weights 0 and 1), parities (weights 1 and -1), whole marginals; and how far one privacy unit can move
// their answers.
//
// Everything here is decided from public facts. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/box_sums.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {

// A cell of a marginal, in the order of the marginal's cells, and how often each record in it counts.
struct WeightedCell {
  uint32_t cell = 0;
  int32_t weight = 1;
  bool operator==(const WeightedCell&) const = default;
};

// The sum of weight times count over these cells, which rise strictly.
using LinearQuery = std::vector<WeightedCell>;

// One query for each cell of the marginal.
struct EveryCell {
  bool operator==(const EveryCell&) const = default;
};

// Queries that count the records in a box: an interval of codes for each attribute of the marginal, in its
// order. They are held as their sides, box after box, so that all ranges of an attribute, or of two, take 8
// bytes a side.
struct Boxes {
  std::vector<CodeInterval> sides;
  bool operator==(const Boxes&) const = default;
};

// Queries over the cells of one marginal.
struct QueryGroup {
  AttributeSet attributes;
  std::variant<EveryCell, std::vector<LinearQuery>, Boxes> queries;
  bool operator==(const QueryGroup&) const = default;
};

// Weights reach this far from 0: with fewer than 2^31 records an answer stays below 2^51.
inline constexpr int64_t kLargestWeight = int64_t{1} << 20;

// Terms of all queries of a request together, and queries: they are held in memory at once.
inline constexpr int64_t kMostQueryTerms = int64_t{1} << 26;

// Cells that the boxes of a request together make one read (BoxSteps()): about a second.
inline constexpr int64_t kMostBoxSteps = int64_t{1} << 28;

// INVALID_ARGUMENT unless there is a group, each is over a well-formed marginal within the limits of one
// request and has a query, and each query has terms, over rising cells of the marginal with weights that are
// not 0 and not beyond kLargestWeight; or is a box, with an interval of each attribute's own codes.
absl::Status ValidateQueries(const Domain& domain, std::span<const QueryGroup> groups);

// How many answers a valid group has.
int64_t NumberOfQueries(const Domain& domain, const QueryGroup& group);

// The answers of a valid group from the counts of its marginal's cells: exact, from noisy counts as well.
std::vector<int64_t> AnswersFromCounts(const Domain& domain, const QueryGroup& group,
                                       std::span<const int64_t> counts);

// Likewise from estimates of the counts, up to the rounding of doubles.
std::vector<double> AnswersFromEstimates(const Domain& domain, const QueryGroup& group,
                                         std::span<const double> estimates);

// All intervals of an attribute of `size` bins, by their first codes and then by their last:
// size (size + 1) / 2.
Boxes AllIntervals(int64_t size);

// Of the answers of all groups together, as one vector.
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
// A box has weight 1 in its cells, so |w_x|_1 and |w_x|_2^2 are the number of boxes that x lies in.
//
// So a marginal is 1, not its number of cells, a single query with weights 0 and 1 is 1 under both relations,
// k parities are k, all ranges of n bins are the most that share one, floor((n + 1)^2 / 4), and predicates
// that exclude each other are 1. Errors: those of ValidateQueries() and of MarginalsSensitivity() for the
// unit; OUT_OF_RANGE when a sensitivity exceeds 2^53.
absl::StatusOr<Sensitivity> QueriesSensitivity(const Domain& domain, const UnitBound& unit,
                                               std::span<const QueryGroup> groups);

}  // namespace curator::dp
