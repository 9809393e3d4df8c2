// The single queries of a workload as candidates, with the answers that relaxed rows give: one marginal's at
// a time.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/family_stream.h"
#include "dp/synthesis/rap/single_queries.h"

namespace curator::dp {

// Not thread-safe.
class QueryStream : public FamilyStream {
 public:
  // In records.
  using CellsOf = std::function<absl::StatusOr<std::vector<double>>(const AttributeSet&)>;

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
