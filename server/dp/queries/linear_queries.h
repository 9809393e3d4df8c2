// Integer linear queries over the cells of a marginal: single cells, ranges (boxes of cells), predicates
// (weights 0 and 1), parities (weights 1 and -1), thresholds, whole marginals; and how counts of the cells
// answer them. How far one privacy unit can move the answers: dp/sensitivity/sensitivity.h.
//
// Everything here is computed from public facts and from the counts that are passed. Thread-safe: plain
// values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/box_sums.h"

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

// One query over a marginal whose attributes have two codes each: `weight` times the number of records with
// an even number of codes that are 1, less that of the others. Held without its terms, each cell being one.
struct Parity {
  int32_t weight = 1;  // from 1 to kLargestWeight
  bool operator==(const Parity&) const = default;
};

// Queries over the cells of one marginal.
struct QueryGroup {
  AttributeSet attributes;
  std::variant<EveryCell, std::vector<LinearQuery>, Boxes, Parity> queries;
  bool operator==(const QueryGroup&) const = default;
};

// Weights reach this far from 0: with fewer than 2^31 records an answer stays below 2^51.
inline constexpr int64_t kLargestWeight = int64_t{1} << 20;

// Limit of the terms of all queries of a request together, which are held in memory at once.
inline constexpr int64_t kMostQueryTerms = int64_t{1} << 26;

// Limit of the cells that are read for all boxes of a request together (BoxSteps()): about a second.
inline constexpr int64_t kMostBoxSteps = int64_t{1} << 28;

// INVALID_ARGUMENT unless there is a group, each is over a well-formed marginal within the limits of one
// request and has a query, and each query has terms, over rising cells of the marginal with weights that are
// not 0 and not beyond kLargestWeight; or is a box, with an interval of each attribute's own codes; or is a
// parity.
absl::Status ValidateQueries(const Domain& domain, std::span<const QueryGroup> groups);

// How many answers a valid group has.
int64_t NumberOfQueries(const Domain& domain, const QueryGroup& group);

// The answers of a valid group from the counts of its marginal's cells: exact, for noisy counts as well.
std::vector<int64_t> AnswersFromCounts(const Domain& domain, const QueryGroup& group,
                                       std::span<const int64_t> counts);

// The same from estimates of the counts, up to the rounding of doubles.
std::vector<double> AnswersFromEstimates(const Domain& domain, const QueryGroup& group,
                                         std::span<const double> estimates);

// Thresholds over a marginal: for each cell y, in the order of the cells, how many records share at least t
// of its values. With t = 1 these are disjunctions, with t = set.size() the cells themselves. The answer for
// y is the sum of `counts` over the cells that agree with y in at least `at_least` attributes of `set`. 1 <=
// at_least <= set.size(); `counts` has one number for each cell. Exact. Takes cells * set.size() * at_least
// steps, and (at_least + 1) tables of cells.
std::vector<int64_t> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                   std::span<const int64_t> counts);

// The same for estimates, up to the rounding of doubles.
std::vector<double> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                  std::span<const double> counts);

// The threshold of one cell as the list of the cells it counts: those that agree with it in at least
// `at_least` attributes.
LinearQuery ThresholdQuery(const Domain& domain, const AttributeSet& set, int64_t at_least, int64_t cell);

}  // namespace curator::dp
