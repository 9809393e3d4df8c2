// The draws of a synthesis of nested data and their price.
//
// Up to four parts, paid for one after the other (they compose): the noisy numbers of groups by size, some
// draws of the model's parameters, where the schema names attributes of groups the noisy numbers of groups by
// these, and, where the workload has other attributes, another method for those.
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/noise/noise_spec.h"
#include "dp/synthesis/nested/group_description.h"
#include "dp/synthesis/nested/nested_settings.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct NestedSchedule {
  NestedSettings settings;
  GroupRole role = GroupRole::kUnit;
  NoiseSpec size_noise;
  std::optional<DescriptionPlan> description;  // of groups
  Utility question;
  std::vector<double> bonuses;  // of the prior; none where it is flat on the grid
  Epsilon each_draw{0};
  const Synthesizer* join = nullptr;
  std::optional<SynthesisInput> joined;  // its request
  std::vector<CountedEvent> draws;
  std::vector<std::vector<QueryGroup>> drawn_from;  // of the joined method
  std::vector<std::string> lines;
  int64_t model_cells = 0;
  SynthesisMemory memory;
  double cpu_seconds = 0;  // as synthesis_forecast.h has it
};

// `table` is NestedSettingsTable() of the names of `joinable`. Errors: INVALID_ARGUMENT with a field; those
// of the joined method within "settings.join", and CANCELLED as in Pacer.
absl::StatusOr<NestedSchedule> MakeNestedSchedule(const SynthesisInput& input, std::span<const Setting> table,
                                                  std::span<const Synthesizer* const> joinable, Pacer& pacer);

}  // namespace curator::dp
