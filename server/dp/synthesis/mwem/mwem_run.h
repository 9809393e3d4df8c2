// One fit of MWEM, from its first draw to its model.
//
// Not thread-safe: one request, one run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "dp/kernel/private_queries.h"
#include "dp/synthesis/dense/product_component.h"
#include "dp/synthesis/factored/factored_fit.h"
#include "dp/synthesis/mwem/mwem_candidates.h"
#include "dp/synthesis/mwem/mwem_schedule.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class MwemRun {
 public:
  // All must outlive it.
  MwemRun(const SynthesisInput& input, MwemSchedule schedule, PrivateQueries& kernel, Pacer& pacer);

  // Draws what the schedule says, or less where rounds end early, and fits. Errors: those of the kernel;
  // CANCELLED as in Pacer.
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress);

 private:
  enum class Signal { kThere, kGone };

  absl::Status CountRecords();
  absl::Status MeasureBeforehand();

  // One round: whether there was a signal above the noise. kGone also when nothing was left to measure.
  absl::StatusOr<Signal> Round(const MwemStage& stage, bool last);
  absl::Status Replay(FactoredFit::Which which, int64_t most_sweeps);
  absl::StatusOr<std::unique_ptr<SynthesisModel>> MakeModel();

  const SynthesisInput& input_;
  const MwemSchedule schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  std::unique_ptr<FactoredFit> fit_;
  MwemCandidates candidates_;
  double deviation_ = 1;  // of the noise of the present stage
  Replayed replayed_;     // the last time
  std::vector<ProductComponent> iterates_;
  std::vector<std::string> transcript_;
};

}  // namespace curator::dp
