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
#include "codec/draw_identity.h"
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
  // Signalled when the client has gone: the plan ends with CANCELLED, and nothing new is charged.
  std::stop_token client_left;
};

struct SynthesisEstimate {
  DatasetView dataset;
  RequestScope scope;
  const dp::Synthesizer* synthesizer = nullptr;
  dp::SynthesisInput input;
  dp::SynthesisPlan plan;
  Price price;
  codec::DrawIdentity identity;  // what will be drawn: the kernel and the noise are made from it
  RequestMemory memory = {};     // that the plan and its prior take
  int64_t bytes = 0;  // that planning again, with its prior, fitting and storing the model takes at most
  std::string refused_by_rule = {};  // where EstimateSynthesis() made it: the name of a rule; or empty
  int64_t cpu_seconds = 0;  // predicted (dp/synthesis/synthesis_forecast.h), within the limit of a synthesis
};

// From public facts alone; costs nothing. Errors: INVALID_ARGUMENT for what is predicted to take more than
// kMostFreeBytes to plan, more than kMostPaidBytes to fit or, as a model, to read, or to make a release
// larger than those that are stored; UNAVAILABLE when other requests hold the memory that the plan would
// take.
absl::StatusOr<SynthesisEstimate> EstimateSynthesis(Services& services, const SynthesisRequest& request);

// Returns when the cost is held; the model is fitted in the background, and charged when a thread begins to,
// which waits for the memory first. A queued synthesis holds none: it is planned again.
// The same request id finds the same operation: queued, running, done, or (after its process was lost) queued
// again or resumed with the same draw. A new one counts the predicted seconds among those of the principal's
// day. RESOURCE_EXHAUSTED (OverQuota()) when the principal has as many as one may have, or too few seconds
// left, and UNAVAILABLE when the queue is full: nothing is held then.
absl::StatusOr<OperationView> CreateSynthesis(Services& services, const SynthesisRequest& request,
                                              const RequestId& request_id, Intent intent);

}  // namespace curator::service
