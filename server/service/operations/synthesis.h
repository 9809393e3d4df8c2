// Synthesis: planned and priced from public facts, charged, then fitted in the background as an operation.
//
// Thread-safe. Errors as in workloads.h.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/synthesizer.h"
#include "service/access.h"
#include "service/charges/pricing.h"
#include "service/charges/request_scope.h"
#include "service/operations/operations.h"
#include "service/services.h"
#include "service/workloads/workloads.h"

namespace curator::service {

struct SynthesisRequest {
  Principal principal;
  DatasetName dataset;
  std::string method;
  dp::Spend spend;
  std::map<std::string, std::string> settings;
  std::vector<QuerySetRequest>
      workload;  // all two-way marginals when empty (the one-way, of a single attribute)
  std::optional<int64_t> assume_records;
  std::vector<std::string> parts;  // of a partitioned dataset; all that are sealed, when empty
  // Signalled when the client has gone: nothing new is charged from then on.
  std::stop_token client_left;
};

struct SynthesisEstimate {
  DatasetView dataset;
  RequestScope scope;
  const dp::Synthesizer* synthesizer = nullptr;
  dp::SynthesisInput input;
  std::string prior_identity;  // Prior::identity of input.prior; empty without one
  dp::SynthesisPlan plan;
  Price price;
};

// From public facts alone; costs nothing.
absl::StatusOr<SynthesisEstimate> EstimateSynthesis(Services& services, const SynthesisRequest& request);

// Returns when the charge is durable; the model is fitted in the background. The same request id finds the
// same operation: running, done, or (after its process was lost) resumed with the same draw. UNAVAILABLE, and
// nothing is charged, when the queue is full.
absl::StatusOr<OperationView> CreateSynthesis(Services& services, const SynthesisRequest& request,
                                              const RequestId& request_id, Intent intent);

}  // namespace curator::service
