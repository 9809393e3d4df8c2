// Workloads, spends, prices and answers between the wire and the inside. Protobuf ends here.
//
// Errors: INVALID_ARGUMENT with the field's path as the caller wrote it. Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/workload.pb.h"
#include "dp/workload/measurement.h"
#include "dp/workload/noise_spec.h"
#include "dp/workload/post_processing.h"
#include "dp/workload/spend.h"
#include "dp/workload/workload_plan.h"
#include "service/charges/pricing.h"
#include "service/workloads/query_classes.h"

namespace curator::rpc {

absl::StatusOr<dp::Spend> FromProto(const v1::Spend& spend);
v1::Spend ToProto(const dp::Spend& spend);
// Errors: none here; what a target may be is checked where it is used.
dp::Target FromProto(const v1::Target& target);
dp::PostProcessing FromProto(const v1::PostProcessing& steps);
absl::StatusOr<std::optional<dp::Mechanism>> FromProto(v1::Mechanism mechanism);

// The level that a request states, or 0.95. Errors: INVALID_ARGUMENT unless it lies strictly between 0 and 1.
absl::StatusOr<double> ConfidenceLevel(std::optional<double> stated);

absl::StatusOr<v1::Noise> ToProto(const dp::NoiseSpec& noise, double confidence_level);

// What a counter would have left after the price, or has left now that it was paid.
enum class PriceTense { kWouldCost, kHasCost };
std::vector<v1::Cost> ToProto(const service::Price& price, PriceTense tense);

v1::Strategy ToProto(dp::Strategy strategy);

// Query sets from the wire: shapes only; names and values are looked up in service/resolve_workload.
//
// Errors: INVALID_ARGUMENT with the field's path as the caller wrote it. Thread-safe: pure functions.

absl::StatusOr<std::vector<service::QuerySetRequest>> FromProto(const v1::Workload& workload);

}  // namespace curator::rpc
