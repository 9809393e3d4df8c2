// The draws of prior-aware estimation and their price: Algorithm 2 of Tao, Bater, Machanavajjhala 2021,
// and its first half alone where no groups are asked for.
//
// A level divides the records by the cells of a public key: the empty key (the whole table), the region's
// attributes, or the group's. It draws two vectors: the number of records for every key, and the marginals of
// the level's workload for every key.
//
// Claim. Let a unit own at most m records, in all regions and groups together. The vector of the keys'
// numbers of records is the marginal of the key attributes, and the vector of a workload of k marginals for
// every key is k marginals of key and workload attributes together; so their sensitivities are those of 1 and
// of k marginals (dp/sensitivity/sensitivity.h): L1 k m under ADD_REMOVE, whatever the number of keys,
// because a record lies in one key's cell. Two levels of two vectors, each at epsilon/4, are epsilon-DP. Keys
// come from the declared domain: those without records are measured as all others are.
//
// What is measured is decided from the prior and the request, which are public; the private table is used
// through the kernel's answers alone. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/synthesis/prior/prior_settings.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct PriorLevel {
  AttributeSet key;                    // empty: the whole table
  int64_t keys = 1;                    // its cells
  std::vector<AttributeSet> measured;  // without the key's attributes
  NoiseSpec count_noise;
  NoiseSpec marginal_noise;
};

struct PriorSchedule {
  PriorSettings settings;
  std::vector<PriorLevel> levels;  // one, or the regions and then the groups
  AttributeSet covered;            // all attributes of the model
  AttributeSet modelled;           // those that are no key of a group or region
  // For each key of the last level, the key of the first that it lies in.
  std::vector<int64_t> region_of_group;
  int64_t records = 0;  // of the support
  double trust = 0;     // records that the prior is worth
  std::vector<CountedEvent> draws;
  LinearDraws linear;
  std::vector<std::string> lines;
  SynthesisMemory memory;
  double cpu_seconds = 0;  // as synthesis_forecast.h has it
};

// Errors: INVALID_ARGUMENT with a field ("workload", "settings...", "spend..."); CANCELLED as in Pacer.
absl::StatusOr<PriorSchedule> MakePriorSchedule(const SynthesisInput& input, Pacer& pacer);

// Bytes that this takes beside the workload; 0 where it fails without the prior's records.
int64_t PriorPlanningBytes(const SynthesisInput& input);

}  // namespace curator::dp
