// Nested data (Kim, Savitsky, Williams, Hu 2023): groups and their members from a model of two levels, whose
// parameters are drawn privately from a pseudo-posterior on a public grid.
//
// Each draw is one exact exponential mechanism (PrivateQueries::SelectByUtility), whose claim is a theorem on
// bounded responses (docs/PRIVACY.md, Nested data); there is no Markov chain, and nothing asymptotic. Other
// attributes may be added by another method, given the record's response.
#pragma once

#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Nested : public Synthesizer {
 public:
  // `joinable`: the methods that may add other attributes, which must outlive it. The first one is the
  // default.
  explicit Nested(std::vector<const Synthesizer*> joinable);

  std::string_view name() const override { return "nested"; }
  std::string_view summary() const override;
  int64_t version() const override;
  bool measures_response() const override { return true; }
  const std::vector<Setting>& settings() const override { return settings_; }
  int64_t PlanningBytes(const SynthesisInput& input) const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;

 private:
  std::vector<const Synthesizer*> joinable_;
  std::vector<Setting> settings_;
};

}  // namespace curator::dp
