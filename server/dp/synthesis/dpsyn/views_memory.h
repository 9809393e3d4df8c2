// How much memory methods that measure views take, from their schedule.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "dp/domain/domain.h"
#include "dp/synthesis/dpsyn/view_schedule.h"
#include "dp/synthesis/synthesis_memory.h"

namespace curator::dp {

enum class RecordsMade { kByFlow, kSorted };

// `most_records`: that are made and stored.
SynthesisMemory MemoryOfViews(const Domain& domain, const ViewSchedule& schedule, RecordsMade made,
                              int64_t most_records);

// Of a model of `attributes` in `stored` bytes, whose views have `cells` cells, with `records` records.
MethodMemory ViewsModelMemory(const Domain& domain, const AttributeSet& attributes, int64_t cells,
                              int64_t records, int64_t stored);

// As many records of these attributes as may be made by default.
int64_t DefaultMostRecords(const Domain& domain, const AttributeSet& attributes);

}  // namespace curator::dp
