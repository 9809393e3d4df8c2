// Chooses the method and its settings by public facts and a noisy number of records.
//
// The first draw counts the records, for a hundredth of the budget (a fiftieth of a pure one); the rest is
// charged as one amount, and spent on the draws of the method that is chosen then (PrivateQueries::SpendAs).
// With a declared number of records nothing is counted, and the plan is that of the method.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Auto : public Synthesizer {
 public:
  // `methods`: those that it chooses from, which must outlive it.
  explicit Auto(std::vector<const Synthesizer*> methods) : methods_(std::move(methods)) {}

  std::string_view name() const override { return "auto"; }
  std::string_view summary() const override;
  // Raised when a method that it chooses from is.
  int64_t version() const override;
  const std::vector<Setting>& settings() const override;
  int64_t PlanningBytes(const SynthesisInput& input) const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;

 private:
  std::vector<const Synthesizer*> methods_;
};

}  // namespace curator::dp
