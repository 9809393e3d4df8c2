// AIM (McKenna, Mullins, Sheldon, Miklau 2022, "AIM: An Adaptive and Iterative Mechanism for Differentially
// Private Synthetic Data"): one-way marginals first, then, again and again, the marginal that the model of
// all measurements so far answers worst, as far as the cliques that it joins fit into memory. The model is a
// product over the cliques of a junction tree.
//
// It differs from the paper in what measurements cost and how they are fitted: all rounds have one price,
// fixed before; one-way marginals are projected onto the counts that a table can have; and the fit is
// penalised, and follows noise only as far as it has to (models/clique_fit.h).
//
// With a public table a round may take a marginal from it in place of a measurement (after Fuentes, Mullins,
// McKenna, Miklau, Sheldon 2024), which is then trusted as far as noisy answers agree (ADR 0090).
//
// Stateless and thread-safe.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Aim final : public Synthesizer {
 public:
  std::string_view name() const override { return "aim"; }
  std::string_view summary() const override;
  // 2: chooses where not all candidates fit, however many rounds there are; follows answers less the more are
  // measured; and joins whatever a small domain has.
  int64_t version() const override { return 4; }
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;
};

}  // namespace curator::dp
