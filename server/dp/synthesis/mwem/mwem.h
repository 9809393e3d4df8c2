// MWEM (Hardt, Ligett, McSherry 2012) over whole marginals and over single linear queries: cells, ranges,
// parities, predicates.
//
// Each round chooses the candidate of the workload that the weights approximate worst (exponential
// mechanism), measures it, and replays all measurements as multiplicative updates until they converge
// (models/clique_fit.h). A marginal costs what one query costs, because a record lies in one of its cells.
// The score of a marginal is its L1 error less what a measurement would leave of it; the score of a query its
// absolute error. When no candidate is left that fits beside what was measured, all that fit are candidates
// once more.
//
// The weights are one table of all cells, or those of the cliques of a junction tree of what was measured
// (models/clique_fit.h), which fit domains that no single table could hold.
#pragma once

#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Mwem : public Synthesizer {
 public:
  std::string_view name() const override { return "mwem"; }
  std::string_view summary() const override;
  // 2: weights below the least float rise again. 3: cliques in place of independent tables; more rounds, with
  // less of each for the selection; single attributes are measured first one by one, as counts that a table
  // can have.
  int64_t version() const override { return 5; }
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;
};

}  // namespace curator::dp
