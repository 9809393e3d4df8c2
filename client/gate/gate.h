// The gate: what it answers to each request of a browser, and of the operator's own programs. It holds no
// records, no database and no key: it is a client of a Curator server, and shows each user what the server
// shows them.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/gate/api_calls.h"
#include "client/gate/call_places.h"
#include "client/gate/http.h"
#include "client/gate/renewals.h"
#include "client/gate/request_guard.h"
#include "client/gate/sessions.h"
#include "client/gate/sign_in.h"
#include "client/gate/upstream.h"
#include "client/gate/workers.h"

namespace curator::gate {

struct GateOptions {
  std::string server;                // "unix:/PATH", or "HOST:PORT" of a development server
  std::vector<std::string> origins;  // by which browsers name the gate; the first is where a login returns to
  bool is_development = false;
  std::vector<LoginProvider> providers = {};
  SessionLimits sessions = {};
  absl::Duration longest_for_operators = absl::Seconds(10);  // of a call for /metrics or /healthz
  // For the operator's log; thread-safe.
  std::function<void(std::string_view event, std::string_view detail)> log = [](auto, auto) {};
};

class Gate {
 public:
  explicit Gate(GateOptions options);
  ~Gate() { Close(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Of the listener for browsers: pages, /api/v1, /auth.
  void HandleBrowser(HttpRequest request, std::shared_ptr<Exchange> exchange);
  // Of the listener for the operator's programs on this host: /metrics, which passes the credential of the
  // request on to the server, and /healthz.
  void HandleLocal(HttpRequest request, std::shared_ptr<Exchange> exchange);
  // Cancels all calls of the server and waits for them; requests are answered with UNAVAILABLE from now on.
  // Called before the HTTP server is destroyed, because calls are answered on other threads.
  void Close();

 private:
  void HandleGet(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  void HandlePost(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  void ServePage(const HttpRequest& request, Exchange& exchange) const;
  void ServeMetrics(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  void ServeHealth(std::shared_ptr<Exchange> exchange);
  // A call for an operator's program, which ends when that leaves.
  void AskForOperator(std::string_view method, const Credential& credential,
                      const std::shared_ptr<Exchange>& exchange, OnJson on_json);
  std::string OwnMetrics(bool is_server_reachable) const;
  void SweepLater();

  const GateOptions options_;
  const SignInOptions sign_in_options_;
  const RequestGuard guard_;
  Channels channels_;
  Sessions sessions_;
  Workers later_;  // what waits for its time, and blocks nothing
  Workers sweeps_;
  IssuerWorkers for_logins_;    // what waits for an identity provider, of people who log in
  IssuerWorkers for_renewals_;  // and of sessions
  CallPlaces places_;
  Renewals renewals_;
  ApiCalls calls_;
  SignIn sign_in_;
  std::atomic<uint64_t> requests_ = 0;
};

}  // namespace curator::gate
