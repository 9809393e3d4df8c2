// Requests of browsers to the gate, in front of a server that answers everything: a first line "METHOD
// TARGET", headers, an empty line, a body. {COOKIE} and {CSRF} in them are those of a session that is signed
// in. Whatever comes, there is one answer, with the content policy; what is below /api/v1 is answered in
// JSON; and no answer has the session's token.
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "client/gate/gate.h"
#include "client/gate/testing/fake_browser.h"
#include "client/testing/fake_server.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

using gate::testing::FakeExchange;

constexpr char kToken[] = "the-token-that-no-page-sees";
constexpr char kOrigin[] = "https://curator.example";

// An identity provider that refuses everything.
gate::LoginProvider Provider() {
  return {.alias = "corp",
          .issuer = "https://idp.example",
          .client_id = "gate",
          .transport = {
              .get = [](const std::string&) -> absl::StatusOr<https::Response> {
                return https::Response{
                    .status = 200,
                    .body = R"({"issuer": "https://idp.example", "token_endpoint": "https://idp.example/t",
                                          "authorization_endpoint": "https://idp.example/a"})"};
              },
              .post = [](const std::string&, const https::Fields&) -> absl::StatusOr<https::Response> {
                return https::Response{.status = 400, .body = R"({"error": "invalid_grant"})"};
              }}};
}

// One gate for all inputs, with a session.
struct SignedIn {
  SignedIn() : gate({.server = server.address(), .origins = {kOrigin}, .providers = {Provider()}}) {
    server.services.on_who_am_i = [](auto&, const auto&, v1::WhoAmIResponse& response) {
      response.mutable_principal()->set_name("ana");
      return grpc::Status::OK;
    };
    server.services.on_get_version = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
    server.services.on_get_budget = [](auto&, const auto&, auto&) { return grpc::Status::OK; };
    server.services.on_list_entries = [](auto&, const auto&, auto& writer) {
      writer.Write(v1::LedgerEntry());
      return grpc::Status::OK;
    };
    SignIn();
  }

  void SignIn() {
    const auto exchange = std::make_shared<FakeExchange>();
    gate.HandleBrowser(
        {.method = "POST",
         .path = "/auth/login",
         .headers = {{"host", "curator.example"}, {"origin", kOrigin}, {"content-type", "application/json"}},
         .body = nlohmann::json{{"token", kToken}}.dump()},
        exchange);
    const gate::HttpResponse response = exchange->Await();
    const std::string set = gate::testing::HeaderOf(response, "Set-Cookie");
    cookie = set.substr(0, set.find(';'));
    csrf = gate::testing::JsonOf(response).value("csrf", "");
    if (csrf.empty()) Broken("a token begins a session", response.body);
  }

  client::testing::FakeServer server;
  gate::Gate gate;
  std::string cookie;
  std::string csrf;
};

// None for what is no request.
std::optional<gate::HttpRequest> RequestOf(std::string_view text) {
  gate::HttpRequest request;
  const size_t end = text.find('\n');
  const std::string_view first = text.substr(0, end);
  const size_t blank = first.find(' ');
  if (end == std::string_view::npos || blank == std::string_view::npos) return std::nullopt;
  request.method = first.substr(0, blank);
  const std::string_view target = first.substr(blank + 1);
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  text.remove_prefix(end + 1);
  while (!text.empty() && text.front() != '\n') {
    const size_t line_end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, line_end);
    const size_t colon = std::min(line.find(':'), line.size());
    request.headers.emplace_back(absl::AsciiStrToLower(std::string(line.substr(0, colon))),
                                 std::string(line.substr(std::min(colon + 1, line.size()))));
    text.remove_prefix(std::min(line_end + 1, text.size()));
  }
  request.body = text.empty() ? "" : text.substr(1);
  return request;
}

}  // namespace

std::vector<std::string> Seeds() {
  const std::string page = "host:curator.example\nsec-fetch-site:same-origin\ncookie:{COOKIE}\n";
  const std::string change = page + "content-type:application/json\nx-curator-csrf:{CSRF}\n\n";
  return {
      "GET /\n" + page + "\n",
      "GET /datasets/demo\n" + page + "\n",
      "GET /assets/app.js\n" + page + "\n",
      "GET /api/v1/session\n" + page + "\n",
      "GET /api/v1/events?watch=demo:57,census:0\n" + page + "last-event-id:57.0\n\n",
      "GET /auth/login?issuer=corp&return=%2Finbox&fresh=1\n" + page + "\n",
      "GET /auth/callback?code=abc&state=def\n" + page + "\n",
      "POST /auth/login\n" + change + R"({"token": "another"})",
      "POST /api/v1/BudgetService/GetBudget\n" + change + R"({"dataset": "demo", "with_comparison": true})",
      "POST /api/v1/BudgetService/ListLedgerEntries\n" + change + R"({"dataset": "demo", "newest": 50})",
      "POST /api/v1/QueryService/AnswerWorkload\n" + change +
          R"({"dataset": "demo", "workload": {"query_sets": [{"ranges": {"attributes": ["age"], "boxes": )"
          R"([{"sides": [{"from": 1, "to": "9"}]}]}}]}, "spend": {"rho": "0.01"}})"};
}

bool Try(std::string_view input) {
  static auto* const kSignedIn = new SignedIn;
  const std::string text =
      absl::StrReplaceAll(std::string(input), {{"{COOKIE}", kSignedIn->cookie}, {"{CSRF}", kSignedIn->csrf}});
  const std::optional<gate::HttpRequest> request = RequestOf(text);
  if (!request) return false;
  const auto exchange = std::make_shared<FakeExchange>();
  kSignedIn->gate.HandleBrowser(*request, exchange);
  const gate::HttpResponse response = exchange->Await();
  if (const auto stream = exchange->stream()) stream->Leave();
  if (response.status == 0) Broken("there is an answer", input);
  if (gate::testing::HeaderOf(response, "Content-Security-Policy").empty()) {
    Broken("an answer has the content policy", input);
  }
  const bool is_api = request->path.starts_with("/api/v1/");
  if (is_api && exchange->stream() == nullptr && gate::testing::JsonOf(response).is_discarded()) {
    Broken("an answer of the API is JSON", input);
  }
  if (response.body.find(kToken) != std::string::npos) Broken("no answer has the token", input);
  for (const auto& [name, value] : response.headers) {
    if (value.find(kToken) != std::string::npos) Broken("no header has the token", input);
  }
  if (request->path == "/auth/logout" && response.status == 200) kSignedIn->SignIn();
  if (request->path == "/auth/login" && response.status == 200) kSignedIn->SignIn();
  // A page for any other path is no reason to try more of the kind.
  return is_api && response.status == 200;
}

}  // namespace curator::fuzz
