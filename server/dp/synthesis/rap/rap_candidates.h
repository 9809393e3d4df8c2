// What RAP chooses among: whole marginals, or single queries, each a candidate by itself, as in the paper.
//
// Thread-safe but for the streams: pure functions of public facts.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/linear_queries.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

// The queries of a workload that are over one marginal. Where `at_least` is not 0, the group asks for every
// cell, and each cell stands for the records that share at least this many of its values: the cell itself
// when that is all of them, a threshold otherwise.
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

// The size of queries as PolynomialOf() makes them: products, and bytes while they are fitted.
struct TermsTaken {
  int64_t terms = 0;
  int64_t bytes = 0;
};

// The most terms, and the most bytes, that any `count` of these queries take.
TermsTaken MostTerms(const Domain& domain, std::span<const SingleQueries> all, int64_t count);

// The most bytes that choosing and measuring `count` of these queries holds at once, beside the listed
// queries: counts, estimates, scores and weights of one marginal and its queries, or what the
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
// weight yet. Errors: INVALID_ARGUMENT when the layout does not cover it, or it has more than
// kMostFactors attributes.
absl::StatusOr<PolynomialAnswer> PolynomialOf(const Domain& domain, const RelaxedLayout& layout,
                                              const SingleQueries& queries, size_t index);

// Estimates the counts of a marginal.
using MarginalEstimate = std::function<absl::StatusOr<std::vector<double>>(const AttributeSet&)>;

// The expected absolute noise of one cell, in records.
inline double CellPenalty(const NoiseSpec& noise) {
  return ForecastError(noise).expected_absolute_error;
}

// Whole marginals. The score of a marginal is its error in excess of the noise in its cells: each has a
// penalty in proportion to its cells. Not thread-safe.
class MarginalStream : public FamilyStream {
 public:
  // All must outlive it.
  MarginalStream(const Domain& domain, std::span<const AttributeSet> sets, double cell_penalty,
                 MarginalEstimate cells_of)
      : domain_(domain), sets_(sets), cell_penalty_(cell_penalty), cells_of_(std::move(cells_of)) {}

  size_t size() const override { return sets_.size(); }

  CandidateFamily Candidates(size_t index) const override {
    const auto cells = static_cast<double>(domain_.CellCount(sets_[index]).value_or(0));
    return {.group = {.attributes = sets_[index], .queries = EveryCell()},
            .estimate = {},
            .penalty = cell_penalty_ * cells};
  }

  absl::StatusOr<CandidateFamily> Family(size_t index) const override {
    absl::StatusOr<std::vector<double>> cells = cells_of_(sets_[index]);
    if (!cells.ok()) return cells.status();
    CandidateFamily family = Candidates(index);
    family.estimate = *std::move(cells);
    return family;
  }

 private:
  const Domain& domain_;
  std::span<const AttributeSet> sets_;
  double cell_penalty_;
  MarginalEstimate cells_of_;
};

// Single queries. Not thread-safe.
class QueryStream : public FamilyStream {
 public:
  // `excluded[i]` are the queries of all[i] that are no longer candidates. All must outlive it.
  QueryStream(const Domain& domain, std::span<const SingleQueries> all,
              std::span<const std::set<int64_t>> excluded, MarginalEstimate cells_of)
      : domain_(domain), all_(all), excluded_(excluded), cells_of_(std::move(cells_of)) {}

  size_t size() const override { return all_.size(); }

  CandidateFamily Candidates(size_t index) const override {
    CandidateFamily family = CandidatesOf(all_[index]);
    family.excluded.assign(excluded_[index].begin(), excluded_[index].end());
    return family;
  }

  absl::StatusOr<CandidateFamily> Family(size_t index) const override {
    const absl::StatusOr<std::vector<double>> cells = cells_of_(all_[index].group.attributes);
    if (!cells.ok()) return cells.status();
    CandidateFamily family = Candidates(index);
    family.estimate = AnswersFromCells(domain_, all_[index], *cells);
    return family;
  }

 private:
  const Domain& domain_;
  std::span<const SingleQueries> all_;
  std::span<const std::set<int64_t>> excluded_;
  MarginalEstimate cells_of_;
};

}  // namespace curator::dp
