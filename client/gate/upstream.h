// Calls of the server on behalf of a session: requests and answers in JSON, on gRPC's threads, and as many
// connections as the calls that are open need.
//
// Thread-safe.
#pragma once

#include <grpcpp/channel.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/gate/api_methods.h"
#include "client/gate/call_places.h"
#include "client/gate/credential.h"
#include "client/gate/http.h"

namespace curator::gate {

// A call that runs. Thread-safe.
class RunningCall {
 public:
  virtual ~RunningCall() = default;
  // Asks the server to stop; the call then ends with CANCELLED, if it has not ended.
  virtual void Cancel() = 0;
};

// Connections to one server. A server takes so many calls at a time on one (100 by default), and a stream of
// a page is one that does not end: a new connection is made where the others have kMostCalls.
class Channels {
 public:
  static constexpr size_t kMostCalls = 50;

  // "unix:/PATH", or "HOST:PORT" of a development server.
  explicit Channels(std::string server) : server_(std::move(server)) {}
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  // A channel for one call, until the lease is destroyed; none after Close().
  class Lease;
  std::unique_ptr<Lease> Take();
  // How many calls are open.
  size_t OpenCalls() const;
  // Cancels all calls, and waits until all leases are destroyed. Before this object is destroyed, and not on
  // a thread of gRPC's.
  void Close();

 private:
  struct Entry {
    std::shared_ptr<grpc::Channel> channel;
    size_t calls = 0;
  };

  const std::string server_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<const Lease*, std::weak_ptr<RunningCall>> calls_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

class Channels::Lease {
 public:
  Lease(Channels& channels, Entry& entry) : channels_(channels), entry_(entry) {}
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::shared_ptr<grpc::Channel>& channel() const { return entry_.channel; }
  // The call that the lease is for, which Close() cancels.
  void Serve(std::weak_ptr<RunningCall> call);

 private:
  // No owner of channels: the last one to let go of a channel must not be a thread of gRPC's, which would
  // wait for itself.
  Channels& channels_;
  Entry& entry_;
};

// The answer of a call: the message in JSON; of a stream {"messages": [...], "truncated": ...}, cut off
// before kMostJsonBytes.
inline constexpr size_t kMostJsonBytes = size_t{8} << 20;
using OnJson = std::function<void(absl::StatusOr<std::string> json)>;

// Starts the call under a new trace. `on_json` is called once: with the server's error and its details
// (client/error.h), with DEADLINE_EXCEEDED after `longest`, with RESOURCE_EXHAUSTED where `place` has no room
// for the answer. It must not block: it is called on a thread of gRPC's, or, with UNAVAILABLE after
// Channels::Close(), before this returns null.
std::shared_ptr<RunningCall> StartCall(Channels& channels, const ApiMethod& method,
                                       const google::protobuf::Message& request, const Credential& credential,
                                       std::shared_ptr<CallPlaces::Place> place, OnJson on_json,
                                       absl::Duration longest = absl::InfiniteDuration());

// Cancels the call, which may be null, when the browser leaves.
void CancelWhenLeft(Exchange& exchange, const std::shared_ptr<RunningCall>& call);

}  // namespace curator::gate
