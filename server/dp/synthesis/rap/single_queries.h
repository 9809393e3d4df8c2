// A workload as single queries, each a candidate by itself: the paper's form of selection and measurement.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/linear_queries.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

// The queries of a workload that are over one marginal. Where `at_least` is not 0, the group asks for every
// cell, and each cell stands for the records that share at least so many of its values: the cell itself when
// that is all of them, a threshold otherwise.
struct SingleQueries {
  QueryGroup group;
  int64_t at_least = 0;
};

// All of them, every whole marginal as thresholds of `at_least` values, or of all where it has fewer.
// Errors: INVALID_ARGUMENT ("settings.measure") when a query counts a record otherwise than once or not at
// all: then single queries would cost differently.
absl::StatusOr<std::vector<SingleQueries>> AsSingleQueries(std::span<const QueryGroup> workload,
                                                           int64_t at_least);

int64_t CountQueries(const Domain& domain, std::span<const SingleQueries> all);

// What PolynomialOf() makes of queries: products, and the bytes that these take while they are fitted.
struct TermsTaken {
  int64_t terms = 0;
  int64_t bytes = 0;
};

// The most terms, and the most bytes, that any `count` of these queries take.
TermsTaken MostTerms(const Domain& domain, std::span<const SingleQueries> all, int64_t count);

// What choosing and measuring `count` of these queries holds in memory at once, at most, beside the queries
// that are listed: counts, estimates, scores and weights of one marginal and its queries, or what the
// sensitivity of one query is found from; and the counts of what was measured.
int64_t SelectionBytes(const Domain& domain, std::span<const SingleQueries> all, int64_t count);

// As candidates of a selection, without estimates.
CandidateFamily CandidatesOf(const SingleQueries& queries);

// The answers of all these queries, from estimates of their marginal's cells.
std::vector<double> AnswersFromCells(const Domain& domain, const SingleQueries& queries,
                                     std::span<const double> cells);

// The query at `index` as a group by itself, to be measured.
QueryGroup SingleGroup(const Domain& domain, const SingleQueries& queries, size_t index);

// Its polynomial: that of its cell or threshold, or one product for each cell that it counts. No answer or
// weight yet. Errors: INVALID_ARGUMENT when the layout does not cover it, or it looks at more than
// kMostFactors attributes.
absl::StatusOr<PolynomialAnswer> PolynomialOf(const Domain& domain, const RelaxedLayout& layout,
                                              const SingleQueries& queries, size_t index);

}  // namespace curator::dp
