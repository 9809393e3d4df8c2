#include "service/operations/operations.h"

#include <optional>

#include "base/status_macros.h"
#include "service/access.h"
#include "service/charges/accountant.h"

namespace curator::service {
namespace {

// A fit notices a stop within a bounded number of steps, but a store may be slow.
constexpr absl::Duration kCancelPatience = absl::Seconds(10);

// How often a watcher gets the state of an operation that does not change.
constexpr absl::Duration kWatchInterval = absl::Seconds(5);

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
                                           const std::vector<ledger::Dataset>& datasets) {
  // The charge was read first, so an operation that ended since then would look interrupted: read it again.
  OperationView view = EndedOrInterrupted(charge);
  if (view.state == OperationState::kInterrupted) {
    if (const std::optional<double> share = services.operations.ShareDone(charge.id)) {
      view.state = ledger::IsQueuedDraw(charge) ? OperationState::kQueued : OperationState::kRunning;
      view.share_done = *share;
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
  for (const ledger::Dataset& dataset : datasets) {
    if (dataset.id == charge.dataset_id) view.dataset = dataset.name;
  }
  return view;
}

}  // namespace

absl::StatusOr<OperationView> GetOperation(Services& services, const Principal& principal,
                                           std::string_view id) {
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOperation(services, principal, id));
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> datasets, services.ledger.ListDatasets());
  return ViewOfCharge(services, charge, datasets);
}

absl::StatusOr<std::vector<OperationView>> ListOperations(Services& services, const Principal& principal) {
  ASSIGN_OR_RETURN(const std::vector<ledger::Charge> charges, services.ledger.ListCharges(principal));
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> datasets, services.ledger.ListDatasets());
  std::vector<OperationView> views;
  for (const ledger::Charge& charge : charges) {
    if (charge.kind == kReservationKind) continue;
    ASSIGN_OR_RETURN(OperationView view, ViewOfCharge(services, charge, datasets));
    views.push_back(std::move(view));
  }
  return views;
}

absl::StatusOr<OperationView> WaitOperation(Services& services, const Principal& principal,
                                            std::string_view id, absl::Time deadline) {
  RETURN_IF_ERROR(FindOperation(services, principal, id).status());
  services.operations.AwaitEnd(id, deadline);
  return GetOperation(services, principal, id);
}

absl::Status WatchOperation(Services& services, const Principal& principal, std::string_view id,
                            const std::function<bool(const OperationView&)>& on_change) {
  while (true) {
    ASSIGN_OR_RETURN(const OperationView view, GetOperation(services, principal, id));
    const bool goes_on = view.state == OperationState::kQueued || view.state == OperationState::kRunning;
    if (!on_change(view) || !goes_on) return absl::OkStatus();
    services.operations.AwaitChange(id, view.share_done, absl::Now() + kWatchInterval);
  }
}

absl::StatusOr<OperationView> CancelOperation(Services& services, const Principal& principal,
                                              std::string_view id) {
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOperation(services, principal, id));
  if (ledger::IsQueuedDraw(charge)) {
    const absl::Status cancelled = services.ledger.CancelReserved(id, "cancelled", principal).status();
    if (cancelled.ok()) {
      services.operations.Dismiss(id);
      return GetOperation(services, principal, id);
    }
    // A thread has begun to draw meanwhile.
    if (!absl::IsFailedPrecondition(cancelled)) return cancelled;
  }
  if (services.operations.RequestStop(id)) {
    services.operations.AwaitEnd(id, absl::Now() + kCancelPatience);
  } else if (charge.state == ledger::ChargeState::kStarted) {
    RETURN_IF_ERROR(ForfeitUnfinished(services.ledger, id));
  }
  return GetOperation(services, principal, id);
}

}  // namespace curator::service
