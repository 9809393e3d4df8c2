// Enforces the invariants: charge first; store before reply; replay, never redraw; no refund after data
// access.
//
// Every request that accesses private data goes through here: ReleaseOnce() for those that are answered on
// the caller's thread, QueueOnce() and later StartOnce() and FinishOnce() for those that are drawn in the
// background. Both find what the same request did before. ReleaseOnce() charges before it draws;
// QueueOnce() holds the cost, and StartOnce() charges it when a thread begins to draw.
//
// Two values decide what a repeated request gets. Its fingerprint is what the client sent: another one under
// the same id is refused. Its draw identity is what this program draws for it: where it is not the one that
// was charged, a stored release is still returned, but nothing is drawn.
//
// Thread-safe. Two calls with the same (principal, request id) in this process do not overlap: each call
// holds that request's lock (request_locks.h). Across processes the ledger's attempt tokens decide.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "dp/noise/drbg.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "service/late_endings.h"
#include "service/request_locks.h"
#include "service/running_operations.h"

namespace curator::service {

// Draws a release with noise from `key`, which belongs to this draw's identity alone. The same key gives the
// same bytes.
using Draw = std::function<absl::StatusOr<Drawn>(const dp::DrawKey& key)>;

// A ledger::ChargeRequest (ledger/types.h has the fields) without the sealed key, which only this file makes.
struct ChargeOrder {
  std::string dataset_id;
  int64_t dataset_version = 0;
  int64_t dataset_revision = 0;
  std::string refusal_rules_hash = {};
  Principal principal;
  std::string request_id;
  std::string fingerprint;
  std::string earlier_fingerprint = {};
  std::string draw_identity;
  // Whether this program draws for a charge without a draw identity, under the same earlier fingerprint, what
  // the program drew that made the charge.
  bool draws_as_before = false;
  std::string kind;
  std::string event;
  std::string label;
  std::vector<ledger::Posting> postings;
  // Signalled when the client has gone or its deadline has passed: from then on nothing new is charged. A
  // charge that was made goes on to its end.
  std::stop_token client_left;
  // Whether the caller has not looked up what the same request was charged before: ReleaseOnce() then repeats
  // no draw, because the order may say otherwise than that charge what is drawn. ABORTED instead.
  bool is_expected_new = false;
  // Called when ReleaseOnce() has made a new charge, whatever becomes of its draw. May be empty.
  std::function<void()> on_new_charge = {};
};

// Whether `charge` paid for a stored release, and the request with this fingerprint made the charge: known
// without a plan, because a later program may refuse to plan, or plan otherwise, what an earlier one
// answered. False also for a charge from before draw identities, which only a plan can compare.
bool IsReleased(const ledger::Charge& charge, std::string_view fingerprint);

struct ReleasedOnce {
  ledger::Release release;
  bool replayed = false;                        // the release had been stored before
  std::optional<ledger::Attempt> charged = {};  // of a new charge
};

// Charges the order durably, together with a freshly drawn key, sealed; draws, stores, and returns the
// release as read back from the ledger. Or returns what the same request stored before; or repeats, from its
// key, a draw that was charged but not stored. A draw that fails forfeits the charge.
//
// Errors: those of RequestLocks::Hold(): nothing was charged; those of Ledger::Begin(): nothing was charged,
// or a retry with the same request id finds what was; ALREADY_EXISTS for another request under this id; those
// of KeySealer::Unseal(): no record was read, and the charge stays STARTED; those of Ledger::Store() and
// Ledger::Forfeit(); INTERNAL after a failed draw, the same for every cause, because an error after data
// access must reveal only that there was one; UNAVAILABLE when the store cannot take the answer for a second:
// `late` goes on storing it; and when memory runs out in the draw: the same request id repeats it.
absl::StatusOr<ReleasedOnce> ReleaseOnce(RequestLocks& locks, ledger::Ledger& ledger,
                                         const host::KeySealer& sealer, LateEndings& late, ChargeOrder order,
                                         const Draw& draw);

// How a draw in the background is queued. Both functions run under the request's lock, on the calling thread.
struct QueuedDraw {
  // Called before anything is held. An error refuses the request. `enqueue` does not follow when the cost
  // does not fit or a release is stored: what was reserved is freed by its destructor.
  std::function<absl::Status()> reserve;
  // Registers the draw as running and has a thread call StartOnce() and FinishOnce().
  std::function<void(ledger::Charge charge)> enqueue;
};

// Holds the order's cost and queues its draw, and returns the charge's id. Queues nothing when the draw is
// queued or runs in this process already, or when its release is stored. A charge that another process queued
// or started, and did not finish, is queued again. Errors: those of Ledger::Queue() and of `reserve`;
// FAILED_PRECONDITION when this program would draw something else than what was priced: a charge that was
// only held is then cancelled, a started one is forfeited.
absl::StatusOr<std::string> QueueOnce(RequestLocks& locks, const RunningOperations& running,
                                      ledger::Ledger& ledger, ChargeOrder order, const QueuedDraw& draw);

// How a draw that gave no release ends.
enum class Failure {
  // An error, a cancel or a deadline after data access: the cost stands, and the draw is never repeated.
  kForfeit,
  // This process is stopping: the charge stays STARTED, and the same request id repeats the same draw.
  kAbandon,
};

// How a draw ends where not all goes well.
struct EndPolicy {
  // Called only when a draw fails.
  std::function<Failure()> on_failure;
  // Waits for the given time before the ledger is asked again; false gives up.
  std::function<bool(absl::Duration)> wait;
  // Takes over storing the payload, or forfeiting without one, once `wait` has given up. May be empty.
  std::function<void(std::optional<Drawn> drawn)> hand_over = {};
};

// Gives the cost of a queued draw back, as its principal would, also one whose name was forgotten meanwhile.
// FAILED_PRECONDITION when another attempt has started it, or when it has ended: nothing is to be freed then.
absl::Status CancelQueuedCharge(ledger::Ledger& ledger, const ledger::Charge& charge,
                                std::string_view reason);

// The attempt of a queued charge: started now, with a fresh key, or taken over. `release` is set when another
// process has finished it. While the store cannot be reached it asks again, as long as `wait` returns true.
// Errors: those of Ledger::StartQueued() and Ledger::TakeOver(). A charge that is refused for good is
// cancelled, and its cost is freed.
absl::StatusOr<ledger::Attempt> StartOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                          const ledger::Charge& charge,
                                          const std::function<bool(absl::Duration)>& wait);

// Draws, stores, and returns the release as ReleaseOnce() does, for an attempt of StartOnce() that has no
// release. While the store cannot be reached, storing or forfeiting is tried again, as long as `wait` returns
// true. Errors: UNAVAILABLE for a draw that was abandoned or ran out of memory, or drawn and not stored: the
// same request id repeats it; INTERNAL for one that failed; those of KeySealer::Unseal(), Ledger::Store()
// and, when another attempt has taken over, Ledger::Forfeit().
absl::StatusOr<ledger::Release> FinishOnce(ledger::Ledger& ledger, const host::KeySealer& sealer,
                                           const ledger::Attempt& attempt, const Draw& draw,
                                           const EndPolicy& end);

// Ends a started draw that no process works on: takes it over, so that no other process can finish it, and
// forfeits it for this reason, which is public. OK also when its release has been stored meanwhile. Errors:
// those of Ledger::TakeOver() and Ledger::Forfeit().
absl::Status ForfeitUnfinished(ledger::Ledger& ledger, std::string_view charge_id, std::string_view reason);

}  // namespace curator::service
