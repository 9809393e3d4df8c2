// What single groups and records of nested data weigh in the likelihood, for the owner: a look that is
// written down first, and private.
//
// Thread-safe. Errors as in owner.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/kernel/owner/nested_risk.h"
#include "service/curator.h"
#include "service/datasets.h"

namespace curator::service {

// The parameters over which sensitivities are taken (dp/kernel/owner/nested_risk.h).
enum class RiskGridKind { kAroundFit, kWithinBounds };

struct RiskRequest {
  std::string request_id;
  std::string principal;
  std::string dataset;  // its schema has a nesting
  RiskGridKind grid = RiskGridKind::kAroundFit;
};

// Private: computed from the records themselves.
struct RiskReport {
  std::vector<dp::RiskRow> rows;
  int64_t groups = 0;
  int64_t records = 0;
  std::string grid;  // in words
};

// FAILED_PRECONDITION, beside the errors of owner.h, when the dataset has no nesting or no records.
absl::StatusOr<RiskReport> ReportRisk(Curator& curator, const RiskRequest& request, Intent intent);

}  // namespace curator::service
