#include "rpc/accountant_rpc.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/caller.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_event.h"
#include "rpc/convert_workload.h"
#include "rpc/grpc_status.h"
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
  *proto.mutable_create_time() = TimeUtil::MicrosecondsToTimestamp(charge.created_at_us);
  if (charge.state == ledger::ChargeState::kReserved) {
    *proto.mutable_deadline() = TimeUtil::MicrosecondsToTimestamp(charge.deadline_us);
  }
  return proto;
}

absl::StatusOr<dp::Event> EventAt(const v1::Event& event, std::string_view field) {
  absl::StatusOr<dp::Event> result = FromProto(event);
  if (!result.ok()) return WithinField(field, result.status());
  return result;
}

absl::Duration LifetimeOf(const google::protobuf::Duration& lifetime) {
  return absl::Seconds(lifetime.seconds()) + absl::Nanoseconds(lifetime.nanos());
}

absl::StatusOr<service::ReservationRequest> FromProto(const v1::ReserveBudgetRequest& request) {
  service::ReservationRequest result{.request_id = request.request_id(),
                                     .dataset = request.dataset(),
                                     .summary = request.summary(),
                                     .lifetime = kDefaultLifetime};
  ASSIGN_OR_RETURN(result.event, EventAt(request.event(), "event"));
  if (request.has_lifetime()) result.lifetime = LifetimeOf(request.lifetime());
  return result;
}

// With its receipt, once it is made.
absl::StatusOr<v1::Charge> ChargeProto(service::Curator& curator, const service::ChargeView& view) {
  v1::Charge proto = ChargeProto(view);
  if (view.charge.id.empty()) return proto;
  ASSIGN_OR_RETURN(const service::Receipt receipt,
                   service::ReceiptOf(curator.ledger, curator.signer, view.charge.id));
  *proto.mutable_receipt() = ToProto(receipt);
  return proto;
}

// Runs `use_case` for the caller and dresses the charge that it returns.
template <typename UseCase>
grpc::Status AnswerWithCharge(service::Curator& curator, const grpc::ServerContext& context,
                              v1::Charge& response, const UseCase& use_case) {
  const absl::StatusOr<std::string> principal = CallerOf(context);
  if (!principal.ok()) return ToGrpcStatus(principal.status());
  const absl::StatusOr<service::ChargeView> view = use_case(*principal);
  if (!view.ok()) return ToGrpcStatus(view.status());
  absl::StatusOr<v1::Charge> charge = ChargeProto(curator, *view);
  if (!charge.ok()) return ToGrpcStatus(charge.status());
  response = *std::move(charge);
  return grpc::Status::OK;
}

absl::Status Estimate(ledger::Ledger& ledger, const grpc::ServerContext& context,
                      const v1::EstimateCostRequest& request, v1::EstimateCostResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const dp::Event event, EventAt(request.event(), "event"));
  ASSIGN_OR_RETURN(const service::CostEstimate estimate,
                   service::EstimateCost(ledger, principal, request.dataset(), event));
  for (v1::Cost& cost : ToProto(estimate.price, PriceTense::kWouldCost))
    *response.add_costs() = std::move(cost);
  response.set_event(estimate.event);
  response.set_protects(estimate.protects);
  response.set_fits(estimate.price.Fits());
  return absl::OkStatus();
}

