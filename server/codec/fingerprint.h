// Identifies a request: two requests with the same fingerprint are the same request. SHA-256 over dataset,
// version, parts, plan and event, in canonical bytes; wire bytes are never hashed. Thread-safe: pure
// functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dp/accounting/event.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/release.h"

namespace curator::codec {

// `parts`: the numbers of the parts that are read; empty for a dataset that is not partitioned. `release` is
// the planned release, without its values: what is drawn, and how answers are computed from it.
std::string WorkloadFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                const std::vector<int64_t>& parts, const dp::WorkloadRelease& release,
                                const dp::Event& event);

std::string SynthesisFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                 const std::vector<int64_t>& parts, std::string_view method,
                                 const std::map<std::string, std::string>& settings,
                                 const std::vector<dp::QueryGroup>& workload, const dp::Event& event);

}  // namespace curator::codec
