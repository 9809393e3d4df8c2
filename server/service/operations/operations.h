// Operations: long-running requests. An operation's state is the durable state of its charge, with the
// progress that the running process knows. operation_watches.h waits for news of them.
//
// Thread-safe. An operation is visible to the principal who requested it; NOT_FOUND for all others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "service/services.h"

namespace curator::service {

enum class OperationState {
  kQueued,  // its cost is held, and nothing was read: a cancel gives everything back
  kRunning,
  kDone,
  kFailed,
  kInterrupted,  // queued or charged, and no process works on it: the same request id resumes it
};

// Whether the state is the last one. An interrupted operation goes on only when it is requested again.
bool HasEnded(OperationState state);

struct OperationView {
  std::string id;  // the charge's id
  std::string dataset;
  std::string kind;
  std::string label;
  std::string request_id;
  OperationState state = OperationState::kRunning;
  double share_done = 0;       // in [0, 1], of the public schedule
  int64_t queue_position = 0;  // of one that waits for a thread here: 1 is the next; else 0
  std::string release_id;
  std::string error;
  int64_t created_at_us = 0;
};

absl::StatusOr<OperationView> GetOperation(Services& services, const Principal& principal,
                                           std::string_view id);
// The principal's own, newest first.
absl::StatusOr<std::vector<OperationView>> ListOperations(Services& services, const Principal& principal,
                                                          const ledger::NewestPage& page);

// Stops the operation: it will give no release. One that is queued, here or in a process that was lost, gives
// its cost back at once; the charge of a started one stands. Waits up to 10 s for one that runs here to end.
// A started one that no process works on is forfeited. One that has ended is returned as it is.
absl::StatusOr<OperationView> CancelOperation(Services& services, const Principal& principal,
                                              std::string_view id);

// ---- For operators, who see no label and no request id

struct AnyOperation {
  std::string principal;  // whose it is
  OperationView view;
};

// Those that are queued or run in this process, by their ids: at most `limit` after this one.
absl::StatusOr<std::vector<AnyOperation>> ListAllOperations(Services& services, std::string_view after,
                                                            int64_t limit);

// CancelOperation() of another principal's operation. The history says who stopped it, and why. Errors:
// INVALID_ARGUMENT (reason), NOT_FOUND.
absl::StatusOr<AnyOperation> StopOperation(Services& services, const Principal& operator_name,
                                           std::string_view id, const std::string& reason);

}  // namespace curator::service
