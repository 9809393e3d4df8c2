// MST (McKenna, Miklau, Sheldon 2021, "Winning the NIST Contest: A scalable and general approach to
// differentially private synthetic data"), without its compression of domains: one-way marginals first, then
// a spanning tree of pairs of attributes that independence approximates worst, chosen edge by edge, and the
// counts of all pairs of the tree. A baseline: it costs little time, and says nothing of other pairs.
//
// Stateless and thread-safe.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Mst final : public Synthesizer {
 public:
  std::string_view name() const override { return "mst"; }
  std::string_view summary() const override;
  // 3: keeps to constraints.
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
