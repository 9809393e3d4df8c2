// The settings of the synthesis of nested data, and the grid of parameters that they describe.
//
// Everything here is public. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/utility.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// By which theorem a draw is private (docs/PRIVACY.md, Nested data).
enum class NestedBound {
  kRecord,  // the unit is a record, whose influence on its group's density is bounded
  kGroup,   // groups are clipped: they are the unit, or a record pays as much as its whole group
};

enum class SizeSource { kHistogram, kPublic };

// On what the prior of deviations is flat.
enum class ScalePrior { kFlatOnLogarithms, kFlatOnDeviations };

// NestedSettingsTable() has the defaults and ranges.
struct NestedSettings {
  GroupModel model;
  NestedBound bound = NestedBound::kRecord;
  RecordWeights records = RecordWeights::kOne;
  GroupWeight group = GroupWeight::kOne;
  double width = 1;
  double clip = 1;
  ScalePrior scale_prior = ScalePrior::kFlatOnLogarithms;
  int64_t draws = 1;
  SizeSource sizes = SizeSource::kHistogram;
  int64_t group_size = 1;          // with public sizes
  std::vector<int64_t> size_bins;  // least sizes; one bin with public sizes
  int64_t largest_group = 1;       // of the last bin
  int64_t size_percent = 0;
  std::string join;  // a method, or "none"
  int64_t join_percent = 0;
  // Those that the workload has, where they are counted by group; then group_percent is above 0.
  AttributeSet group_attributes;
  int64_t group_percent = 0;
  std::map<std::string, std::string> used;
};

// Errors: INVALID_ARGUMENT: "nested" where the dataset's schema names no groups, "settings..." with the
// reason for what is out of range, and for weights without a theorem.
absl::StatusOr<NestedSettings> ReadNestedSettings(const SynthesisInput& input,
                                                  std::span<const Setting> table);

// The utility of each draw of parameters.
Utility QuestionFor(const NestedFacts& facts, const NestedSettings& settings);

// About how many groups there are, from what is declared; at least 1. For defaults alone.
double ExpectedGroups(const SynthesisInput& input, const NestedSettings& settings);

// One point of the grid: of the normal model mean, between and within; of the binomial one mean and
// correlation (as `between`).
struct NestedParameters {
  double mean = 0;
  double between = 0;
  double within = 0;
};
NestedParameters ParametersAt(const GroupModel& model, size_t candidate);
int64_t CandidatesOf(const GroupModel& model);

// A warning for each axis of more than one number at whose edge the point lies: the best point may lie
// beyond.
std::vector<std::string> WarningsOfEdges(const GroupModel& model, const NestedParameters& point);

// The settings of the method, where other attributes may be added by the methods of these names. The first of
// them is the one that join=auto takes.
std::vector<Setting> NestedSettingsTable(const std::vector<std::string>& joinable);

}  // namespace curator::dp
