// Workloads, query sets, spends, prices and noise between the wire and plain types. Protobuf ends here.
//
// Errors: INVALID_ARGUMENT with the field's path as the caller wrote it. Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/workload.pb.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/spend.h"
#include "dp/workload/comparisons.h"
#include "dp/workload/measurement.h"
#include "dp/workload/post_processing.h"
#include "dp/workload/workload_plan.h"
#include "service/charges/pricing.h"
#include "service/workloads/answers.h"
#include "service/workloads/query_classes.h"

namespace curator::rpc {

absl::StatusOr<dp::Spend> FromProto(const v1::Spend& spend);
v1::Spend ToProto(const dp::Spend& spend);
// Errors: INVALID_ARGUMENT for two targets in one; service/workloads checks the rest.
absl::StatusOr<dp::Target> FromProto(const v1::Target& target);
absl::StatusOr<std::optional<dp::ErrorMeasure>> FromProto(v1::Objective objective);
dp::PostProcessing FromProto(const v1::PostProcessing& steps);
absl::StatusOr<std::optional<dp::Mechanism>> FromProto(v1::Mechanism mechanism);

// The level that a request states, or 0.95. Errors: INVALID_ARGUMENT unless it lies strictly between 0 and 1.
absl::StatusOr<double> ConfidenceLevel(std::optional<double> stated);

v1::Noise ToProto(const service::NoiseSummary& noise);

// Whether the price would be paid, or has been: then the balances already include it.
enum class PriceTense { kWouldCost, kHasCost };
std::vector<v1::Cost> ToProto(const service::Price& price, PriceTense tense);

v1::Strategy ToProto(dp::Strategy strategy);

// A predicate with the names and values that the caller wrote, an expression within the limits of
// service/workloads/resolve_expression.h. `path` is its field.
absl::StatusOr<service::PredicateRequest> FromProto(const v1::Predicate& predicate, const std::string& path);

// Errors: INVALID_ARGUMENT (`path`) for an operator that is not known.
absl::StatusOr<dp::ComparisonOperator> FromProto(v1::Comparison::Operator op, const std::string& path);

// Query sets with the names and values that the caller wrote; service/workloads/resolve_workload looks them
// up.
absl::StatusOr<std::vector<service::QuerySetRequest>> FromProto(const v1::Workload& workload);

}  // namespace curator::rpc
