// Prior-aware estimation (Tao, Bater, Machanavajjhala 2021): public data stand in for what cannot be
// measured.
//
// A few marginals, chosen from the public prior, are measured once; then the prior's records get the weights
// that agree with the answers and are otherwise as near as possible to the prior, in relative entropy
// (iterative_estimation.h). With groups (Algorithm 2) the regions are measured first, and each region's
// estimate is the prior of its groups, in which only a few single attributes are measured.
//
// Fallbacks. Where no public record lies in a cell that has answers, its answers are left out (support=prior)
// or spread evenly over the cell (support=full), and the transcript reports how much that is. A marginal
// whose answers are nowhere positive is skipped.
#pragma once

#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class PriorAware : public Synthesizer {
 public:
  std::string_view name() const override { return "prior"; }
  // 1 until charges stored draw identities: then the settings did not determine which sets are measured.
  int64_t version() const override { return 2; }
  std::string_view summary() const override;
  const std::vector<Setting>& settings() const override;
  int64_t PlanningBytes(const SynthesisInput& input) const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;
};

}  // namespace curator::dp
