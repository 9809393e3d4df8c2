#include "service/operations/operations.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "service/access.h"
#include "service/charges/accountant.h"
#include "service/reason.h"

namespace curator::service {
namespace {

// A fit notices a stop within a bounded number of steps, but a store may be slow.
constexpr absl::Duration kCancelPatience = absl::Seconds(10);

constexpr size_t kMostStopReasonBytes = 200;

absl::StatusOr<ledger::Charge> FindOperation(Services& services, const Principal& principal,
                                             std::string_view id) {
  ASSIGN_OR_RETURN(ledger::Charge charge, FindOwnCharge(services.ledger, principal, id, "operation"));
  if (charge.kind != kReservationKind) return charge;
  // A reservation's work is done outside of this process.
  return absl::NotFoundError("there is no operation of yours with this id");
}

OperationView EndedOrInterrupted(const ledger::Charge& charge) {
  OperationView view;
  switch (charge.state) {
    case ledger::ChargeState::kCommitted:
      view.state = OperationState::kDone;
      view.share_done = 1;
      view.release_id = charge.release_id;
      break;
    case ledger::ChargeState::kCancelled:
      view.state = OperationState::kFailed;
      view.error = "ended before anything was read; nothing was charged (" + charge.reason + ")";
      break;
    case ledger::ChargeState::kForfeited:
      view.state = OperationState::kFailed;
      view.error = "ended without an answer; the charge stands (" + charge.reason + ")";
      break;
    case ledger::ChargeState::kReserved:
    case ledger::ChargeState::kStarted:
      view.state = OperationState::kInterrupted;
      break;
  }
  return view;
}

absl::StatusOr<OperationView> ViewOfCharge(Services& services, const ledger::Charge& charge,
                                           std::string dataset) {
  // The charge was read first, so an operation that ended since then would look interrupted: read it again.
  OperationView view = EndedOrInterrupted(charge);
  if (view.state == OperationState::kInterrupted) {
    if (const std::optional<double> share = services.operations.ShareDone(charge.id)) {
      view.state = ledger::IsQueuedDraw(charge) ? OperationState::kQueued : OperationState::kRunning;
      view.share_done = *share;
      view.queue_position = services.work.PositionOf(charge.id).value_or(0);
    } else {
      ASSIGN_OR_RETURN(const ledger::Charge now, services.ledger.GetCharge(charge.id));
      view = EndedOrInterrupted(now);
    }
  }
  view.id = charge.id;
  view.kind = charge.kind;
  view.label = charge.label;
  view.request_id = charge.request_id;
  view.created_at_us = charge.created_at_us;
  view.dataset = std::move(dataset);
  return view;
}

}  // namespace

bool HasEnded(OperationState state) {
  return state != OperationState::kRunning && state != OperationState::kQueued;
}

absl::StatusOr<OperationView> GetOperation(Services& services, const Principal& principal,
                                           std::string_view id) {
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOperation(services, principal, id));
  ASSIGN_OR_RETURN(std::vector<std::string> names, services.ledger.DatasetNames({charge.dataset_id}));
  return ViewOfCharge(services, charge, std::move(names.front()));
}

absl::StatusOr<std::vector<OperationView>> ListOperations(Services& services, const Principal& principal,
                                                          const ledger::NewestPage& page) {
  ASSIGN_OR_RETURN(const std::vector<ledger::Charge> charges,
                   services.ledger.ListOperations(principal, page));
  std::vector<std::string> dataset_ids;
  for (const ledger::Charge& charge : charges) dataset_ids.push_back(charge.dataset_id);
  ASSIGN_OR_RETURN(std::vector<std::string> names, services.ledger.DatasetNames(dataset_ids));
  std::vector<OperationView> views;
  for (size_t i = 0; i < charges.size(); ++i) {
    ASSIGN_OR_RETURN(OperationView view, ViewOfCharge(services, charges[i], std::move(names[i])));
    views.push_back(std::move(view));
  }
  return views;
}

