// DPSyn (Li, Zhang, Wang 2018) and PriView (Qardaji, Yang, Li 2014): noisy views that together hold every
// pair, or every triple, of the workload's attributes are made consistent. PriView answers any marginal from
// them; DPSyn makes records that match them.
#pragma once

#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Dpsyn : public Synthesizer {
 public:
  std::string_view name() const override { return "dpsyn"; }
  std::string_view summary() const override;
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> Plan(const SynthesisInput& input) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, Kernel& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                          std::string_view bytes) const override;
};

class Priview : public Synthesizer {
 public:
  std::string_view name() const override { return "priview"; }
  std::string_view summary() const override;
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> Plan(const SynthesisInput& input) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, Kernel& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                          std::string_view bytes) const override;
};

}  // namespace curator::dp
