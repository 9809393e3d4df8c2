// `curator login` and `curator logout`: a token of the user's identity provider, kept for later commands.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/login/device_flow.h"
#include "client/cli/login/login_state.h"
#include "client/cli/output/document.h"
#include "client/cli/token_source.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct LogInCommand {
  LoginPlace place{.issuer = {}, .client_id = {}, .scope = {}};  // what is empty the server says
  std::string issuer_authorities;
  bool is_fresh = false;
};

struct LogOutCommand {};

absl::StatusOr<LoginState> StateOfUser() {
  std::optional<LoginState> state = LoginState::OfUser();
  if (state.has_value()) return *std::move(state);
  return absl::FailedPreconditionError("a login is kept below HOME or XDG_STATE_HOME, and neither is set");
}

// What the user has not chosen, as the server has it.
absl::StatusOr<LoginPlace> PlaceOf(const Session& session, const LoginPlace& chosen) {
  const LoginPlace otherwise;
  LoginPlace place = chosen;
  if (place.client_id.empty()) {
    ASSIGN_OR_RETURN(const v1::GetVersionResponse server, session.client.GetVersion());
    const v1::LoginPlace* found = nullptr;
    for (const v1::LoginPlace& each : server.logins()) {
      if (!chosen.issuer.empty() && each.issuer() != chosen.issuer) continue;
      if (found != nullptr) {
        return absl::InvalidArgumentError("the server has several issuers: name one by --issuer");
      }
      found = &each;
    }
    if (found == nullptr) {
      return absl::FailedPreconditionError(
          "the server does not say where to log in: name it by --issuer and --client-id");
    }
    place.issuer = found->issuer();
    place.client_id = found->client_id();
    if (place.scope.empty()) place.scope = found->scope();
  }
  if (place.scope.empty()) place.scope = otherwise.scope;
  return place;
}

// Else whoever answers there would choose where to log in.
absl::Status CheckTakesTokens(const std::string& server) {
  if (client::TakesTokens(server)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "server: a login is for a server over TLS (https://HOST) or on a unix socket (unix:/PATH); a server in "
      "development mode believes any name (--as)");
}

// Before the user goes to the browser.
absl::Status CheckCanKeep(const LoginState& state, const std::string& server) {
  return state.Update(server, [](std::optional<Login>&) { return absl::OkStatus(); });
}

// Later commands may run in another folder.
std::string WholePathOf(const std::string& path) {
  if (path.empty()) return path;
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.string();
}

// What the user has to know of a login that should be fresh; empty where it is.
std::string RemarkOnFreshLogin(std::optional<absl::Time> logged_in, absl::Time asked_at) {
  constexpr absl::Duration kLeeway = absl::Minutes(1);
  if (!logged_in.has_value()) {
    return "the issuer does not say when you logged in (auth_time): its administrator can add that to ID "
           "tokens";
  }
  if (*logged_in >= asked_at - kLeeway) return "";
  return "the issuer has kept your earlier login: log out there in the browser, and run this again";
}

absl::Status Run(Session& session, const LogInCommand& command) {
  ASSIGN_OR_RETURN(const LoginState state, StateOfUser());
  RETURN_IF_ERROR(CheckTakesTokens(session.server));
  RETURN_IF_ERROR(CheckCanKeep(state, session.server));
  ASSIGN_OR_RETURN(const LoginPlace place, PlaceOf(session, command.place));
  const std::string authorities = WholePathOf(command.issuer_authorities);
  const absl::Time asked_at = absl::Now();
  ASSIGN_OR_RETURN(Tokens tokens, LogIn(place, PartsOfLogin(authorities, session.error),
                                        command.is_fresh ? Freshness::kFresh : Freshness::kAsBefore));
  const std::string remark = command.is_fresh ? RemarkOnFreshLogin(LoginTimeIn(tokens.token), asked_at) : "";
  RETURN_IF_ERROR(state.Keep(
      session.server, {.place = place, .issuer_authorities = authorities, .tokens = std::move(tokens)}));
  Document document;
  document.fields = {{"server", "server", session.server},
                     {"issuer", "issuer", place.issuer},
                     {"kept_in", "kept in", state.path()}};
  document.notes.emplace_back("curator whoami shows who you are to the server");
  if (!remark.empty()) document.notes.push_back(remark);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const LogOutCommand&) {
  ASSIGN_OR_RETURN(const LoginState state, StateOfUser());
  ASSIGN_OR_RETURN(const bool was_there, state.Forget(session.server));
  Document document;
  document.fields = {{"server", "server", session.server}, {"logged_out", "logged out", was_there}};
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddLoginCommands(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<LogInCommand>();
  CLI::App* const command = AddCommand(app, "login", "Log in at your identity provider, in any browser",
                                       "curator --server https://curator.example login");
  CLI::Option* const issuer =
      command->add_option("--issuer", options->place.issuer, "Where, if the server has several")
          ->type_name("URL");
  command->add_option("--client-id", options->place.client_id, "As which client of the issuer")
      ->needs(issuer);
  command->add_flag("--fresh", options->is_fresh,
                    "Log in anew, also if you are logged in at the issuer: for approvals that need it");
  command->add_option("--scope", options->place.scope, "What to ask for; default: as the server says");
  command
      ->add_option("--issuer-ca", options->issuer_authorities,
                   "Who signed the issuer's certificate, in PEM; else the system's")
      ->type_name("FILE");
  Choose(command, options, chosen);
  Choose(AddCommand(app, "logout", "Forget the login at this server", "curator logout"),
         std::make_shared<LogOutCommand>(), chosen);
}

}  // namespace curator::cli
