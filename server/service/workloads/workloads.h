// Workloads: what one would cost and how wrong its answers would be, and the answers themselves.
//
// Thread-safe. Errors: INVALID_ARGUMENT with the field's path, NOT_FOUND, FAILED_PRECONDITION (not sealed,
// archived, public, or a mechanism that the account's rule cannot count), RESOURCE_EXHAUSTED naming the full
// accounts, ALREADY_EXISTS, RefusedByRule() for a new charge that a rule of the owner refuses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/sensitivity/spend.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/post_processing.h"
#include "dp/workload/release.h"
#include "dp/workload/workload_plan.h"
#include "service/access.h"
#include "service/charges/dataset_cache.h"
#include "service/charges/pricing.h"
#include "service/charges/receipts.h"
#include "service/charges/request_scope.h"
#include "service/services.h"
#include "service/workloads/query_classes.h"
#include "service/workloads/selection.h"

namespace curator::service {

struct WorkloadRequest {
  Principal principal;
  DatasetName dataset;
  std::vector<QuerySetRequest> queries;
  dp::Spend spend;
  std::optional<dp::Target> target;        // instead of a spend
  std::optional<dp::Mechanism> mechanism;  // the best that the rule and the spend allow, when absent
  // What the plan makes least, by the weights of the sets; where it is given, a target is not.
  std::optional<dp::ErrorMeasure> objective = {};
  std::vector<std::string> parts;  // of a partitioned dataset; all that are sealed, when empty
  // Answers from an earlier release if one determines all answers; a spend or target is then not needed.
  bool prefer_free = false;
  std::optional<Selection> selection = {};  // of the answers that are shown; checked before the charge
  // Signalled when the client has gone: the plan ends with CANCELLED, and nothing new is charged.
  std::stop_token client_left;
};

// What a share of what is left would buy.
struct LadderStep {
  int64_t percent_of_left = 0;
  dp::Spend spend;
};

struct WorkloadEstimate {
  std::shared_ptr<const KnownDataset> known;
  RequestScope scope;
  std::vector<dp::AskedSet> asked;
  dp::WorkloadPlan plan;  // with its classes, where EstimateWorkload() made it
  Price price;
  std::optional<std::string> free_from;  // the id of a release that determines all answers
  std::string refused_by_rule = {};      // where EstimateWorkload() made it: the name of a rule; or empty
  int64_t marginals_left_out = 0;        // the same, of all k-way marginals: those above their max_cells
  RequestMemory memory = {};             // that the plan takes
  // Of a request that names neither a spend nor a target: `plan` and `price` are then those of its first
  // step, and `refused_by_rule` is about that.
  std::vector<LadderStep> ladder = {};

  const DatasetView& dataset() const { return known->view; }
};

// From public facts alone, but for what is left of the accounts: works before a record is imported, costs
// nothing, and accesses no record. A request that names neither a spend nor a target gets a ladder
// (spend_choices.h: SetLadder()). Errors: FAILED_PRECONDITION where too little is left for one;
// INVALID_ARGUMENT for what dp::PlanningBytes() predicts to take more than kMostFreeBytes; UNAVAILABLE when
// other requests hold the memory that it would take.
absl::StatusOr<WorkloadEstimate> EstimateWorkload(Services& services, const WorkloadRequest& request);

struct WorkloadAnswer {
  std::shared_ptr<const KnownDataset> known;
  ledger::Release release;  // without its payload, which is decoded in `answer`
  dp::WorkloadRelease answer;
  Price price;
  std::optional<Receipt> receipt;  // of the charge that paid for it
  std::string request_id;
  bool replayed = false;
  // The id of the release that `answer` was made from: nothing was charged or stored, `release` is empty.
  std::optional<std::string> free_from;
  // The id of a recent release that would have determined all answers, had free answers been preferred.
  std::optional<std::string> could_be_free_from;
  RequestMemory memory = {};              // that the answer takes
  RepetitionPace::Place repetition = {};  // of an answer that was stored before

  const DatasetView& dataset() const { return known->view; }
};

// Charges, draws, stores and answers; or answers from what the same request stored before; or, where that is
// preferred and an earlier release determines all answers, answers from it without a charge. With
// Intent::kValidateOnly nothing is charged, and only the answer's dataset and price are filled.
//
// `steps` are those that the answers will be read with (answers.h). They do not change what is stored, but a
// request whose answers they cannot process is refused before it is charged: INVALID_ARGUMENT
// ("post_processing"). A principal that repeats stored requests beyond its pace
// (repetition_pace.h) gets UNAVAILABLE.
absl::StatusOr<WorkloadAnswer> AnswerWorkload(Services& services, const WorkloadRequest& request,
                                              const dp::PostProcessing& steps, const RequestId& request_id,
                                              Intent intent);

}  // namespace curator::service
