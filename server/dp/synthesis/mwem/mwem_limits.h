// What a run of MWEM would hold in memory beside its tables, refused before anything is charged.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "dp/synthesis/mwem/mwem_schedule.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Cells of all boxes that are measured together: a fit holds each as an entry of 8 bytes.
inline constexpr int64_t kMostMeasuredBoxCells = int64_t{1} << 26;

// Numbers of 8 bytes in the factors of all iterates that an average is made of.
inline constexpr int64_t kMostIterateCells = int64_t{1} << 27;

// `schedule` has its attributes, settings, stages and what is measured beforehand. Errors: INVALID_ARGUMENT
// ("workload") when the marginals that are selected from, or counted beforehand, have more cells together
// than one look of the kernel may count, or boxes more than kMostMeasuredBoxCells; ("settings.iterate") when
// an average would keep more than kMostIterateCells.
absl::Status CheckWhatIsHeld(const SynthesisInput& input, const MwemSchedule& schedule);

}  // namespace curator::dp
