// A registry of the operations that wait or run in this process.
//
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace curator::service {

// The operations that run in this process, by the id of the charge that pays for each.
//
// The ledger holds the durable state of an operation; this registry adds what only the running process knows:
// its progress, how to stop it, and when it ends.
class RunningOperations {
 public:
  // Registers the operation for as long as the ticket lives. The registry must outlive it.
  class Ticket {
   public:
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    std::stop_token stop_token() const { return stop_.get_token(); }
    // Stops the work as RunningOperations::RequestStop() does.
    void RequestStop() { stop_.request_stop(); }
    // The work has begun: listeners are called.
    void NoteBegun();
    void SetShareDone(double share);

   private:
    friend class RunningOperations;
    Ticket(RunningOperations& registry, std::string charge_id);

    RunningOperations& registry_;
    const std::string charge_id_;
    std::stop_source stop_;
    double share_done_ = 0;  // guarded by the registry's mutex
  };

  // Registers an operation. The charge must not be running already. After Abandon() the new operation is
  // stopped at once.
  std::shared_ptr<Ticket> Start(std::string charge_id);

  // The share done in [0, 1], or none when no such operation runs here.
  std::optional<double> ShareDone(std::string_view charge_id) const;

  // Of all of them, ascending.
  std::vector<std::string> Ids() const;

  // Asks the operation to stop. False when it does not run here.
  bool RequestStop(std::string_view charge_id);

  // Asks an operation that has not begun to stop, and forgets it: it has ended.
  void Dismiss(std::string_view charge_id);

  // This process is stopping: stops the operations that are running; another process may resume them.
  // Permanent.
  void Abandon();
  bool abandoning() const;
  // Waits for Abandon(), at most for `patience`. Whether it was called.
  bool AwaitAbandoned(absl::Duration patience) const;

  // Called with the id of an operation that has moved in its queue, that has begun, whose share done has
  // changed by a thousandth, or that has ended, on the thread of its work, of other work or of its
  // cancellation; must not block. After SetListener() has returned the earlier one is not called.
  using Listener = std::function<void(std::string_view charge_id)>;
  void SetListener(Listener listener);

  // Waits until the operation has ended or `deadline` has passed.
  void AwaitEnd(std::string_view charge_id, absl::Time deadline) const;

  // Waits until no operation runs. False when `deadline` passed before that.
  bool AwaitAllEnded(absl::Time deadline) const;

  // Calls the listener.
  void Notify(std::string_view charge_id);

 private:
  absl::Mutex listener_mutex_;  // never taken while mutex_ is held
  Listener listener_ ABSL_GUARDED_BY(listener_mutex_);
  mutable absl::Mutex mutex_;
  bool abandoning_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Ticket*, std::less<>> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::service
