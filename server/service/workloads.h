// Questions: what a workload would cost and how wrong its answers would be, and the answers themselves.
//
// Thread-safe. Errors: INVALID_ARGUMENT with the field's path, NOT_FOUND, FAILED_PRECONDITION (not sealed,
// archived, public, or a mechanism that the account's rule cannot count), RESOURCE_EXHAUSTED naming the full
// accounts, ALREADY_EXISTS.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codec/release_codec.h"
#include "dp/domain/domain.h"
#include "dp/workload/marginal_plan.h"
#include "dp/workload/noise_spec.h"
#include "dp/workload/spend.h"
#include "service/access.h"
#include "service/curator.h"
#include "service/datasets.h"
#include "service/pricing.h"
#include "service/request_scope.h"

namespace curator::service {

// One entry of a workload: explicit attribute sets by name, or all k-way marginals over attributes (all, when
// empty).
struct MarginalsQuery {
  std::vector<std::vector<std::string>> sets;
  std::optional<int> k;
  std::vector<std::string> attributes;
};

// The marginals that the queries name, in order.
// Errors: INVALID_ARGUMENT ("workload.query_sets[0].marginals...") for unknown or repeated attributes, an
// impossible k, nothing asked, or more than the limits of dp/workload/marginals.h.
absl::StatusOr<std::vector<dp::AttributeSet>> ResolveMarginals(const dp::Domain& domain,
                                                               const std::vector<MarginalsQuery>& queries);

struct WorkloadRequest {
  std::string principal;
  std::string dataset;
  std::vector<MarginalsQuery> queries;
  dp::Spend spend;
  std::optional<dp::Mechanism> mechanism;  // the best that the rule and the spend allow, when absent
  std::vector<std::string> parts;          // of a partitioned dataset; all that are sealed, when empty
};

struct WorkloadEstimate {
  DatasetView dataset;
  RequestScope scope;
  dp::MarginalPlan plan;
  Price price;
};

// From public facts alone: works before a record is imported, costs nothing, touches nothing.
absl::StatusOr<WorkloadEstimate> EstimateWorkload(Curator& curator, const WorkloadRequest& request);

struct WorkloadAnswer {
  DatasetView dataset;
  ledger::Release release;  // without its payload, which is in `answer`
  codec::WorkloadRelease answer;
  Price price;
  std::string request_id;
  bool replayed = false;
};

// Charges, draws, stores, answers; or answers again what is stored. With Intent::kValidateOnly nothing is
// charged and the answer is empty but for dataset and price.
absl::StatusOr<WorkloadAnswer> AnswerWorkload(Curator& curator, const WorkloadRequest& request,
                                              const std::string& request_id, Intent intent);

}  // namespace curator::service
