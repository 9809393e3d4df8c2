// What makes two requests the same request: SHA-256 over dataset, version, plan and price, and nothing of the
// wire.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/release_codec.h"
#include "dp/accounting/event.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"

namespace curator::codec {

// `parts`: the numbers of the parts that are read; empty for a dataset that is not partitioned. `release` is
// what is going to be stored, without its values: it says all that is drawn, and what is made of it.
std::string WorkloadFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                const std::vector<int64_t>& parts, const WorkloadRelease& release,
                                const dp::Event& event);

std::string SynthesisFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                 const std::vector<int64_t>& parts, std::string_view method,
                                 const std::map<std::string, std::string>& settings,
                                 const std::vector<dp::QueryGroup>& workload, const dp::Event& event);

}  // namespace curator::codec
