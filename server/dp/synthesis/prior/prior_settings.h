// The settings of prior-aware estimation.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/prior/iterative_estimation.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

enum class PriorSupport { kPrior, kFullDomain };
enum class MeasuredSets { kChosen, kGiven };
// How answers count: as far as their noise allows (EstimateWeighed()), or exactly and made a distribution in
// one of two ways (EstimateDistribution(), the paper's estimate).
enum class AnswerWeighting { kByNoise, kExactlyNearest, kExactlyScaled };

// PriorSettingsTable() has the defaults and ranges.
struct PriorSettings {
  PriorSupport support = PriorSupport::kPrior;
  MeasuredSets measure = MeasuredSets::kChosen;
  double threshold = 0;      // in nats
  int64_t clique_cells = 0;  // 0: from the noise
  int64_t roots = 0;
  AttributeSet region;  // empty: the whole table
  AttributeSet group;   // empty: no groups
  int64_t region_percent = 0;
  int64_t count_percent = 0;
  AnswerWeighting weighting = AnswerWeighting::kByNoise;
  double trust = 0;        // records that the prior is worth; 0: as many as it has
  double group_trust = 0;  // records that a region's estimate is worth as the prior of a group
  EstimationRule estimation;
  int64_t max_cells = 0;

  std::map<std::string, std::string> used;  // every key, defaults filled in
};

// The most weights that a model holds, 2 bytes each.
inline constexpr int64_t kMostPriorWeights = int64_t{1} << 24;

// Errors: INVALID_ARGUMENT ("settings.KEY").
absl::StatusOr<PriorSettings> ReadPriorSettings(const SynthesisInput& input);

// The settings of the method.
const std::vector<Setting>& PriorSettingsTable();

}  // namespace curator::dp
