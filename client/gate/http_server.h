// HTTP/1.1 on loopback addresses and unix sockets, by Boost.Beast on one thread.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/gate/http.h"

namespace curator::gate {

// What one connection, and all together, may take. A request beyond a limit is answered with 413 or 431 and
// its connection closed; more connections wait until others have ended.
struct HttpLimits {
  size_t connections = 2'000;  // of each listener
  size_t header_bytes = size_t{16} << 10;
  size_t body_bytes = size_t{256} << 10;
  size_t queued_event_bytes = size_t{1} << 20;  // of one stream of events
  absl::Duration request_time =
      absl::Seconds(30);                         // for a request to come, or a piece of an answer to be taken
  absl::Duration idle_time = absl::Seconds(75);  // between two requests
  absl::Duration heartbeat = absl::Seconds(15);  // a comment in each stream of events
};

struct HttpListener {
  // "unix:/PATH", open to the group of the socket's folder, or "127.0.0.1:PORT"; port 0 is any free one.
  std::string address;
  HttpHandler handler;
  std::string member = "listen";  // of the configuration, for errors
};

class HttpServer {
 public:
  // Listens when this returns. Errors: INVALID_ARGUMENT for an address of another form, UNAVAILABLE where it
  // cannot listen, or where another program answers at the socket; the message names the member and the
  // address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(std::vector<HttpListener> listeners,
                                                           const HttpLimits& limits = {});
  // Closes all connections, and waits until no handler runs.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Those of the listeners, in their order, with the ports that were free.
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  class Loop;
  HttpServer(std::unique_ptr<Loop> loop, std::vector<std::string> addresses);

  std::unique_ptr<Loop> loop_;
  const std::vector<std::string> addresses_;
};

}  // namespace curator::gate
