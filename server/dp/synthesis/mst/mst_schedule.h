// The draws of MST and their price, from public facts.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/loop/loop_schedule.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// One noisy count of the records, then every one-way marginal, then as many selections as a spanning tree has
// pairs (when there are more pairs than that), then as many counts of one pair.
struct MstSchedule {
  LoopSchedule loop;
  std::optional<Epsilon> selection;
};

const std::vector<Setting>& MstSettingsTable();

// The budget: 2% (at least one unit) for the number of records, of the rest `one_way_percent` for the one-way
// marginals, and of what is left `selection_percent` for choosing the tree; what does not divide is not
// spent. Errors: INVALID_ARGUMENT with a field ("workload", "settings...", "spend...").
absl::StatusOr<MstSchedule> MakeMstSchedule(const SynthesisInput& input);

// One line for each kind of draw, and one for the form.
std::vector<std::string> DescribeSchedule(const MstSchedule& schedule);

}  // namespace curator::dp
