// Workloads, spends, prices and answers between the wire and the inside. Protobuf ends here.
//
// Errors: INVALID_ARGUMENT with the field's path as the caller wrote it. Thread-safe: pure functions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/workload.pb.h"
#include "dp/domain/domain.h"
#include "dp/workload/noise_spec.h"
#include "dp/workload/spend.h"
#include "service/pricing.h"
#include "service/workloads.h"

namespace curator::rpc {

absl::StatusOr<std::vector<service::MarginalsQuery>> FromProto(const v1::Workload& workload);
absl::StatusOr<dp::Spend> FromProto(const v1::Spend& spend);
absl::StatusOr<std::optional<dp::Mechanism>> FromProto(v1::Mechanism mechanism);

// The level that a request states, or 0.95. Errors: INVALID_ARGUMENT unless it lies strictly between 0 and 1.
absl::StatusOr<double> ConfidenceLevel(std::optional<double> stated);

absl::StatusOr<v1::Noise> ToProto(const dp::NoiseSpec& noise, double confidence_level);

// What a counter would have left after the price, or has left now that it was paid.
enum class PriceTense { kWouldCost, kHasCost };
std::vector<v1::Cost> ToProto(const service::Price& price, PriceTense tense);

// Hands a marginal to `write` as its header and slices of cells, each message well below 1 MiB. False as soon
// as `write` says so.
using ChunkWriter = std::function<bool(const v1::AnswerChunk&)>;
bool WriteMarginal(const dp::Domain& domain, const dp::AttributeSet& marginal, const v1::Noise& noise,
                   std::span<const int64_t> counts, const ChunkWriter& write);
bool WriteMarginal(const dp::Domain& domain, const dp::AttributeSet& marginal,
                   std::span<const double> estimates, const ChunkWriter& write);

}  // namespace curator::rpc
