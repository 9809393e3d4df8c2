// How much memory and processor time MWEM takes, from its schedule.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "dp/synthesis/mwem/mwem_schedule.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Of the largest table that the estimate of a candidate takes; one that takes more is not chosen.
inline constexpr int64_t kMostCellsOfAMwemEstimate = int64_t{1} << 22;

// `schedule` is that of `input`.
SynthesisMemory MemoryOfMwem(const SynthesisInput& input, const MwemSchedule& schedule);

// The processor time of its fit, as synthesis_forecast.h has it.
double SecondsOfMwem(const SynthesisInput& input, const MwemSchedule& schedule);

// The sum of the cells of the `most` largest of the sets, each taken to have at most `most_cells`.
int64_t CellsOfLargest(const Domain& domain, std::span<const AttributeSet> sets, int64_t most,
                       int64_t most_cells);

// Of the boxes that a stage of `rounds` rounds may measure: the cells of the largest ones.
int64_t BoxCellsOfAStage(const SynthesisInput& input, int64_t rounds);

}  // namespace curator::dp
