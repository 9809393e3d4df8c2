// Identifies a request: two requests with the same fingerprint are the same request, and the second one gets
// what the first one got.
//
// A fingerprint (version 3) has what the client sent, with the names of datasets, parts, attributes and
// values resolved, and nothing of the server's own: no default, no plan, no version of the data. So it stays
// the same when the program is changed (tests/golden/fingerprints_test.cc); what the program draws for the
// request is its draw identity (draw_identity.h).
//
// SHA-256 over canonical bytes; wire bytes are never hashed. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dp/accounting/event.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/sensitivity/spend.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/release.h"
#include "dp/workload/workload_plan.h"

namespace curator::codec {

struct AskedWorkload {
  std::string_view dataset_id;
  std::vector<int64_t> parts;  // the numbers of those that the client named; empty when it named none
  std::span<const dp::AskedSet> queries;
  dp::Spend spend;
  std::optional<dp::Target> target;
  std::optional<dp::Mechanism> mechanism;
  dp::ErrorMeasure objective = dp::ErrorMeasure::kMean;
};
std::string FingerprintOf(const AskedWorkload& request);

struct AskedSynthesis {
  std::string_view dataset_id;
  std::vector<int64_t> parts;
  std::string_view method;
  dp::Spend spend;
  std::map<std::string, std::string> settings;  // those that the client gave; a prior by its identity
  std::span<const dp::AskedSet> workload;       // empty when the client gave none
  std::optional<int64_t> assume_records;
};
std::string FingerprintOf(const AskedSynthesis& request);

// ---- What programs stored before draw identities: of the plan instead of the request

// `parts`: the numbers of the parts that are read; empty for a dataset that is not partitioned. `release` is
// the planned release, without its values: what is drawn, and how answers are computed from it.
std::string EarlierWorkloadFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                       const std::vector<int64_t>& parts, const dp::WorkloadRelease& release,
                                       const dp::Event& event);

std::string EarlierSynthesisFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                        const std::vector<int64_t>& parts, std::string_view method,
                                        const std::map<std::string, std::string>& settings,
                                        const std::vector<dp::QueryGroup>& workload, const dp::Event& event);

}  // namespace curator::codec
