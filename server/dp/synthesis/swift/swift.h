// SWIFT: one-way marginals first, then one look at the errors of the independent model on all candidates at
// once, each with noise, instead of a selection for each measurement; then a tree of cliques that holds those
// with the largest errors, and the counts of these; one fit. It follows the method of that name in Google's
// dpsynth, and differs from it in what measurements cost: which sets are chosen depends on noisy answers, so
// their number and noise are fixed before.
//
// With two looks the second is at the model of the first half of the measurements.
//
// Stateless and thread-safe.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Swift final : public Synthesizer {
 public:
  std::string_view name() const override { return "swift"; }
  std::string_view summary() const override;
  int64_t version() const override { return 3; }
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;
};

}  // namespace curator::dp
