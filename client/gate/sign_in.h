// How a browser gets a session, and loses it: by a name on a development server, by a pasted API token, or by
// a login at an identity provider.
//
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/gate/call_places.h"
#include "client/gate/code_flow.h"
#include "client/gate/http.h"
#include "client/gate/random_text.h"
#include "client/gate/sessions.h"
#include "client/gate/upstream.h"
#include "client/gate/workers.h"

namespace curator::gate {

struct SignInOptions {
  std::string origin;           // "https://curator.example"
  bool is_development = false;  // sign in by name, without TLS
  std::vector<LoginProvider> providers;
  // For the operator's log: what happened, and why.
  std::function<void(std::string_view event, std::string_view detail)> log;
  std::function<absl::Time()> now = absl::Now;
};

class SignIn {
 public:
  // All must outlive this object.
  SignIn(const SignInOptions& options, Channels& channels, Sessions& sessions, CallPlaces& places,
         IssuerWorkers& for_issuers)
      : options_(options),
        channels_(channels),
        sessions_(sessions),
        places_(places),
        for_issuers_(for_issuers) {}

  // The key of the session that the request's cookie names, whether there is one or not.
  std::string KeyOf(const HttpRequest& request) const;

  // GET /api/v1/session
  void Describe(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  // POST /auth/login with {"name": ...} or {"token": ...}
  void Begin(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  // GET /auth/login?issuer=ALIAS&return=/PATH&fresh=1. A login that fails, here or when it returns, leads to
  // /?login_error=REASON with one of the reasons at the end of this file.
  void Leave(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  // GET /auth/callback, from the issuer
  void Return(const HttpRequest& request, std::shared_ptr<Exchange> exchange);
  // POST /auth/logout
  void End(const HttpRequest& request, std::shared_ptr<Exchange> exchange);

 private:
  std::string CookieName() const;
  std::string LoginCookieName() const;
  std::string SetCookie(std::string_view name, std::string_view value, int64_t seconds) const;
  // As long as the longest session; the gate itself ends sessions.
  int64_t CookieSeconds() const { return absl::ToInt64Seconds(sessions_.longest()); }
  std::string RedirectAddress() const { return options_.origin + "/auth/callback"; }
  const LoginProvider* ProviderOf(std::string_view alias) const;

  // A short call of the server, which ends when the browser leaves.
  void Ask(std::string_view method, const Credential& credential, std::shared_ptr<CallPlaces::Place> place,
           Exchange& exchange, OnJson on_json);
  // Asks the server who the credential is, and begins a session for that: `done` is called with its id, or
  // with the server's error.
  void BeginFor(Session session, const std::string& old_key, std::shared_ptr<CallPlaces::Place> place,
                Exchange& exchange, std::function<void(absl::StatusOr<std::string> id)> done);
  void FinishLogin(const LoginProvider& provider, const BegunLogin& login, const CodeAnswer& answer,
                   const std::string& old_key, std::shared_ptr<Exchange> exchange);
  std::string SessionJson(const std::optional<Session>& session, const std::string& version) const;
  HttpResponse ToPage(const std::string& path) const;
  // Runs `work`, which asks the issuer, unless the browser has left by then; answers where it cannot run.
  void RunFor(const LoginProvider& provider, const std::shared_ptr<Exchange>& exchange,
              std::function<void()> work);
  HttpResponse LoginFailed(std::string_view reason, const absl::Status& error) const;

  const SignInOptions& options_;
  Channels& channels_;
  Sessions& sessions_;
  CallPlaces& places_;
  IssuerWorkers& for_issuers_;
  const std::string cookie_key_ = RandomText();
};

// Reasons of failed logins, as pages get them.
// The gate has no such login.
inline constexpr char kUnknownIssuer[] = "UNKNOWN_ISSUER";
// It took too long, or another browser began it.
inline constexpr char kLoginExpired[] = "LOGIN_EXPIRED";
// What came back is no answer of this issuer's.
inline constexpr char kWrongCallback[] = "WRONG_CALLBACK";
// The issuer did not log the user in.
inline constexpr char kRefusedByIssuer[] = "REFUSED_BY_ISSUER";
inline constexpr char kIssuerUnreachable[] = "ISSUER_UNREACHABLE";
// The issuer's configuration, or its token, cannot be used.
inline constexpr char kIssuerFault[] = "ISSUER_FAULT";
// No principal of the server has this identity.
inline constexpr char kUnknownPrincipal[] = "UNKNOWN_PRINCIPAL";
// The principal is disabled.
inline constexpr char kDisabled[] = "DISABLED";
// The server refused the token for another reason.
inline constexpr char kNotAccepted[] = "NOT_ACCEPTED";
inline constexpr char kServerUnreachable[] = "SERVER_UNREACHABLE";
// A bound of the gate's, or of its sessions.
inline constexpr char kTooBusy[] = "TOO_BUSY";

}  // namespace curator::gate
