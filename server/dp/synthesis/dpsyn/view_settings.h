// The settings of the methods that measure views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/dpsyn/estimate_views.h"
#include "dp/synthesis/dpsyn/view_choice.h"
#include "dp/synthesis/settings_reader.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

struct ViewSettings {
  std::string views;  // "design", "selected" or a list
  int64_t max_view_cells = int64_t{1} << 16;
  BudgetSplit split = BudgetSplit::kEqual;
  int64_t single_percent = 30;
  int64_t selections = 1;  // with "selected"
  int64_t selection_percent = 25;
  ViewEstimation estimation;
};

// Reads all but "cells" and "strength", whose defaults follow from the choice of views. `workload` are its
// sets.
absl::StatusOr<ViewSettings> ReadViewSettings(const Domain& domain, const std::vector<AttributeSet>& workload,
                                              SettingsReader& reader);

}  // namespace curator::dp
