#include "rpc/owner_rpc.h"

#include <string>

#include "base/errors.h"
#include "base/status_macros.h"
#include "rpc/handle.h"
#include "service/owner/owner_reports.h"

namespace curator::rpc {
namespace {

constexpr char kWarning[] =
    "PRIVATE: computed from the records without noise, for the owner's eyes. It is covered by no guarantee; "
    "showing it to others, or choosing later questions or settings by it, voids the guarantee.";

absl::Status Evaluate(service::Services& services, const Call& call, const v1::EvaluateRequest& request,
                      v1::EvaluateResponse& response) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  service::EvaluationRequest order{.request_id = std::move(request_id),
                                   .principal = call.principal(),
                                   .dataset = DatasetName(request.dataset()),
                                   .release_id = request.release_id(),
                                   .by = {request.by().begin(), request.by().end()},
                                   .client_left = call.client_left()};
  if (request.has_pairs()) order.pairs = request.pairs();
  if (request.has_bias_penalty()) order.bias_penalty = request.bias_penalty();
  ASSIGN_OR_RETURN(const service::Evaluation evaluation,
                   service::EvaluateRelease(services, order, IntentOf(request)));
  response.set_error(evaluation.error);
  response.set_error_without_bias(evaluation.error_without_bias);
  response.set_biased_groups(evaluation.biased_groups);
  response.set_empty_groups(evaluation.empty_groups);
  for (const service::GroupEvaluation& group : evaluation.groups) {
    v1::EvaluateResponse::Group* proto = response.add_groups();
    proto->set_label(group.label);
    proto->set_distance(group.distance);
    proto->set_records(group.records);
    proto->set_estimated_records(group.estimated_records);
    proto->set_biased(group.is_biased);
  }
  response.set_warning(kWarning);
  return absl::OkStatus();
}

absl::Status RowCounts(service::Services& services, const Call& call, const v1::RowCountsRequest& request,
                       v1::RowCountsResponse& response) {
  ASSIGN_OR_RETURN(const RequestId request_id, RequestId::Parse(request.request_id()));
  ASSIGN_OR_RETURN(const int64_t records,
                   service::CountRows(services, request_id, call.principal(), DatasetName(request.dataset()),
                                      IntentOf(request)));
  response.set_records(records);
  response.set_warning(kWarning);
  return absl::OkStatus();
}

absl::StatusOr<service::RiskGridKind> FromProto(v1::RiskRequest::Grid grid) {
  switch (grid) {
    case v1::RiskRequest::GRID_UNSPECIFIED:
    case v1::RiskRequest::GRID_AROUND_FIT:
      return service::RiskGridKind::kAroundFit;
    case v1::RiskRequest::GRID_WITHIN_BOUNDS:
      return service::RiskGridKind::kWithinBounds;
    default:
      return InvalidField("grid", "must be GRID_AROUND_FIT or GRID_WITHIN_BOUNDS");
  }
}

absl::Status RiskReport(service::Services& services, const Call& call, const v1::RiskRequest& request,
                        v1::RiskResponse& response) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  service::RiskRequest order{.request_id = std::move(request_id),
                             .principal = call.principal(),
                             .dataset = DatasetName(request.dataset())};
  ASSIGN_OR_RETURN(order.grid, FromProto(request.grid()));
  ASSIGN_OR_RETURN(const service::RiskReport report, service::ReportRisk(services, order, IntentOf(request)));
  for (const dp::RiskRow& row : report.rows) {
    v1::RiskResponse::Sensitivities* proto = response.add_sensitivities();
    proto->set_weighting(row.weighting);
    proto->set_option(row.option);
    proto->set_level(row.level == dp::RiskLevel::kGroup ? "group" : "record");
    proto->set_least(row.sensitivities.least);
    proto->set_first_quartile(row.sensitivities.first);
    proto->set_median(row.sensitivities.median);
    proto->set_third_quartile(row.sensitivities.third);
    proto->set_largest(row.sensitivities.largest);
  }
  response.set_groups(report.groups);
  response.set_records(report.records);
  response.set_grid(report.grid);
  response.set_warning(kWarning);
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* OwnerRpc::Evaluate(grpc::CallbackServerContext* context,
                                             const v1::EvaluateRequest* request,
                                             v1::EvaluateResponse* response) {
  return Handle<Method::kEvaluate>(calls_, *context, *request, *response, rpc::Evaluate);
}

grpc::ServerUnaryReactor* OwnerRpc::RowCounts(grpc::CallbackServerContext* context,
                                              const v1::RowCountsRequest* request,
                                              v1::RowCountsResponse* response) {
  return Handle<Method::kRowCounts>(calls_, *context, *request, *response, rpc::RowCounts);
}

grpc::ServerUnaryReactor* OwnerRpc::RiskReport(grpc::CallbackServerContext* context,
                                               const v1::RiskRequest* request, v1::RiskResponse* response) {
  return Handle<Method::kRiskReport>(calls_, *context, *request, *response, rpc::RiskReport);
}

}  // namespace curator::rpc