absl::Status BatchReserve(service::Curator& curator, const grpc::ServerContext& context,
                          const v1::BatchReserveBudgetRequest& request,
                          v1::BatchReserveBudgetResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  std::vector<service::ReservationRequest> reservations;
  for (int i = 0; i < request.requests_size(); ++i) {
    absl::StatusOr<service::ReservationRequest> reservation = FromProto(request.requests(i));
    if (!reservation.ok()) return WithinField(absl::StrCat("requests[", i, "]"), reservation.status());
    if (request.requests(i).validate_only()) {
      return InvalidField(absl::StrCat("requests[", i, "].validate_only"), "has no meaning in a batch");
    }
    reservations.push_back(*std::move(reservation));
  }
  ASSIGN_OR_RETURN(const std::vector<service::ChargeView> views,
                   service::ReserveBudget(curator.ledger, principal, reservations, service::Intent::kDo));
  for (const service::ChargeView& view : views) {
    ASSIGN_OR_RETURN(*response.add_charges(), ChargeProto(curator, view));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::Status AccountantRpc::EstimateCost(grpc::ServerContext* context, const v1::EstimateCostRequest* request,
                                         v1::EstimateCostResponse* response) {
  return ToGrpcStatus(Estimate(ledger_, *context, *request, *response));
}

grpc::Status AccountantRpc::ReserveBudget(grpc::ServerContext* context,
                                          const v1::ReserveBudgetRequest* request, v1::Charge* response) {
  return AnswerWithCharge(
      curator_, *context, *response,
      [&](const std::string& principal) -> absl::StatusOr<service::ChargeView> {
        ASSIGN_OR_RETURN(const service::ReservationRequest reservation, FromProto(*request));
        const service::Intent intent =
            request->validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
        ASSIGN_OR_RETURN(std::vector<service::ChargeView> views,
                         service::ReserveBudget(ledger_, principal, {reservation}, intent));
        return std::move(views.front());
      });
}

grpc::Status AccountantRpc::BatchReserveBudget(grpc::ServerContext* context,
                                               const v1::BatchReserveBudgetRequest* request,
                                               v1::BatchReserveBudgetResponse* response) {
  return ToGrpcStatus(BatchReserve(curator_, *context, *request, *response));
}

grpc::Status AccountantRpc::StartCharge(grpc::ServerContext* context, const v1::StartChargeRequest* request,
                                        v1::Charge* response) {
  return AnswerWithCharge(curator_, *context, *response,
                          [&](const std::string& principal) -> absl::StatusOr<service::ChargeView> {
                            std::optional<dp::Event> final_event;
                            if (request->has_final_event()) {
                              ASSIGN_OR_RETURN(final_event, EventAt(request->final_event(), "final_event"));
                            }
                            return service::StartCharge(ledger_, principal, request->charge_id(),
                                                        final_event);
                          });
}

grpc::Status AccountantRpc::CommitBudget(grpc::ServerContext* context, const v1::CommitBudgetRequest* request,
                                         v1::Charge* response) {
  return AnswerWithCharge(curator_, *context, *response, [&](const std::string& principal) {
    return service::CommitBudget(ledger_, principal, request->charge_id());
  });
}

grpc::Status AccountantRpc::CancelReservation(grpc::ServerContext* context,
                                              const v1::CancelReservationRequest* request,
                                              v1::Charge* response) {
  return AnswerWithCharge(curator_, *context, *response, [&](const std::string& principal) {
    return service::CancelReservation(ledger_, principal, request->charge_id(), request->reason());
  });
}

grpc::Status AccountantRpc::ExtendReservation(grpc::ServerContext* context,
                                              const v1::ExtendReservationRequest* request,
                                              v1::Charge* response) {
  return AnswerWithCharge(curator_, *context, *response, [&](const std::string& principal) {
    return service::ExtendReservation(ledger_, principal, request->charge_id(),
                                      LifetimeOf(request->lifetime()));
  });
}

grpc::Status AccountantRpc::GetCharge(grpc::ServerContext* context, const v1::GetChargeRequest* request,
                                      v1::Charge* response) {
  return AnswerWithCharge(
      curator_, *context, *response,
      [&](const std::string& principal) -> absl::StatusOr<service::ChargeView> {
        if (request->charge_id().empty() == request->request_id().empty()) {
          return InvalidField("charge_id", "needs either the charge's id or its request_id, and not both");
        }
        return request->charge_id().empty() ? service::FindCharge(ledger_, principal, request->request_id())
                                            : service::GetCharge(ledger_, principal, request->charge_id());
      });
}

}  // namespace curator::rpc
