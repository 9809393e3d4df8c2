#include "service/owner/owner_risk.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"
#include "dp/domain/response.h"
#include "service/owner/owner_actions.h"

namespace curator::service {
namespace {

std::string TextOf(const std::vector<double>& numbers) {
  constexpr int kDigits = 3;
  return absl::StrCat(numbers.size(), " from ", dp::WriteFixed(numbers.front(), kDigits), " to ",
                      dp::WriteFixed(numbers.back(), kDigits));
}

std::string TextOf(const dp::RiskGrid& grid) {
  return absl::StrCat("means: ", TextOf(grid.means), "; deviations between groups: ", TextOf(grid.betweens),
                      "; within groups: ", TextOf(grid.withins));
}

dp::RiskGrid GridFor(RiskGridKind kind, const std::vector<dp::RiskGroup>& groups,
                     const dp::ResponseNumbers& response) {
  const int deviations = dp::DeviationsFor(groups);
  if (kind == RiskGridKind::kWithinBounds)
    return dp::RiskGridOver(response.low, response.high, response.resolution, deviations);
  // Finer than a tenth of what tells two responses apart there is nothing to be known.
  return dp::RiskGridAround(groups, response.resolution / 10, deviations);
}

}  // namespace

absl::StatusOr<RiskReport> ReportRisk(Curator& curator, const RiskRequest& request, Intent intent) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id));
  ASSIGN_OR_RETURN(const DatasetView dataset, FindOwned(curator.ledger, request.principal, request.dataset));
  if (!dataset.schema.nesting) {
    return absl::FailedPreconditionError(absl::StrCat("the records of dataset \"", request.dataset,
                                                      "\" lie in no groups: its schema has no nesting"));
  }
  if (intent == Intent::kValidateOnly) return RiskReport{};
  ASSIGN_OR_RETURN(
      const dp::OwnerView view,
      OwnerActions::Open(curator, dataset, request.principal,
                         absl::StrCat("report the risk of groups (request ", request.request_id, ")")));
  const dp::ResponseNumbers response = dp::ResponseValues(dataset.schema);
  ASSIGN_OR_RETURN(const std::vector<dp::RiskGroup> groups,
                   view.Responses(dataset.schema.nesting->response, response.values));
  if (groups.empty())
    return absl::FailedPreconditionError(absl::StrCat("dataset \"", request.dataset, "\" has no records"));
  const dp::RiskGrid grid = GridFor(request.grid, groups, response);
  RiskReport report{.rows = {},
                    .groups = static_cast<int64_t>(groups.size()),
                    .records = view.Records(),
                    .grid = TextOf(grid)};
  ASSIGN_OR_RETURN(report.rows, dp::NestedRisk(groups, grid));
  return report;
}

}  // namespace curator::service
