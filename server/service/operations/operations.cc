#include "service/operations/operations.h"

#include <optional>

#include "base/status_macros.h"
#include "service/charges/accountant.h"

namespace curator::service {
namespace {

// An operation that still waits for its turn ends when it gets it.
constexpr absl::Duration kCancelPatience = absl::Seconds(10);

// How often a watcher hears of an operation at which nothing changes.
constexpr absl::Duration kWatchInterval = absl::Seconds(5);

absl::StatusOr<ledger::Charge> FindOwnCharge(Curator& curator, std::string_view principal,
                                             std::string_view id) {
  absl::StatusOr<ledger::Charge> charge = curator.ledger.GetCharge(id);
  const bool is_foreign = charge.ok() && (charge->principal != principal || charge->kind == kReservationKind);
  if (absl::IsNotFound(charge.status()) || is_foreign) {
    return absl::NotFoundError("there is no operation of yours with this id");
  }
  return charge;
}

OperationView EndedOrInterrupted(const ledger::Charge& charge) {
  OperationView view;
  switch (charge.state) {
    case ledger::ChargeState::kCommitted:
      view.state = OperationState::kDone;
      view.share_done = 1;
      view.release_id = charge.release_id;
      break;
    case ledger::ChargeState::kForfeited:
    case ledger::ChargeState::kCancelled:
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

absl::StatusOr<OperationView> ViewOfCharge(Curator& curator, const ledger::Charge& charge,
                                           const std::vector<ledger::Dataset>& datasets) {
  // Asked before the ledger's state was read, an operation that ends in between would look interrupted.
  OperationView view = EndedOrInterrupted(charge);
  if (view.state == OperationState::kInterrupted) {
    if (const std::optional<double> share = curator.operations.ShareDone(charge.id)) {
      view.state = OperationState::kRunning;
      view.share_done = *share;
    } else {
      ASSIGN_OR_RETURN(const ledger::Charge now, curator.ledger.GetCharge(charge.id));
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

absl::StatusOr<OperationView> GetOperation(Curator& curator, std::string_view principal,
                                           std::string_view id) {
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOwnCharge(curator, principal, id));
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> datasets, curator.ledger.ListDatasets());
  return ViewOfCharge(curator, charge, datasets);
}

absl::StatusOr<std::vector<OperationView>> ListOperations(Curator& curator, std::string_view principal) {
  ASSIGN_OR_RETURN(const std::vector<ledger::Charge> charges, curator.ledger.ListCharges(principal));
  ASSIGN_OR_RETURN(const std::vector<ledger::Dataset> datasets, curator.ledger.ListDatasets());
  std::vector<OperationView> views;
  for (const ledger::Charge& charge : charges) {
    if (charge.kind == kReservationKind) continue;  // its work is done elsewhere
    ASSIGN_OR_RETURN(OperationView view, ViewOfCharge(curator, charge, datasets));
    views.push_back(std::move(view));
  }
  return views;
}

absl::StatusOr<std::optional<OperationView>> FindRunning(Curator& curator, std::string_view principal,
                                                         std::string_view request_id,
                                                         std::string_view fingerprint) {
  const absl::StatusOr<ledger::Charge> charge = curator.ledger.FindCharge(principal, request_id);
  if (absl::IsNotFound(charge.status())) return std::nullopt;
  RETURN_IF_ERROR(charge.status());
  if (!curator.operations.ShareDone(charge->id)) return std::nullopt;
  if (charge->fingerprint != fingerprint) {
    return absl::AlreadyExistsError("another request was made under this request id: use a new one");
  }
  return GetOperation(curator, principal, charge->id);
}

absl::StatusOr<OperationView> WaitOperation(Curator& curator, std::string_view principal, std::string_view id,
                                            absl::Time deadline) {
  RETURN_IF_ERROR(FindOwnCharge(curator, principal, id).status());
  curator.operations.AwaitEnd(id, deadline);
  return GetOperation(curator, principal, id);
}

absl::Status WatchOperation(Curator& curator, std::string_view principal, std::string_view id,
                            const std::function<bool(const OperationView&)>& on_change) {
  while (true) {
    ASSIGN_OR_RETURN(const OperationView view, GetOperation(curator, principal, id));
    if (!on_change(view) || view.state != OperationState::kRunning) return absl::OkStatus();
    curator.operations.AwaitChange(id, view.share_done, absl::Now() + kWatchInterval);
  }
}

absl::StatusOr<OperationView> CancelOperation(Curator& curator, std::string_view principal,
                                              std::string_view id) {
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOwnCharge(curator, principal, id));
  if (curator.operations.RequestStop(id)) {
    curator.operations.AwaitEnd(id, absl::Now() + kCancelPatience);
  } else if (charge.state == ledger::ChargeState::kStarted) {
    RETURN_IF_ERROR(ForfeitUnfinished(curator.ledger, charge));
  }
  return GetOperation(curator, principal, id);
}

}  // namespace curator::service
