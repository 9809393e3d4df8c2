// Questions: what a workload would cost and how wrong its answers would be, and the answers themselves.
//
// Thread-safe. Errors: INVALID_ARGUMENT with the field's path, NOT_FOUND, FAILED_PRECONDITION (not sealed,
// archived, public, or a mechanism that the account's rule cannot count), RESOURCE_EXHAUSTED naming the full
// accounts, ALREADY_EXISTS.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codec/release_codec.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/spend.h"
#include "dp/workload/workload_plan.h"
#include "service/access.h"
#include "service/charges/pricing.h"
#include "service/charges/request_scope.h"
#include "service/services.h"
#include "service/workloads/query_classes.h"

namespace curator::service {

struct WorkloadRequest {
  std::string principal;
  std::string dataset;
  std::vector<QuerySetRequest> queries;
  dp::Spend spend;
  std::optional<dp::Target> target;        // instead of a spend
  std::optional<dp::Mechanism> mechanism;  // the best that the rule and the spend allow, when absent
  std::vector<std::string> parts;          // of a partitioned dataset; all that are sealed, when empty
  bool prefer_free = false;                // then neither a spend nor a target is needed where one is found
};

struct WorkloadEstimate {
  DatasetView dataset;
  RequestScope scope;
  std::vector<dp::AskedSet> asked;
  dp::WorkloadPlan plan;
  Price price;
  std::optional<std::string> free_from;  // a release that determines all answers
};

// From public facts alone: works before a record is imported, costs nothing, touches nothing.
absl::StatusOr<WorkloadEstimate> EstimateWorkload(Curator& curator, const WorkloadRequest& request);

// What another spend would buy.
struct SpendChoice {
  dp::Spend spend;
  dp::NoiseSpec noise;
  Price price;
};

// A quarter of the estimate's spend, half of it, itself, twice, and four times: as far as they buy anything.
absl::StatusOr<std::vector<SpendChoice>> SpendChoices(const WorkloadEstimate& estimate);

struct WorkloadAnswer {
  DatasetView dataset;
  ledger::Release release;  // without its payload, which is in `answer`
  codec::WorkloadRelease answer;
  Price price;
  std::string request_id;
  bool replayed = false;
  // The release that `answer` was made from: nothing was charged or stored, `release` is empty.
  std::optional<std::string> free_from;
  // The release that would have done, had free answers been preferred.
  std::optional<std::string> could_be_free_from;
};

// Whether answers like these can be given in the form that is wished: asked before anything is charged.
using AnswerCheck =
    std::function<absl::Status(const DatasetView& dataset, const codec::WorkloadRelease& planned)>;

// Charges, draws, stores, answers; or answers again what is stored; or, where that is preferred and an
// earlier release determines all answers, answers from it, free. With Intent::kValidateOnly nothing is
// charged and the answer is empty but for dataset and price. Errors: those of `check`, too.
absl::StatusOr<WorkloadAnswer> AnswerWorkload(Curator& curator, const WorkloadRequest& request,
                                              const std::string& request_id, Intent intent,
                                              const AnswerCheck& check);

}  // namespace curator::service
