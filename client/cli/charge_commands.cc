#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/receipt_file.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/names.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/client.h"
#include "client/receipt.h"

namespace curator::cli {
namespace {

absl::StatusOr<v1::Event> EventOf(const EventChoice& choice) {
  if (!choice.file.empty()) return ReadEvent(choice.file);
  v1::Event event;
  if (!choice.guarantee.rho.empty()) {
    event.mutable_zcdp()->set_rho(choice.guarantee.rho);
  } else if (!choice.guarantee.delta.empty()) {
    event.mutable_approximate()->set_epsilon(choice.guarantee.epsilon);
    event.mutable_approximate()->set_delta(choice.guarantee.delta);
  } else {
    event.mutable_pure()->set_epsilon(choice.guarantee.epsilon);
  }
  return event;
}

// What the holder of a charge in this state does next.
std::string NextStep(const v1::Charge& charge) {
  switch (charge.state()) {
    case v1::Charge::RESERVED:
      return absl::StrCat("before looking at any data: curator charge start ", charge.id());
    case v1::Charge::STARTED:
      return absl::StrCat("it is spent; when you have published: curator charge commit ", charge.id());
    default:
      return "";
  }
}

absl::Status PrintCharge(Session& session, const absl::StatusOr<v1::Charge>& charge) {
  RETURN_IF_ERROR(charge.status());
  Document document;
  document.fields = {{"charge_id", "charge", charge->id()},
                     {"state", "state", NameOf(charge->state())},
                     {"reason", "reason", TextOrNone(charge->reason())},
                     {"dataset", "dataset", charge->dataset()},
                     {"event", "what is done", charge->event()},
                     {"summary", "summary", TextOrNone(charge->summary())},
                     {"deadline", "counts as spent at", TextOrNone(TextOfTime(charge->deadline()))},
                     {"request_id", "request id", charge->request_id()},
                     {"create_time", "made", TextOrNone(TextOfTime(charge->create_time()))},
                     {"receipt", "", client::LineOf(charge->receipt()), Audience::kPrograms}};
  document.tables.push_back(CostTable(charge->costs()));
  if (const std::string next = NextStep(*charge); !next.empty()) document.notes.push_back(next);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status PrintEstimate(Session& session, const std::string& dataset, const v1::Event& event) {
  v1::EstimateCostRequest request;
  request.set_dataset(dataset);
  *request.mutable_event() = event;
  ASSIGN_OR_RETURN(const v1::EstimateCostResponse estimate, session.client.EstimateCost(request));
  Document document;
  document.fields = {{"dataset", "dataset", dataset},
                     {"event", "what is done", estimate.event()},
                     {"protects", "protects", estimate.protects()},
                     {"fits", "fits the budget", estimate.fits()}};
  document.tables.push_back(CostTable(estimate.costs()));
  document.notes.emplace_back("nothing was charged");
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

absl::Status Run(Session& session, const ReserveCharge& command) {
  ASSIGN_OR_RETURN(const v1::Event event, EventOf(command.event));
  if (command.estimate) return PrintEstimate(session, command.dataset, event);
  v1::ReserveBudgetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  *request.mutable_event() = event;
  request.set_summary(command.summary);
  if (command.lifetime_seconds) request.mutable_lifetime()->set_seconds(*command.lifetime_seconds);
  ASSIGN_OR_RETURN(const v1::Charge charge, session.client.ReserveBudget(request));
  RETURN_IF_ERROR(AppendReceipt(charge.receipt(), charge.id(), command.receipt));
  return PrintCharge(session, charge);
}

absl::Status Run(Session& session, const StartCharge& command) {
  v1::StartChargeRequest request;
  request.set_charge_id(command.charge);
  if (command.final_event) {
    ASSIGN_OR_RETURN(v1::Event event, EventOf(*command.final_event));
    *request.mutable_final_event() = std::move(event);
  }
  return PrintCharge(session, session.client.StartCharge(request));
}

absl::Status Run(Session& session, const CommitCharge& command) {
  return PrintCharge(session, session.client.CommitBudget(command.charge));
}

absl::Status Run(Session& session, const CancelCharge& command) {
  v1::CancelReservationRequest request;
  request.set_charge_id(command.charge);
  request.set_reason(command.reason);
  return PrintCharge(session, session.client.CancelReservation(request));
}

absl::Status Run(Session& session, const ExtendCharge& command) {
  v1::ExtendReservationRequest request;
  request.set_charge_id(command.charge);
  request.mutable_lifetime()->set_seconds(command.lifetime_seconds);
  return PrintCharge(session, session.client.ExtendReservation(request));
}

absl::Status Run(Session& session, const ShowCharge& command) {
  v1::GetChargeRequest request;
  request.set_charge_id(command.charge);
  request.set_request_id(command.request_id);
  ASSIGN_OR_RETURN(const v1::Charge charge, session.client.GetCharge(request));
  RETURN_IF_ERROR(AppendReceipt(charge.receipt(), charge.id(), command.receipt));
  return PrintCharge(session, charge);
}

}  // namespace curator::cli
