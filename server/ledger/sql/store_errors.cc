#include "ledger/sql/store_errors.h"

#include <utility>

#include "base/errors.h"

namespace curator::ledger::sql {
namespace {

const char* WordsFor(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
      return "the ledger's store does not answer now: ask again with the same request id";
    case absl::StatusCode::kAborted:
      return "the ledger's store is busy with other changes: ask again with the same request id";
    case absl::StatusCode::kDataLoss:
      return "the ledger's store is damaged: its operator must repair it";
    case absl::StatusCode::kFailedPrecondition:
      return "the ledger's store refuses this server: its operator must give it access";
    default:
      return "the ledger's store failed: the server's log has the cause";
  }
}

}  // namespace

absl::Status HideStore(absl::Status status) {
  const char* const words = WordsFor(status.code());
  return ForOperators(std::move(status), {.message = words, .reason = ""});
}

absl::Status StoreIsFull(absl::Status status) {
  return ForOperators(
      std::move(status),
      {.message = "the ledger's disk is full and the change was refused: ask again with the same "
                  "request id when its operator has freed space",
       .reason = "STORE_FULL"});
}

}  // namespace curator::ledger::sql