namespace {

// Whether the operation was queued, and is cancelled now. False where a thread has begun to draw.
absl::StatusOr<bool> CancelQueued(Services& services, const ledger::Charge& charge, std::string_view reason,
                                  const Principal& actor) {
  if (!ledger::IsQueuedDraw(charge)) return false;
  const absl::Status cancelled = services.ledger.CancelReserved(charge.id, reason, actor).status();
  if (absl::IsFailedPrecondition(cancelled)) return false;
  RETURN_IF_ERROR(cancelled);
  services.operations.Dismiss(charge.id);
  return true;
}

// Whether the operation runs here: then it has been stopped, and waited for.
bool StopHere(Services& services, const std::string& id) {
  if (!services.operations.RequestStop(id)) return false;
  services.operations.AwaitEnd(id, absl::Now() + kCancelPatience);
  return true;
}

absl::StatusOr<AnyOperation> ViewForOperators(Services& services, const ledger::Charge& charge) {
  ASSIGN_OR_RETURN(std::vector<std::string> names, services.ledger.DatasetNames({charge.dataset_id}));
  ASSIGN_OR_RETURN(OperationView view, ViewOfCharge(services, charge, std::move(names.front())));
  view.label.clear();
  view.request_id.clear();
  view.release_id.clear();
  return AnyOperation{charge.principal, std::move(view)};
}

absl::StatusOr<ledger::Charge> FindAnyOperation(Services& services, std::string_view id) {
  absl::StatusOr<ledger::Charge> charge = services.ledger.GetCharge(id);
  const bool is_none = absl::IsNotFound(charge.status()) || (charge.ok() && charge->kind == kReservationKind);
  if (is_none) return absl::NotFoundError("there is no operation with this id");
  return charge;
}

}  // namespace

absl::StatusOr<OperationView> CancelOperation(Services& services, const Principal& principal,
                                              std::string_view id) {
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOperation(services, principal, id));
  ASSIGN_OR_RETURN(const bool is_cancelled, CancelQueued(services, charge, "cancelled", principal));
  if (!is_cancelled && !StopHere(services, charge.id) && charge.state == ledger::ChargeState::kStarted) {
    RETURN_IF_ERROR(ForfeitUnfinished(services.ledger, id, "cancelled"));
  }
  return GetOperation(services, principal, id);
}

absl::StatusOr<std::vector<AnyOperation>> ListAllOperations(Services& services, std::string_view after,
                                                            int64_t limit) {
  std::vector<AnyOperation> operations;
  for (const std::string& id : services.operations.Ids()) {
    if (id <= after) continue;
    if (static_cast<int64_t>(operations.size()) == limit) break;
    ASSIGN_OR_RETURN(const ledger::Charge charge, services.ledger.GetCharge(id));
    ASSIGN_OR_RETURN(AnyOperation operation, ViewForOperators(services, charge));
    operations.push_back(std::move(operation));
  }
  return operations;
}

absl::StatusOr<AnyOperation> StopOperation(Services& services, const Principal& operator_name,
                                           std::string_view id, const std::string& reason) {
  RETURN_IF_ERROR(CheckReason(reason, kMostStopReasonBytes));
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindAnyOperation(services, id));
  const std::string why = absl::StrCat("stopped by the operator ", operator_name.name(), ": ", reason);
  ASSIGN_OR_RETURN(const bool is_cancelled, CancelQueued(services, charge, why, operator_name));
  if (!is_cancelled) {
    // A draw that runs loses its attempt before it is stopped, so that the history has this reason.
    ASSIGN_OR_RETURN(const ledger::Charge now, services.ledger.GetCharge(id));
    if (now.state == ledger::ChargeState::kStarted) {
      RETURN_IF_ERROR(ForfeitUnfinished(services.ledger, id, why));
    }
    StopHere(services, charge.id);
  }
  ASSIGN_OR_RETURN(const ledger::Charge ended, services.ledger.GetCharge(id));
  return ViewForOperators(services, ended);
}

}  // namespace curator::service
