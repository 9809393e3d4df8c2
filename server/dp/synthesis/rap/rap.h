// RAP (Aydore et al. 2021): relaxed adaptive projection.
//
// Noisy answers are projected onto relaxed rows (projection.h). One-shot, all marginals of the workload are
// measured and fitted once; adaptively, each round chooses the marginals that the rows approximate worst,
// measures them, and fits again. Beyond the paper: a marginal costs what one query costs, because a record
// lies in one of its cells; the marginal of each attribute is measured first; softmax instead of SparseMax;
// each round continues from the rows of the last; answers are weighted by their noise; and the fit ends
// before it would follow the noise.
#pragma once

#include <functional>
#include <memory>

#include "base/executor.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Rap : public Synthesizer {
 public:
  // Makes the projector of one fit, which may use the executor while it lives.
  using MakeProjector = std::function<std::unique_ptr<const Projector>(Executor&)>;

  Rap();  // fits on the processor
  explicit Rap(MakeProjector make_projector);

  std::string_view name() const override { return "rap"; }
  std::string_view summary() const override;
  // 2: starts from shrunk one-way marginals, stops by what a shadow shows, and measures more marginals.
  int64_t version() const override { return 5; }
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;

 private:
  MakeProjector make_projector_;
};

}  // namespace curator::dp
