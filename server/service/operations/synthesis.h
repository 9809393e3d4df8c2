// Synthesis: planned and priced from public facts, charged, then learned in the background as an operation.
//
// Thread-safe. Errors as in workloads.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/synthesizer.h"
#include "dp/workload/spend.h"
#include "service/access.h"
#include "service/charges/pricing.h"
#include "service/charges/request_scope.h"
#include "service/operations/operations.h"
#include "service/services.h"
#include "service/workloads/workloads.h"

namespace curator::service {

struct SynthesisRequest {
  std::string principal;
  std::string dataset;
  std::string method;
  dp::Spend spend;
  std::map<std::string, std::string> settings;
  std::vector<QuerySetRequest>
      workload;  // all two-way marginals when empty (the one-way, of a single attribute)
  std::optional<int64_t> assume_records;
  std::vector<std::string> parts;  // of a partitioned dataset; all that are sealed, when empty
};

struct SynthesisEstimate {
  DatasetView dataset;
  RequestScope scope;
  const dp::Synthesizer* synthesizer = nullptr;
  dp::SynthesisInput input;
  std::string prior_identity;  // of input.prior (priors.h); empty without one
  dp::SynthesisPlan plan;
  Price price;
};

// From public facts alone.
absl::StatusOr<SynthesisEstimate> EstimateSynthesis(Curator& curator, const SynthesisRequest& request);

// Returns once the charge is durable; the learning goes on in the background. The same request id finds the
// same operation: running, done, or (after the loss of a process) taken up again with the same draw.
absl::StatusOr<OperationView> CreateSynthesis(Curator& curator, const SynthesisRequest& request,
                                              const std::string& request_id, Intent intent);

}  // namespace curator::service
