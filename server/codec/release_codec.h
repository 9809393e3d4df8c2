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
#include "dp/workload/noise_spec.h"

namespace curator::codec {

// The measured cells of a workload.
struct WorkloadRelease {
  std::vector<dp::AttributeSet> marginals;
  dp::NoiseSpec noise;                       // in every cell
  std::vector<std::vector<int64_t>> counts;  // one vector a marginal, the last attribute varies fastest
  std::string event;                         // in words
  bool operator==(const WorkloadRelease&) const = default;
};

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

// Errors: DATA_LOSS for bytes that EncodeRelease() did not make.
absl::StatusOr<WorkloadRelease> DecodeWorkloadRelease(std::string_view bytes);
absl::StatusOr<SynthesisRelease> DecodeSynthesisRelease(std::string_view bytes);

}  // namespace curator::codec
