// Operations as their owners see them: the charge's durable state, and what the running process adds.
//
// Thread-safe. An operation is visible to the principal who asked for it; NOT_FOUND to all others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/services.h"

namespace curator::service {

enum class OperationState {
  kRunning,
  kDone,
  kFailed,
  kInterrupted,  // charged, and no process works on it: the same request id takes it up again
};

struct OperationView {
  std::string id;  // the charge's id
  std::string dataset;
  std::string kind;
  std::string label;
  std::string request_id;
  OperationState state = OperationState::kRunning;
  double share_done = 0;  // in [0, 1], of the public schedule
  std::string release_id;
  std::string error;
  int64_t created_at_us = 0;
};

absl::StatusOr<OperationView> GetOperation(Curator& curator, std::string_view principal, std::string_view id);
absl::StatusOr<std::vector<OperationView>> ListOperations(Curator& curator, std::string_view principal);

// The operation that runs in this process for this request, if one does. Errors: ALREADY_EXISTS when it is
// another request's.
absl::StatusOr<std::optional<OperationView>> FindRunning(Curator& curator, std::string_view principal,
                                                         std::string_view request_id,
                                                         std::string_view fingerprint);

// The operation when it has ended, or as it is at `deadline`.
absl::StatusOr<OperationView> WaitOperation(Curator& curator, std::string_view principal, std::string_view id,
                                            absl::Time deadline);

// Calls `on_change` with each state seen until the operation has ended or `on_change` returns false.
absl::Status WatchOperation(Curator& curator, std::string_view principal, std::string_view id,
                            const std::function<bool(const OperationView&)>& on_change);

// Stops the operation: it will give no release, and what it was charged stays charged. Waits a little for its
// end, which comes later where it still waits for its turn. An operation that no process works on is
// forfeited likewise. One that has ended is returned as it is.
absl::StatusOr<OperationView> CancelOperation(Curator& curator, std::string_view principal,
                                              std::string_view id);

}  // namespace curator::service
