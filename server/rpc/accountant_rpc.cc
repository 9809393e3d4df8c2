#include "rpc/accountant_rpc.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_event.h"
#include "rpc/convert_schema.h"
#include "rpc/convert_workload.h"
#include "rpc/handle.h"
#include "service/charges/accountant.h"

namespace curator::rpc {
namespace {

using google::protobuf::util::TimeUtil;

constexpr absl::Duration kDefaultLifetime = absl::Hours(1);

v1::Charge::State StateOf(ledger::ChargeState state) {
  switch (state) {
    case ledger::ChargeState::kReserved:
      return v1::Charge::RESERVED;
    case ledger::ChargeState::kStarted:
      return v1::Charge::STARTED;
    case ledger::ChargeState::kCommitted:
      return v1::Charge::COMMITTED;
    case ledger::ChargeState::kCancelled:
      return v1::Charge::CANCELLED;
    case ledger::ChargeState::kForfeited:
      return v1::Charge::FORFEITED;
  }
  return v1::Charge::STATE_UNSPECIFIED;
}

v1::Charge ChargeProto(const service::ChargeView& view) {
  const ledger::Charge& charge = view.charge;
  v1::Charge proto;
  proto.set_dataset(view.dataset);
  proto.set_event(view.event);
  const PriceTense tense = charge.id.empty() ? PriceTense::kWouldCost : PriceTense::kHasCost;
  for (v1::Cost& cost : ToProto(view.price, tense)) *proto.add_costs() = std::move(cost);
  if (charge.id.empty()) return proto;  // only validated
  proto.set_id(charge.id);
  proto.set_principal(charge.principal);
  proto.set_request_id(charge.request_id);
  proto.set_state(StateOf(charge.state));
  proto.set_reason(charge.reason);
  proto.set_summary(charge.label);
  proto.set_dataset_version(charge.dataset_version);
  *proto.mutable_create_time() = TimeUtil::MicrosecondsToTimestamp(charge.created_at_us);
  if (charge.state == ledger::ChargeState::kReserved) {
    *proto.mutable_deadline() = TimeUtil::MicrosecondsToTimestamp(charge.deadline_us);
  }
  if (view.receipt) *proto.mutable_receipt() = ToProto(*view.receipt);
  return proto;
}

absl::StatusOr<dp::AskedEvent> EventAt(const v1::Event& event, std::string_view field) {
  absl::StatusOr<dp::AskedEvent> result = FromProto(event);
  if (!result.ok()) return WithinField(field, result.status());
  return result;
}

absl::Duration LifetimeOf(const google::protobuf::Duration& lifetime) {
  return absl::Seconds(lifetime.seconds()) + absl::Nanoseconds(lifetime.nanos());
}

absl::StatusOr<service::ReservationRequest> ReservationFromProto(const v1::ReserveBudgetRequest& request) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  service::ReservationRequest result{.request_id = std::move(request_id),
                                     .dataset = DatasetName(request.dataset()),
                                     .summary = request.summary(),
                                     .lifetime = kDefaultLifetime};
  ASSIGN_OR_RETURN(result.event, EventAt(request.event(), "event"));
  if (request.has_lifetime()) result.lifetime = LifetimeOf(request.lifetime());
  return result;
}

absl::Status Respond(const absl::StatusOr<service::ChargeView>& view, v1::Charge& response) {
  RETURN_IF_ERROR(view.status());
  response = ChargeProto(*view);
  return absl::OkStatus();
}

absl::Status EstimateCost(service::Services& services, const Call& call,
                          const v1::EstimateCostRequest& request, v1::EstimateCostResponse& response) {
  ASSIGN_OR_RETURN(const dp::AskedEvent event, EventAt(request.event(), "event"));
  ASSIGN_OR_RETURN(const service::CostEstimate estimate,
                   service::EstimateCost(services, call.principal(), DatasetName(request.dataset()), event,
                                         call.client_left()));
  for (v1::Cost& cost : ToProto(estimate.price, PriceTense::kWouldCost))
    *response.add_costs() = std::move(cost);
  response.set_event(estimate.event);
  response.set_protects(estimate.protects);
  SetFacts(estimate.facts, response);
  response.set_refused_by_rule(estimate.refused_by_rule);
  response.set_fits(estimate.price.Fits());
  return absl::OkStatus();
}

absl::Status BatchReserveBudget(service::Services& services, const Call& call,
                                const v1::BatchReserveBudgetRequest& request,
                                v1::BatchReserveBudgetResponse& response) {
  RETURN_IF_ERROR(service::CheckNumber(static_cast<size_t>(request.requests_size())));
  std::vector<service::ReservationRequest> reservations;
  for (int i = 0; i < request.requests_size(); ++i) {
    absl::StatusOr<service::ReservationRequest> reservation = ReservationFromProto(request.requests(i));
    if (!reservation.ok()) return WithinField(absl::StrCat("requests[", i, "]"), reservation.status());
    if (request.requests(i).validate_only()) {
      return InvalidField(absl::StrCat("requests[", i, "].validate_only"), "has no meaning in a batch");
    }
    reservations.push_back(*std::move(reservation));
  }
  ASSIGN_OR_RETURN(const std::vector<service::ChargeView> views,
                   service::ReserveBudget(services, call.principal(), reservations, service::Intent::kDo,
                                          call.client_left()));
  for (const service::ChargeView& view : views) {
    *response.add_charges() = ChargeProto(view);
  }
  return absl::OkStatus();
}

absl::Status ReserveBudget(service::Services& services, const Call& call,
                           const v1::ReserveBudgetRequest& request, v1::Charge& response) {
  ASSIGN_OR_RETURN(const service::ReservationRequest reservation, ReservationFromProto(request));
  ASSIGN_OR_RETURN(const std::vector<service::ChargeView> views,
                   service::ReserveBudget(services, call.principal(), {reservation}, IntentOf(request),
                                          call.client_left()));
  return Respond(views.front(), response);
}

absl::Status StartCharge(service::Services& services, const Call& call, const v1::StartChargeRequest& request,
                         v1::Charge& response) {
  std::optional<dp::AskedEvent> final_event;
  if (request.has_final_event()) {
    ASSIGN_OR_RETURN(final_event, EventAt(request.final_event(), "final_event"));
  }
  return Respond(
      service::StartCharge(services, call.principal(), request.charge_id(), final_event, call.client_left()),
      response);
}

absl::Status CommitBudget(service::Services& services, const Call& call,
                          const v1::CommitBudgetRequest& request, v1::Charge& response) {
  return Respond(service::CommitBudget(services, call.principal(), request.charge_id()), response);
}

absl::Status CancelReservation(service::Services& services, const Call& call,
                               const v1::CancelReservationRequest& request, v1::Charge& response) {
  return Respond(
      service::CancelReservation(services, call.principal(), request.charge_id(), request.reason()),
      response);
}

absl::Status ExtendReservation(service::Services& services, const Call& call,
                               const v1::ExtendReservationRequest& request, v1::Charge& response) {
  return Respond(service::ExtendReservation(services, call.principal(), request.charge_id(),
                                            LifetimeOf(request.lifetime())),
                 response);
}

absl::Status GetCharge(service::Services& services, const Call& call, const v1::GetChargeRequest& request,
                       v1::Charge& response) {
  if (request.charge_id().empty() == request.request_id().empty()) {
    return InvalidField("charge_id", "needs either the charge's id or its request_id, and not both");
  }
  return Respond(request.charge_id().empty()
                     ? service::FindCharge(services, call.principal(), request.request_id())
                     : service::GetCharge(services, call.principal(), request.charge_id()),
                 response);
}

}  // namespace

