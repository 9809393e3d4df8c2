// Enforces the invariants: charge first; store before reply; replay, never redraw; no refund after data
// access.
//
// Every request that accesses private data goes through here: ReleaseOnce() for those that are answered on
// the caller's thread, BeginOnce() and later FinishOnce() for those that are drawn in the background. Both
// charge the request, or find what the same request did before.
//
// Thread-safe. Two calls with the same (principal, request id) in this process do not overlap: each call
// holds that request's lock (request_locks.h). Across processes the ledger's attempt tokens decide.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "dp/noise/drbg.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "service/background_work.h"
#include "service/request_locks.h"

namespace curator::service {

// A release as it was drawn, and the measures by which it is found (Ledger::FindReleases()).
struct Drawn {
  // Implicit: most releases are found by none.
  Drawn(std::string bytes, std::vector<ledger::Measure> found_by = {})
      : payload(std::move(bytes)), measures(std::move(found_by)) {}

  std::string payload;
  std::vector<ledger::Measure> measures;
};

// Draws a release with noise from `key`. The same key gives the same bytes.
using Draw = std::function<absl::StatusOr<Drawn>(const dp::DrawKey& key)>;

// A ledger::ChargeRequest (ledger/types.h has the fields) without the sealed key, which only this file makes.
struct ChargeOrder {
  std::string dataset_id;
  int64_t dataset_version = 0;
  Principal principal;
  std::string request_id;
  std::string fingerprint;
  std::string kind;
  std::string event;
  std::string label;
  std::vector<ledger::Posting> postings;
  // Signalled when the client has gone or its deadline has passed: from then on nothing new is charged. A
  // charge that was made goes on to its end.
  std::stop_token client_left;
};

struct ReleasedOnce {
  ledger::Release release;
  bool replayed = false;  // the release had been stored before
};

// Charges the order durably, together with a freshly drawn key, sealed; draws, stores, and returns the
// release as read back from the ledger. Or returns what the same request stored before; or repeats, from its
// key, a draw that was charged but not stored. A draw that fails forfeits the charge.
//
// Errors: those of RequestLocks::Hold(): nothing was charged; those of Ledger::Begin(): nothing was charged,
// or a retry with the same request id finds what was; ALREADY_EXISTS for another request under this id; those
// of KeySealer::Unseal(): no record was read, and the charge stays STARTED; those of Ledger::Store() and
// Ledger::Forfeit(); INTERNAL after a failed draw, the same for every cause, because an error after data
// access must reveal only that there was one.
absl::StatusOr<ReleasedOnce> ReleaseOnce(RequestLocks& locks, ledger::Ledger& ledger,
                                         const host::KeySealer& sealer, ChargeOrder order, const Draw& draw);

// How a draw in the background is begun. Both functions run under the request's lock, on the calling thread.
struct BackgroundDraw {
  // Called before the charge. An error refuses the request, and nothing is charged. `start` does not follow
  // when the charge fails or its release is stored: what was reserved is freed by its destructor.
  std::function<absl::Status()> reserve;
  // Takes over the attempt, which FinishOnce() must end, on any thread. Registers it as running.
  std::function<void(ledger::Attempt attempt)> start;
};

// Charges the order and starts its draw, and returns the charge's id. Starts nothing when the draw runs in
// this process already, or when its release is stored. Errors: those of ReleaseOnce() but INTERNAL, and those
// of `reserve`.
absl::StatusOr<std::string> BeginOnce(RequestLocks& locks, const RunningOperations& running,
                                      ledger::Ledger& ledger, const host::KeySealer& sealer,
                                      ChargeOrder order, const BackgroundDraw& draw);

// How a draw that gave no release ends.
enum class Failure {
  // An error, a cancel or a deadline after data access: the cost stands, and the draw is never repeated.
  kForfeit,
  // This process is stopping: the charge stays STARTED, and the same request id repeats the same draw.
  kAbandon,
};

// Draws, stores, and returns the release as ReleaseOnce() does, for an attempt that BeginOnce() made and that
// has no release. A draw that fails ends as `on_failure()` returns, which is called only then, and
// FinishOnce() returns INTERNAL. Other errors: those of KeySealer::Unseal(), Ledger::Store() and
// Ledger::Forfeit().
absl::StatusOr<ledger::Release> FinishOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                           const ledger::Attempt& attempt, const Draw& draw,
                                           const std::function<Failure()>& on_failure);

// Ends a started charge that no process works on: takes it over, so that no other process can finish it, and
// forfeits it. OK also when it has ended meanwhile.
absl::Status ForfeitUnfinished(ledger::Ledger& ledger, const ledger::Charge& charge);

}  // namespace curator::service
