// What a release stores: everything its answers are computed from. Answering again looks nothing up
// elsewhere.
//
// Plain values. codec/release_codec.h has their bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/measurement.h"
#include "dp/workload/residual/residual_measurement.h"
#include "dp/workload/statistics/statistics_answers.h"

namespace curator::dp {

// What was measured for a workload, and how its answers are computed from the measurements
// (dp/workload/measurement.h). A request that is measured by residuals has a `residual`, a plan of
// Strategy::kResidual without sources for each set, and nothing in `measured`.
struct WorkloadRelease {
  std::vector<AskedSet> asked;
  std::vector<SetPlan> plans;  // of each set; sources are positions in `measured`
  std::vector<QueryGroup> measured;
  NoiseSpec noise;                           // in each of `values`; without a meaning where there are none
  std::vector<std::vector<int64_t>> values;  // of each measured group, or of each group of `residual`
  std::optional<ResidualMeasurement> residual = std::nullopt;
  StatisticsRelease statistics = {};  // of the sets of statistics, in their order
  std::string event;                  // described for display
  bool operator==(const WorkloadRelease&) const = default;
};

// A model that synthetic records are sampled from.
struct SynthesisRelease {
  std::string method;
  std::map<std::string, std::string> settings;  // with the defaults filled in
  AttributeSet attributes;                      // covered by the model
  int64_t records = 0;                          // the noisy number of records, at least 1
  std::vector<std::string> transcript;          // what was measured, one line each
  std::string event;                            // described for display
  std::string model;                            // the synthesizer's own bytes
  bool operator==(const SynthesisRelease&) const = default;
};

}  // namespace curator::dp