grpc::ServerUnaryReactor* AccountantRpc::EstimateCost(grpc::CallbackServerContext* context,
                                                      const v1::EstimateCostRequest* request,
                                                      v1::EstimateCostResponse* response) {
  return Handle<Method::kEstimateCost>(calls_, *context, *request, *response, rpc::EstimateCost);
}

grpc::ServerUnaryReactor* AccountantRpc::ReserveBudget(grpc::CallbackServerContext* context,
                                                       const v1::ReserveBudgetRequest* request,
                                                       v1::Charge* response) {
  return Handle<Method::kReserveBudget>(calls_, *context, *request, *response, rpc::ReserveBudget);
}

grpc::ServerUnaryReactor* AccountantRpc::BatchReserveBudget(grpc::CallbackServerContext* context,
                                                            const v1::BatchReserveBudgetRequest* request,
                                                            v1::BatchReserveBudgetResponse* response) {
  return Handle<Method::kBatchReserveBudget>(calls_, *context, *request, *response, rpc::BatchReserveBudget);
}

grpc::ServerUnaryReactor* AccountantRpc::StartCharge(grpc::CallbackServerContext* context,
                                                     const v1::StartChargeRequest* request,
                                                     v1::Charge* response) {
  return Handle<Method::kStartCharge>(calls_, *context, *request, *response, rpc::StartCharge);
}

grpc::ServerUnaryReactor* AccountantRpc::CommitBudget(grpc::CallbackServerContext* context,
                                                      const v1::CommitBudgetRequest* request,
                                                      v1::Charge* response) {
  return Handle<Method::kCommitBudget>(calls_, *context, *request, *response, rpc::CommitBudget);
}

grpc::ServerUnaryReactor* AccountantRpc::CancelReservation(grpc::CallbackServerContext* context,
                                                           const v1::CancelReservationRequest* request,
                                                           v1::Charge* response) {
  return Handle<Method::kCancelReservation>(calls_, *context, *request, *response, rpc::CancelReservation);
}

grpc::ServerUnaryReactor* AccountantRpc::ExtendReservation(grpc::CallbackServerContext* context,
                                                           const v1::ExtendReservationRequest* request,
                                                           v1::Charge* response) {
  return Handle<Method::kExtendReservation>(calls_, *context, *request, *response, rpc::ExtendReservation);
}

grpc::ServerUnaryReactor* AccountantRpc::GetCharge(grpc::CallbackServerContext* context,
                                                   const v1::GetChargeRequest* request,
                                                   v1::Charge* response) {
  return Handle<Method::kGetCharge>(calls_, *context, *request, *response, rpc::GetCharge);
}

}  // namespace curator::rpc
