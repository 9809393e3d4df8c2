#include "client/gate/sign_in.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/error.h"
#include "client/gate/api_json.h"
#include "client/gate/api_methods.h"
#include "client/gate/random_text.h"

namespace curator::gate {
namespace {

using nlohmann::ordered_json;

// Anybody can send one, and it is read on the thread of all connections. Holds a whole credential.
constexpr size_t kMostLoginBytes = size_t{16} << 10;

absl::StatusOr<Credential> CredentialIn(const std::string& body, bool is_development) {
  // Not ordered_json, which looks for the name of each member among all that it has.
  const nlohmann::json object = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const auto text = [&](const char* member) {
    const bool is_there = object.is_object() && object.contains(member) && object[member].is_string();
    return is_there ? object[member].get<std::string>() : std::string();
  };
  const std::string name = text("name");
  const std::string token = text("token");
  if (name.empty() == token.empty()) {
    return absl::InvalidArgumentError(R"(the body is {"name": ...} or {"token": ...})");
  }
  if (!name.empty() && !is_development) {
    return absl::InvalidArgumentError("name: only a server in development mode believes names");
  }
  if (!CanBeSent(name.empty() ? token : name)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name.empty() ? "token" : "name", ": has characters that none has, or is too long"));
  }
  if (!name.empty()) return Credential{.kind = Credential::Kind::kName, .text = name};
  return Credential{.kind = Credential::Kind::kToken, .text = token};
}

Refusal TooLongLogin() {
  return {.status = 413,
          .code = "INVALID_ARGUMENT",
          .reason = "TOO_LARGE",
          .message = absl::StrCat("the body of a login has at most ", kMostLoginBytes, " bytes")};
}

// Why an issuer sent a browser back without a code, by its code of an error (RFC 6749, 4.1.2.1).
absl::Status RefusedLogin(const std::string& error) {
  constexpr size_t kLongest = 64;
  const bool is_code = !error.empty() && error.size() <= kLongest && std::ranges::all_of(error, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  const std::string message =
      is_code ? absl::StrCat("the issuer did not log the user in: ", error) : "the issuer sent no code";
  const bool is_in_trouble = error == "server_error" || error == "temporarily_unavailable";
  if (is_in_trouble) return absl::UnavailableError(message);
  return is_code ? absl::PermissionDeniedError(message) : absl::InvalidArgumentError(message);
}

// Of an error of the issuer's (code_flow.h).
const char* IssuersReason(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kUnavailable:
      return kIssuerUnreachable;
    case absl::StatusCode::kPermissionDenied:
      return kRefusedByIssuer;
    case absl::StatusCode::kInvalidArgument:
      return kWrongCallback;
    default:
      return kIssuerFault;
  }
}

// Of an error of the server's, or of the gate's own bounds, about who logged in.
const char* ServersReason(const absl::Status& error) {
  const std::string reason = client::Reason(error);
  for (const char* known : {kUnknownPrincipal, kDisabled}) {
    if (reason == known) return known;
  }
  if (absl::IsUnavailable(error) || absl::IsDeadlineExceeded(error)) return kServerUnreachable;
  return absl::IsResourceExhausted(error) ? kTooBusy : kNotAccepted;
}

}  // namespace

std::string SignIn::CookieName() const {
  return options_.is_development ? "curator-dev" : "__Host-curator";
}
std::string SignIn::LoginCookieName() const {
  return CookieName() + "-login";
}

std::string SignIn::SetCookie(std::string_view name, std::string_view value, int64_t seconds) const {
  return absl::StrCat(std::string(name), "=", std::string(value), "; Path=/; Max-Age=", seconds,
                      "; HttpOnly; SameSite=Lax", options_.is_development ? "" : "; Secure");
}

std::string SignIn::KeyOf(const HttpRequest& request) const {
  return Sessions::KeyOf(request.Cookie(CookieName()));
}

const LoginProvider* SignIn::ProviderOf(std::string_view alias) const {
  const auto found = std::ranges::find(options_.providers, alias, &LoginProvider::alias);
  return found == options_.providers.end() ? nullptr : &*found;
}

