// What a round may measure, with what the weights say of it: the public side of a selection.
//
// Not thread-safe. A function of public facts and noisy answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/linear_queries.h"
#include "dp/synthesis/factored/factored_fit.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

class MwemCandidates {
 public:
  // Every whole marginal, and every query of the other groups. `domain` must outlive it.
  MwemCandidates(const Domain& domain, std::span<const QueryGroup> workload);

  // All candidates are there again (but for those that were dropped), with a handicap of `penalty` for each
  // answer.
  void Restart(double penalty);

  // Drops those whose measurement would need more cells than the fit may hold, for ever.
  void DropUnfit(const FactoredFit& fit);

  // Estimates anew what depends on the attributes in `changed`; everything where it is not given. Errors:
  // those of FactoredFit::Marginals().
  absl::Status Estimate(FactoredFit& fit, const std::optional<AttributeSet>& changed, Pacer& pacer);

  // For PrivateQueries::SelectWorstCandidate().
  std::span<const CandidateFamily> families() const { return families_; }
  int64_t left() const;
  FamilyChoice First() const;  // left() > 0

  // No candidate any more until the next restart.
  void Exclude(FamilyChoice choice);

  // What to ask for it, and the present estimate of the answers.
  QueryGroup GroupOf(FamilyChoice choice) const;
  std::vector<double> EstimateOf(FamilyChoice choice) const;

 private:
  const Domain& domain_;
  std::vector<CandidateFamily> families_;
};

}  // namespace curator::dp
