// The draws of DPSyn and PriView and their price, from public facts.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"
#include "dp/noise/noise_spec.h"
#include "dp/synthesis/dpsyn/estimate_views.h"
#include "dp/synthesis/dpsyn/view_choice.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Views that are measured together, with one noise.
struct ViewGroup {
  std::vector<AttributeSet> views;
  NoiseSpec noise;
};

// Views that are selected from the data: `rounds` times the pair that independence approximates worst, and
// its counts.
struct SelectedViews {
  std::vector<AttributeSet> candidates;
  int64_t rounds = 0;
  Epsilon selection;
  NoiseSpec noise;
};

// One noisy count of the records; each group of views; then the selected ones.
struct ViewSchedule {
  AttributeSet attributes;  // of the model
  NoiseSpec record_noise;
  std::vector<ViewGroup> groups;  // the first one of single attributes, when they are measured
  std::optional<SelectedViews> selected;
  ViewEstimation estimation;
  std::map<std::string, std::string> used_settings;  // of ViewSettingsTable()
  std::vector<CountedEvent> draws;
  LinearDraws linear;  // for the accounts of parts
  int64_t largest_view = 1;
  int64_t measured_cells = 0;      // of all views, those to be selected being the largest
  std::vector<std::string> lines;  // for display
};

// The budget: one part in 50 (at least one unit) for the number of records, which is also a measurement of
// every view's total; `single_percent` of the rest for the counts of single attributes, all with the same
// noise; what is left for the views, by `split`; of selected views `selection_percent` of it for the choices.
// What does not divide is not spent. A pure budget buys discrete Laplace noise, a zCDP budget discrete
// Gaussian noise. Under a promise of (epsilon, delta), the schedule is scaled up from what zCDP allows to the
// most that composes, numerically and certified, to the promise. Errors: INVALID_ARGUMENT with a field
// ("workload", "settings...", "spend..."); CANCELLED as in Pacer.
absl::StatusOr<ViewSchedule> MakeViewSchedule(const SynthesisInput& input, SettingsReader& reader,
                                              Pacer& pacer);

// The settings that MakeViewSchedule() reads.
const std::vector<Setting>& ViewSettingsTable();

// The settings of the methods that measure views. ViewSettingsTable() has the defaults and ranges.
struct ViewSettings {
  std::string views;  // "design", "selected", "singles" or a list
  int64_t max_view_cells = 0;
  BudgetSplit split = BudgetSplit::kEqual;
  int64_t single_percent = 0;
  int64_t selections = 1;  // with "selected"
  int64_t selection_percent = 0;
  ViewEstimation estimation;
};

// Of settings that the request leaves open.
struct ViewDefaults {
  std::string views = "design";
  int64_t selections = 1;
  std::optional<int64_t> single_percent_of_selected = std::nullopt;  // none: as of a design
};

// Reads all but "cells" and "strength", whose defaults follow from the choice of views. `workload` are its
// sets, which hold `pairs` pairs of attributes, or kMostViews and more.
absl::StatusOr<ViewSettings> ReadViewSettings(const Domain& domain, const std::vector<AttributeSet>& workload,
                                              size_t pairs, const ViewDefaults& defaults,
                                              SettingsReader& reader);

}  // namespace curator::dp
