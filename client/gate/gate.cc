#include "client/gate/gate.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/error.h"
#include "client/gate/api_json.h"
#include "client/gate/api_methods.h"
#include "client/gate/pages.h"

namespace curator::gate {
namespace {

constexpr char kApi[] = "/api/v1/";
constexpr absl::Duration kBetweenSweeps = absl::Seconds(10);
constexpr char kOperators[] = "/operators";  // is no principal's name

// Pages are the gate's own files alone, and no text becomes markup or code.
constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

HttpHeaders SecurityHeaders(bool is_development) {
  HttpHeaders headers = {{"Content-Security-Policy", kContentSecurityPolicy},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Cross-Origin-Opener-Policy", "same-origin"},
                         {"Cross-Origin-Resource-Policy", "same-origin"},
                         {"Permissions-Policy", "camera=(), geolocation=(), microphone=()"}};
  if (!is_development) headers.emplace_back("Strict-Transport-Security", "max-age=31536000");
  return headers;
}

// Adds headers to whatever answers.
class WithHeaders final : public Exchange {
 public:
  WithHeaders(std::shared_ptr<Exchange> exchange, HttpHeaders headers)
      : exchange_(std::move(exchange)), headers_(std::move(headers)) {}

  void Respond(HttpResponse response) override {
    response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
    exchange_->Respond(std::move(response));
  }
  std::shared_ptr<EventStream> StartEvents(HttpHeaders headers) override {
    headers.insert(headers.end(), headers_.begin(), headers_.end());
    return exchange_->StartEvents(std::move(headers));
  }
  void OnLeft(std::function<void()> on_left) override { exchange_->OnLeft(std::move(on_left)); }

 private:
  const std::shared_ptr<Exchange> exchange_;
  const HttpHeaders headers_;
};

HttpResponse Text(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}},
          .body = std::move(text)};
}

// Where a page of another name makes requests of this host, the Host header has that name (DNS rebinding).
bool IsForThisHost(const HttpRequest& request) {
  const std::string_view host = request.Header("host");
  const std::string_view name = host.substr(0, host.find(':'));
  return name == "127.0.0.1" || name == "localhost";
}

std::vector<std::string> AliasesOf(const std::vector<LoginProvider>& providers) {
  std::vector<std::string> aliases;
  for (const LoginProvider& provider : providers) aliases.push_back(provider.alias);
  return aliases;
}

Refusal NotAllowed(std::string_view method) {
  return {.status = 405,
          .code = "UNIMPLEMENTED",
          .reason = "METHOD",
          .message = absl::StrCat("the method ", std::string(method), " is not used here")};
}

}  // namespace

