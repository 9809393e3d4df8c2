// What a release holds: everything that its answer is made of, and nothing that is looked up elsewhere later.
//
// A release's bytes are made here, never from wire bytes, so that the same release answers in the same words
// for ever. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/measurement.h"

namespace curator::codec {

// What was measured for a workload, and how its answers are made from it (dp/workload/measurement.h): again
// and again the same.
struct WorkloadRelease {
  std::vector<dp::AskedSet> asked;
  std::vector<dp::SetPlan> plans;  // of each set; sources are positions in `measured`
  std::vector<dp::QueryGroup> measured;
  dp::NoiseSpec noise;                       // in every value
  std::vector<std::vector<int64_t>> values;  // of each measured group
  std::string event;                         // in words
  bool operator==(const WorkloadRelease&) const = default;
};

// Whether all that was asked for were marginals, each measured by itself: such a release has the bytes that
// it had before there were others, and remembers one query set.
bool IsPlainMarginals(const WorkloadRelease& release);

// A model that synthetic records are sampled from.
struct SynthesisRelease {
  std::string method;
  std::map<std::string, std::string> settings;  // with the defaults filled in
  dp::AttributeSet attributes;                  // that the model covers
  int64_t records = 0;                          // the noisy number of records, at least 1
  std::vector<std::string> transcript;          // what was measured, a line each
  std::string event;                            // in words
  std::string model;                            // the synthesizer's own bytes
  bool operator==(const SynthesisRelease&) const = default;
};

std::string EncodeRelease(const WorkloadRelease& release);
std::string EncodeRelease(const SynthesisRelease& release);

// At least the size in bytes of the release that a plan is going to make, with up to 4096 for its event; from
// public facts, before anything is drawn or charged. A release's own limit is kMostReleaseBytes.
inline constexpr int64_t kMostReleaseBytes = int64_t{256} << 20;
int64_t MostEncodedBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                         const std::vector<dp::SetPlan>& plans, const std::vector<dp::QueryGroup>& measured);

// Errors: DATA_LOSS for bytes that EncodeRelease() did not make, now or in an earlier version.
absl::StatusOr<WorkloadRelease> DecodeWorkloadRelease(std::string_view bytes);
absl::StatusOr<SynthesisRelease> DecodeSynthesisRelease(std::string_view bytes);

}  // namespace curator::codec