std::string SignIn::SessionJson(const std::optional<Session>& session, const std::string& version) const {
  ordered_json object = {{"signed_in", session.has_value()}};
  if (session) {
    object["principal"] = session->principal;
    object["csrf"] = session->csrf;
    object["kind"] = session->credential.KindName();
    object["expires"] = absl::FormatTime(absl::RFC3339_sec, options_.now() + sessions_.TimeLeftOf(*session),
                                         absl::UTCTimeZone());
  }
  ordered_json& ways =
      object["sign_in"] = {{"name", options_.is_development}, {"token", !options_.is_development}};
  ways["logins"] = ordered_json::array();
  for (const LoginProvider& provider : options_.providers) {
    ways["logins"].push_back({{"alias", provider.alias}, {"issuer", provider.issuer}});
  }
  object["server"] = ordered_json::parse(version, nullptr, /*allow_exceptions=*/false);
  if (object["server"].is_discarded()) object["server"] = nullptr;
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void SignIn::Ask(std::string_view method_name, const Credential& credential,
                 std::shared_ptr<CallPlaces::Place> place, Exchange& exchange, OnJson on_json) {
  constexpr absl::Duration kLongest = absl::Seconds(10);
  const ApiMethod& method = *FindApiMethod(method_name);
  CancelWhenLeft(exchange, StartCall(channels_, method, *method.request, credential, std::move(place),
                                     std::move(on_json), kLongest));
}

void SignIn::Describe(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  const std::string key = KeyOf(request);
  const std::optional<Session> session = sessions_.Use(key);
  std::shared_ptr<CallPlaces::Place> place = places_.Take(session ? session->principal : "");
  if (place == nullptr) return exchange->Respond(TooManyCalls());
  Ask("VersionService/GetVersion", session ? session->credential : Credential{}, std::move(place), *exchange,
      [this, session, exchange](const absl::StatusOr<std::string>& version) {
        exchange->Respond(JsonResponse(200, SessionJson(session, version.ok() ? *version : "null")));
      });
}

void SignIn::BeginFor(Session session, const std::string& old_key, std::shared_ptr<CallPlaces::Place> place,
                      Exchange& exchange, std::function<void(absl::StatusOr<std::string>)> done) {
  const Credential credential = session.credential;
  Ask("IdentityService/WhoAmI", credential, std::move(place), exchange,
      [this, session = std::move(session), old_key,
       done = std::move(done)](const absl::StatusOr<std::string>& answer) mutable {
        if (!answer.ok()) return done(answer.status());
        const ordered_json who = ordered_json::parse(*answer, nullptr, /*allow_exceptions=*/false);
        if (!who.is_object()) return done(absl::InternalError("the server's answer cannot be read"));
        session.principal = who.value("/principal/name"_json_pointer, "");
        std::optional<std::string> id = sessions_.Begin(std::move(session));
        if (!id) return done(absl::ResourceExhaustedError("too many people are signed in: try later"));
        sessions_.End(old_key);
        done(*std::move(id));
      });
}

void SignIn::Begin(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  if (request.body.size() > kMostLoginBytes) return exchange->Respond(ErrorResponse(TooLongLogin()));
  absl::StatusOr<Credential> credential = CredentialIn(request.body, options_.is_development);
  if (!credential.ok()) return exchange->Respond(ErrorResponse(credential.status()));
  std::shared_ptr<CallPlaces::Place> place = places_.Take("");
  if (place == nullptr) return exchange->Respond(TooManyCalls());
  BeginFor({.principal = {}, .credential = *std::move(credential)}, KeyOf(request), std::move(place),
           *exchange, [this, exchange](const absl::StatusOr<std::string>& id) {
             if (!id.ok()) return exchange->Respond(ErrorResponse(id.status()));
             HttpResponse response =
                 JsonResponse(200, SessionJson(sessions_.Use(Sessions::KeyOf(*id)), "null"));
             response.headers.emplace_back("Set-Cookie", SetCookie(CookieName(), *id, CookieSeconds()));
             exchange->Respond(std::move(response));
           });
}

HttpResponse SignIn::ToPage(const std::string& path) const {
  return {.status = 303, .headers = {{"Location", path}, {"Cache-Control", "no-store"}}, .body = ""};
}

// The page shows what the reason means; the issuer's own words are for the log.
HttpResponse SignIn::LoginFailed(std::string_view reason, const absl::Status& error) const {
  options_.log("login_failed", error.ToString());
  return ToPage(absl::StrCat("/?login_error=", std::string(reason)));
}

void SignIn::RunFor(const LoginProvider& provider, const std::shared_ptr<Exchange>& exchange,
                    std::function<void()> work) {
  const auto has_left = std::make_shared<std::atomic<bool>>(false);
  exchange->OnLeft([has_left] { *has_left = true; });
  const bool runs = for_issuers_.Run(
      provider.alias,
      [has_left, work = std::move(work)] {
        if (!*has_left) work();
      },
      [this, exchange] {
        exchange->Respond(LoginFailed(kIssuerUnreachable,
                                      absl::UnavailableError("others waited for the issuer for too long")));
      });
  if (!runs) exchange->Respond(LoginFailed(kTooBusy, absl::ResourceExhaustedError("too much work")));
}

void SignIn::Leave(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  const LoginProvider* provider = ProviderOf(request.Parameter("issuer"));
  if (provider == nullptr) return exchange->Respond(ToPage(absl::StrCat("/?login_error=", kUnknownIssuer)));
  BegunLogin login{.alias = provider->alias,
                   .state = RandomText(),
                   .nonce = RandomText(),
                   .verifier = RandomText(),
                   .return_to = SafeReturn(request.Parameter("return")),
                   .start = options_.now()};
  const bool fresh = request.Parameter("fresh") == "1";
  RunFor(*provider, exchange, [this, provider, login = std::move(login), fresh, exchange] {
    const absl::StatusOr<std::string> address = AddressToLogInAt(*provider, login, RedirectAddress(), fresh);
    if (!address.ok()) {
      return exchange->Respond(LoginFailed(IssuersReason(address.status()), address.status()));
    }
    HttpResponse response = ToPage(*address);
    response.headers.emplace_back("Set-Cookie", SetCookie(LoginCookieName(), CookieOf(login, cookie_key_),
                                                          absl::ToInt64Seconds(kLongestLogin)));
    exchange->Respond(std::move(response));
  });
}

void SignIn::Return(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  std::optional<BegunLogin> login =
      LoginIn(request.Cookie(LoginCookieName()), cookie_key_, request.Parameter("state"), options_.now());
  // Anybody can ask for this without one, so that it is not logged.
  if (!login) return exchange->Respond(ToPage(absl::StrCat("/?login_error=", kLoginExpired)));
  const LoginProvider* provider = ProviderOf(login->alias);
  if (provider == nullptr) {
    return exchange->Respond(LoginFailed(kUnknownIssuer, absl::NotFoundError("no such issuer")));
  }
  const CodeAnswer answer{.code = request.Parameter("code"), .issuer = request.Parameter("iss")};
  const std::string error = request.Parameter("error");
  if (answer.code.empty() || !error.empty()) {
    const absl::Status refused = RefusedLogin(error);
    return exchange->Respond(LoginFailed(IssuersReason(refused), refused));
  }
  RunFor(*provider, exchange,
         [this, provider, login = *std::move(login), answer, old = KeyOf(request), exchange] {
           FinishLogin(*provider, login, answer, old, exchange);
         });
}

void SignIn::FinishLogin(const LoginProvider& provider, const BegunLogin& login, const CodeAnswer& answer,
                         const std::string& old_key, std::shared_ptr<Exchange> exchange) {
  std::shared_ptr<CallPlaces::Place> place = places_.Take("");
  if (place == nullptr) {
    return exchange->Respond(LoginFailed(kTooBusy, absl::ResourceExhaustedError("too many calls at a time")));
  }
  const absl::StatusOr<oidc::Tokens> tokens = RedeemCode(provider, login, RedirectAddress(), answer);
  if (!tokens.ok()) return exchange->Respond(LoginFailed(IssuersReason(tokens.status()), tokens.status()));
  Session session{.principal = {},
                  .credential = {.kind = Credential::Kind::kLogin, .text = tokens->token},
                  .issuer = provider.alias,
                  .refresh_token = tokens->refresh_token};
  BeginFor(std::move(session), old_key, std::move(place), *exchange,
           [this, exchange, return_to = login.return_to](const absl::StatusOr<std::string>& id) {
             if (!id.ok()) return exchange->Respond(LoginFailed(ServersReason(id.status()), id.status()));
             HttpResponse response = ToPage(return_to);
             response.headers.emplace_back("Set-Cookie", SetCookie(CookieName(), *id, CookieSeconds()));
             response.headers.emplace_back("Set-Cookie", SetCookie(LoginCookieName(), "", 0));
             exchange->Respond(std::move(response));
           });
}

void SignIn::End(const HttpRequest& request, std::shared_ptr<Exchange> exchange) {
  sessions_.End(KeyOf(request));
  HttpResponse response = JsonResponse(200, "{}");
  response.headers.emplace_back("Set-Cookie", SetCookie(CookieName(), "", 0));
  exchange->Respond(std::move(response));
}

}  // namespace curator::gate