Gate::Gate(GateOptions options)
    : options_(std::move(options)),
      sign_in_options_{.origin = options_.origins.front(),
                       .is_development = options_.is_development,
                       .providers = options_.providers,
                       .log = options_.log},
      guard_(options_.origins),
      channels_(options_.server),
      sessions_(options_.sessions),
      later_(1, /*most_waiting=*/100'000),
      sweeps_(1, /*most_waiting=*/1),
      for_logins_(AliasesOf(options_.providers), 2, /*most_waiting=*/100),
      for_renewals_(AliasesOf(options_.providers), 2, /*most_waiting=*/1'000),
      renewals_(sessions_, options_.providers, for_renewals_),
      calls_(channels_, sessions_, renewals_, places_, later_),
      sign_in_(sign_in_options_, channels_, sessions_, places_, for_logins_) {
  sessions_.OnEnd([this](const std::string& key, const Session& session) {
    calls_.EndSession(key);
    renewals_.Forget(session);
  });
  SweepLater();
}

void Gate::Close() {
  for (Workers* workers : {&later_, &sweeps_}) workers->Stop();
  for (IssuerWorkers* workers : {&for_logins_, &for_renewals_}) workers->Stop();
  renewals_.Close();
  channels_.Close();
}

void Gate::SweepLater() {
  sweeps_.Run(
      [this] {
        sessions_.Sweep();
        SweepLater();
      },
      kBetweenSweeps);
}

void Gate::HandleBrowser(HttpRequest request, std::shared_ptr<Exchange> plain) {
  ++requests_;
  const auto exchange =
      std::make_shared<WithHeaders>(std::move(plain), SecurityHeaders(options_.is_development));
  if (const auto refusal = guard_.CheckAny(request)) return exchange->Respond(ErrorResponse(*refusal));
  if (request.method == "GET") return HandleGet(request, exchange);
  if (request.method == "POST") return HandlePost(request, exchange);
  exchange->Respond(ErrorResponse(NotAllowed(request.method)));
}

void Gate::HandleGet(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  if (request.path == "/auth/callback") return sign_in_.Return(request, exchange);
  const bool is_login = request.path == "/auth/login";
  if (!is_login && !absl::StartsWith(request.path, kApi)) return ServePage(request, *exchange);
  if (const auto refusal = guard_.CheckRead(request)) return exchange->Respond(ErrorResponse(*refusal));
  if (is_login) return sign_in_.Leave(request, exchange);
  if (request.path == "/api/v1/session") return sign_in_.Describe(request, exchange);
  if (request.path != "/api/v1/events") return exchange->Respond(ErrorResponse(NotAllowed("GET")));
  const std::string key = sign_in_.KeyOf(request);
  if (!sessions_.Use(key)) return exchange->Respond(NoSession());
  calls_.Follow(request, key, exchange);
}

void Gate::HandlePost(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  if (request.path == "/auth/login") {
    if (const auto refusal = guard_.CheckChange(request, std::nullopt)) {
      return exchange->Respond(ErrorResponse(*refusal));
    }
    return sign_in_.Begin(request, exchange);
  }
  const std::string key = sign_in_.KeyOf(request);
  const std::optional<Session> session = sessions_.Use(key);
  if (const auto refusal = guard_.CheckChange(request, session ? session->csrf : "")) {
    // A page whose session is over has its old value.
    const bool has_no_session = !session && refusal->reason == "CSRF";
    return exchange->Respond(has_no_session ? NoSession() : ErrorResponse(*refusal));
  }
  if (!session) return exchange->Respond(NoSession());
  if (request.path == "/auth/logout") return sign_in_.End(request, exchange);
  absl::string_view name = request.path;
  if (!absl::ConsumePrefix(&name, kApi)) return exchange->Respond(ErrorResponse(NotAllowed("POST")));
  calls_.Call(std::string(name), request.body, key, *session, exchange);
}

// Any other path is a page of the one file that draws them all.
void Gate::ServePage(const HttpRequest& request, Exchange& exchange) const {
  const bool is_asset = absl::StartsWith(request.path, "/assets/");
  const PageFile* file = FindPageFile(request.path);
  if (file == nullptr && !is_asset) file = FindPageFile("/index.html");
  if (file == nullptr) return exchange.Respond(Text(404, "there is no such file\n"));
  // Assets have their content's hash in their names.
  const char* caching = is_asset ? "public, max-age=31536000, immutable" : "no-cache";
  exchange.Respond(
      {.status = 200,
       .headers = {{"Content-Type", std::string(ContentTypeOf(file->path))}, {"Cache-Control", caching}},
       .constant = file->content});
}

void Gate::HandleLocal(HttpRequest request, std::shared_ptr<Exchange> exchange) {
  if (!IsForThisHost(request)) {
    return exchange->Respond(Text(403, "the Host header is neither 127.0.0.1 nor localhost\n"));
  }
  if (request.method != "GET") return exchange->Respond(Text(405, "GET is the only method here\n"));
  if (request.path == "/metrics") return ServeMetrics(request, exchange);
  if (request.path == "/healthz") return ServeHealth(exchange);
  exchange->Respond(Text(404, "there are /metrics and /healthz here\n"));
}

std::string Gate::OwnMetrics(bool is_server_reachable) const {
  const auto series = [](std::string_view name, std::string_view type, std::string_view help, auto value) {
    return absl::StrCat("# HELP ", std::string(name), " ", std::string(help), "\n# TYPE ", std::string(name),
                        " ", std::string(type), "\n", std::string(name), " ", value, "\n");
  };
  return absl::StrCat(
      series("curator_gate_server_reachable", "gauge", "1 where the server answers the gate, else 0.",
             is_server_reachable ? 1 : 0),
      series("curator_gate_requests_total", "counter", "Requests of browsers.", requests_.load()),
      series("curator_gate_sessions", "gauge", "Sessions of browsers that are signed in.", sessions_.size()),
      series("curator_gate_event_streams", "gauge", "Open streams of events.", calls_.following()),
      series("curator_gate_upstream_calls", "gauge", "Open calls of the server.", channels_.OpenCalls()));
}

void Gate::ServeMetrics(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  Credential credential;
  const std::string authorization(request.Header("authorization"));
  const std::string token(absl::StripPrefix(authorization, "Bearer "));
  if (token.size() < authorization.size() && CanBeSent(token)) {
    credential = {.kind = Credential::Kind::kToken, .text = token};
  } else if (options_.is_development) {
    credential = {.kind = Credential::Kind::kName, .text = "metrics"};
  }
  AskForOperator("MetricsService/GetMetrics", credential, exchange,
                 [this, exchange](const absl::StatusOr<std::string>& json) {
                   const absl::StatusCode code = json.status().code();
                   const bool is_lost =
                       code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kDeadlineExceeded;
                   // Where it cannot authenticate anybody, the server itself says that it is unavailable.
                   const bool is_reachable = json.ok() || !client::Reason(json.status()).empty();
                   if (!json.ok() && !is_lost) return exchange->Respond(ErrorResponse(json.status()));
                   const auto answer =
                       nlohmann::json::parse(is_lost ? "{}" : *json, nullptr, /*allow_exceptions=*/false);
                   const std::string text = answer.is_object() ? answer.value("text", "") : "";
                   HttpResponse response = Text(200, text + OwnMetrics(is_reachable));
                   response.headers[0].second = "text/plain; version=0.0.4; charset=utf-8";
                   exchange->Respond(std::move(response));
                 });
}

void Gate::ServeHealth(std::shared_ptr<Exchange> exchange) {
  AskForOperator(
      "VersionService/GetVersion", {}, exchange, [exchange](const absl::StatusOr<std::string>& json) {
        exchange->Respond(json.ok() ? Text(200, "ok\n") : Text(503, "the server cannot be reached\n"));
      });
}

void Gate::AskForOperator(std::string_view method_name, const Credential& credential,
                          const std::shared_ptr<Exchange>& exchange, OnJson on_json) {
  std::shared_ptr<CallPlaces::Place> place = places_.Take(kOperators);
  if (place == nullptr) return exchange->Respond(TooManyCalls());
  const ApiMethod& method = *FindApiMethod(method_name);
  CancelWhenLeft(*exchange, StartCall(channels_, method, *method.request, credential, std::move(place),
                                      std::move(on_json), options_.longest_for_operators));
}

}  // namespace curator::gate
