// The bytes of a release, as the ledger stores them.
//
// Encoded from the release alone, never from wire bytes, so that a stored release always gives the same
// answers. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/release.h"

namespace curator::codec {

// Whether only marginals were asked for, each measured by itself. Such a release keeps the bytes of the first
// version, which stores its marginals as one query set.
bool IsPlainMarginals(const dp::WorkloadRelease& release);

std::string EncodeRelease(const dp::WorkloadRelease& release);
std::string EncodeRelease(const dp::SynthesisRelease& release);

// An upper bound of the size in bytes of the release that a plan will make, with up to 4096 for its event;
// from public facts, before anything is drawn or charged. A release may have at most kMostReleaseBytes.
inline constexpr int64_t kMostReleaseBytes = int64_t{256} << 20;
int64_t MostEncodedBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                         const std::vector<dp::SetPlan>& plans, const std::vector<dp::QueryGroup>& measured);

// The same of a workload that is measured by residuals.
int64_t MostEncodedBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                         const dp::ResidualMeasurement& residual);

// The same of statistics.
int64_t MostEncodedBytes(const dp::Domain& domain, std::span<const dp::AskedStatistics> asked,
                         std::span<const dp::StatisticsDraw> draws);

// Errors: DATA_LOSS for bytes that EncodeRelease() did not make, now or in an earlier version.
absl::StatusOr<dp::WorkloadRelease> DecodeWorkloadRelease(std::string_view bytes);
absl::StatusOr<dp::SynthesisRelease> DecodeSynthesisRelease(std::string_view bytes);

// The cells of all conditions of a stored release of statistics, which decoding it makes of a few runs; 0 for
// other bytes.
int64_t ConditionCells(std::string_view bytes);

}  // namespace curator::codec
