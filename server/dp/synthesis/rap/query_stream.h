// A workload as candidates, whole marginals or single queries, with the answers that relaxed rows give: one
// marginal's at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/noise/noise_spec.h"
#include "dp/synthesis/rap/single_queries.h"

namespace curator::dp {

// Estimated counts of a marginal.
using CellsOf = std::function<absl::StatusOr<std::vector<double>>(const AttributeSet&)>;

// What the noise in one cell is worth, in records.
inline double HandicapOfACell(const NoiseSpec& noise) {
  return ForecastError(noise).expected_absolute_error;
}

// Whole marginals. The noise in a marginal's cells is worth what its error exceeds it by, so each has a
// handicap of so much a cell. Not thread-safe.
class MarginalStream : public FamilyStream {
 public:
  // All must outlive it.
  MarginalStream(const Domain& domain, std::span<const AttributeSet> sets, double handicap, CellsOf cells_of)
      : domain_(domain), sets_(sets), handicap_(handicap), cells_of_(std::move(cells_of)) {}

  size_t size() const override { return sets_.size(); }

  CandidateFamily Candidates(size_t index) const override {
    const auto cells = static_cast<double>(domain_.CellCount(sets_[index]).value_or(0));
    return {.group = {.attributes = sets_[index], .queries = EveryCell()},
            .estimate = {},
            .penalty = handicap_ * cells};
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
  double handicap_;
  CellsOf cells_of_;
};

// Single queries. Not thread-safe.
class QueryStream : public FamilyStream {
 public:
  // `excluded[i]` are those of all[i] that are no candidates any more. All must outlive it.
  QueryStream(const Domain& domain, std::span<const SingleQueries> all,
              std::span<const std::set<int64_t>> excluded, CellsOf cells_of)
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
  CellsOf cells_of_;
};

}  // namespace curator::dp
