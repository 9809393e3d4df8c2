// Exact reports for a dataset's owner about their own records. No guarantee covers them: each access is
// recorded in the history first, and the results are private.
//
// Thread-safe. Errors: NOT_FOUND without access, PERMISSION_DENIED for grantees, INVALID_ARGUMENT with the
// field's path; those of OwnerActions::Open().
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/kernel/owner/nested_risk.h"
#include "service/access.h"
#include "service/services.h"

namespace curator::service {

struct EvaluationRequest {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  std::string release_id;       // a synthetic release of this dataset
  std::vector<std::string> by;  // attributes whose bins are the groups; the whole table when empty
  int64_t pairs = 50;           // random two-way marginals per group; all when there are fewer
  int64_t bias_penalty = 250;   // a group whose number of records is off by this many counts as wholly wrong
  // Signalled when the client has gone: the model is then not made, and no record is read.
  std::stop_token client_left = {};
};

struct GroupEvaluation {
  std::string label;
  double distance = 0;  // the mean L1 distance of its marginals, 0 to 2
  int64_t records = 0;  // exact
  double estimated_records = 0;
  bool is_biased = false;  // then its error is 2
};

// Private: computed from the records themselves.
struct Evaluation {
  double error = 0;               // the mean over the groups with records
  double error_without_bias = 0;  // the mean of their distances
  int64_t biased_groups = 0;
  int64_t empty_groups = 0;  // left out
  std::vector<GroupEvaluation> groups;
};

// The metric of the NIST 2020 temporal map challenge (Tao, Bater, Machanavajjhala 2021, section 4): for each
// group, the mean L1 distance between the release's and the true normalised marginals of pairs of attributes.
// The pairs are drawn for each group from a key made of the release's id, so an evaluation can be repeated.
absl::StatusOr<Evaluation> EvaluateRelease(Services& services, const EvaluationRequest& request,
                                           Intent intent);

// Private: the exact number of records in all sealed parts.
absl::StatusOr<int64_t> CountRows(Services& services, const RequestId& request_id, const Principal& principal,
                                  const DatasetName& dataset, Intent intent);

// The parameters over which sensitivities are taken (dp/kernel/owner/nested_risk.h).
enum class RiskGridKind { kAroundFit, kWithinBounds };

struct RiskRequest {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;  // its schema has a nesting
  RiskGridKind grid = RiskGridKind::kAroundFit;
};

// How much single groups and records of nested data weigh in the likelihood. Private: computed from the
// records.
struct RiskReport {
  std::vector<dp::RiskRow> rows;
  int64_t groups = 0;
  int64_t records = 0;
  std::string grid;  // described for display
};

// Errors: also FAILED_PRECONDITION when the dataset has no nesting or no records.
absl::StatusOr<RiskReport> ReportRisk(Services& services, const RiskRequest& request, Intent intent);

}  // namespace curator::service
