// The plan of a method of the loop, with what its fit takes.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/loop/loop_schedule.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// What a method does beside drawing and its last fit.
struct LoopWork {
  int64_t estimates = 0;    // how often the estimates of all candidates are computed
  int64_t checks = 0;       // how often it is asked of each candidate whether it fits
  double early_sweeps = 0;  // over all measurements, before the last fit
  // How many marginals may be taken from a public table, which then is counted for all candidates; 0 without.
  int64_t public_marginals = 0;
};

// The plan of a finished schedule; `lines` describe it. Errors: those of EventToCharge().
absl::StatusOr<SynthesisPlan> PlanOf(const SynthesisInput& input, const LoopSchedule& schedule,
                                     const LoopWork& work, std::vector<std::string> lines);

}  // namespace curator::dp
