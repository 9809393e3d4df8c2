// The gate between a fake browser and a fake server.
#include "client/gate/gate.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/gate/testing/fake_browser.h"
#include "client/testing/fake_server.h"

namespace curator::gate {
namespace {

using client::testing::FakeServer;
using client::testing::FakeServices;
using ::testing::AllOf;
using testing::FakeExchange;
using testing::FakeStream;
using ::testing::HasSubstr;
using testing::HeaderOf;
using testing::JsonOf;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kHost[] = "127.0.0.1:7880";

// One name of a call's metadata; empty where it has none.
std::string MetadataOf(const grpc::ServerContext& context, const char* name) {
  const auto found = context.client_metadata().find(name);
  return found == context.client_metadata().end() ? ""
                                                  : std::string(found->second.data(), found->second.size());
}

class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    server_.emplace();
    FakeServices& services = server_->services;
    services.on_who_am_i = [](grpc::ServerContext& context, const auto&, v1::WhoAmIResponse& response) {
      const std::string name = MetadataOf(context, "curator-principal");
      const std::string token = MetadataOf(context, "authorization");
      if (name.empty() && token != "Bearer good") {
        return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "no such token");
      }
      response.mutable_principal()->set_name(name.empty() ? "olga" : name);
      return grpc::Status::OK;
    };
    services.on_get_version = [](auto&, const auto&, v1::GetVersionResponse& response) {
      response.set_version("9.9");
      return grpc::Status::OK;
    };
    services.on_get_budget = [this](grpc::ServerContext& context, const v1::GetBudgetRequest& request,
                                    v1::GetBudgetResponse& response) {
      callers_.Add(MetadataOf(context, "curator-principal") + MetadataOf(context, "authorization") + " " +
                   request.dataset());
      response.set_protects("one record");
      return grpc::Status::OK;
    };
    StartGate(/*is_development=*/true);
  }
  ~GateTest() override { gate_.reset(); }

  void StartGate(bool is_development) {
    gate_.reset();
    gate_.emplace(
        GateOptions{.server = server_->address(),
                    .origins = {is_development ? absl::StrCat("http://", kHost) : "https://curator.example"},
                    .is_development = is_development});
    host_ = is_development ? kHost : "curator.example";
  }

  HttpRequest Get(const std::string& target) {
    const size_t question = target.find('?');
    HttpRequest request{.method = "GET",
                        .path = target.substr(0, question),
                        .query = question == std::string::npos ? "" : target.substr(question + 1),
                        .headers = {{"host", host_}, {"sec-fetch-site", "same-origin"}}};
    if (!cookie_.empty()) request.headers.emplace_back("cookie", cookie_);
    return request;
  }
  HttpRequest Post(const std::string& path, const std::string& body) {
    HttpRequest request = Get(path);
    request.method = "POST";
    request.body = body;
    request.headers.emplace_back("content-type", "application/json");
    if (!csrf_.empty()) request.headers.emplace_back("x-curator-csrf", csrf_);
    return request;
  }
  HttpResponse Ask(HttpRequest request) {
    const auto exchange = std::make_shared<FakeExchange>();
    gate_->HandleBrowser(std::move(request), exchange);
    return exchange->Await();
  }
  HttpResponse SignIn(const std::string& body) {
    HttpResponse response = Ask(Post("/auth/login", body));
    const std::string cookie = HeaderOf(response, "Set-Cookie");
    if (response.status == 200) {
      cookie_ = cookie.substr(0, cookie.find(';'));
      csrf_ = JsonOf(response).value("csrf", "");
    }
    return response;
  }
  std::shared_ptr<FakeStream> Follow(const std::string& watch, const std::string& last_id = "") {
    HttpRequest request = Get("/api/v1/events?watch=" + watch);
    if (!last_id.empty()) request.headers.emplace_back("last-event-id", last_id);
    const auto exchange = std::make_shared<FakeExchange>();
    gate_->HandleBrowser(std::move(request), exchange);
    exchange->Await();
    return exchange->stream();
  }

  client::testing::Log callers_;
  std::optional<FakeServer> server_;
  std::optional<Gate> gate_;
  std::string host_;
  std::string cookie_;
  std::string csrf_;
};

TEST_F(GateTest, EveryAnswerHasTheContentPolicy) {
  for (const char* path : {"/", "/api/v1/session", "/api/v1/nothing", "/assets/none.js"}) {
    const HttpResponse response = Ask(Get(path));
    EXPECT_THAT(HeaderOf(response, "Content-Security-Policy"),
                AllOf(StartsWith("default-src 'none'"), HasSubstr("require-trusted-types-for 'script'")))
        << path;
    EXPECT_EQ(HeaderOf(response, "X-Content-Type-Options"), "nosniff") << path;
  }
}

TEST_F(GateTest, PathsOfPagesGetThePageAndMissingFilesDoNot) {
  EXPECT_THAT(Ask(Get("/datasets/demo")).body, HasSubstr("<!doctype html>"));
  EXPECT_EQ(Ask(Get("/assets/none.js")).status, 404);
}

TEST_F(GateTest, ANameIsASessionInDevelopmentAlone) {
  EXPECT_EQ(SignIn(R"({"name": "ana"})").status, 200);
  EXPECT_EQ(JsonOf(Ask(Get("/api/v1/session")))["principal"], "ana");
  StartGate(/*is_development=*/false);
  cookie_.clear();
  const HttpResponse response = SignIn(R"({"name": "ana"})");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(HeaderOf(response, "Set-Cookie"), "");
}

TEST_F(GateTest, AnApiTokenIsASessionOfItsPrincipal) {
  StartGate(/*is_development=*/false);
  EXPECT_EQ(SignIn(R"({"token": "bad"})").status, 401);
  const HttpResponse response = SignIn(R"({"token": "good"})");
  EXPECT_EQ(JsonOf(response)["principal"], "olga");
  EXPECT_THAT(HeaderOf(response, "Set-Cookie"),
              AllOf(StartsWith("__Host-curator="), HasSubstr("; Secure"), HasSubstr("; HttpOnly"),
                    HasSubstr("; SameSite=Lax"), HasSubstr("; Path=/")));
  EXPECT_THAT(response.body, Not(HasSubstr("good"))) << "no script sees the token";
}

TEST_F(GateTest, TextThatNoHeaderCarriesIsNoCredential) {
  for (const char* body : {R"({"name": "a\nb"})", R"({"name": "ä"})", R"({"name": ""})", R"({"name": 5})",
                           "{}", "[]", "", R"({"name": "a", "token": "b"})"}) {
    EXPECT_EQ(SignIn(body).status, 400) << body;
  }
}

TEST_F(GateTest, ALoginHasABoundedBody) {
  const std::string longest = R"({"token": ")" + std::string(16'384 - 13, ' ') + "\"}";
  EXPECT_EQ(SignIn(longest).status, 400) << "no token has spaces";
  const HttpResponse response = SignIn(longest + " ");
  EXPECT_EQ(response.status, 413);
  EXPECT_THAT(response.body, HasSubstr("at most 16384 bytes"));
}

TEST_F(GateTest, SigningInAgainEndsTheEarlierSession) {
  SignIn(R"({"name": "ana"})");
  const std::string earlier = cookie_;
  SignIn(R"({"name": "bob"})");
  EXPECT_NE(cookie_, earlier);
  cookie_ = earlier;
  EXPECT_EQ(JsonOf(Ask(Get("/api/v1/session")))["signed_in"], false);
}

TEST_F(GateTest, ACallIsMadeAsTheSessionsPrincipal) {
  SignIn(R"({"name": "ana"})");
  const HttpResponse response = Ask(Post("/api/v1/BudgetService/GetBudget", R"({"dataset": "demo"})"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(JsonOf(response)["protects"], "one record");
  EXPECT_EQ(JsonOf(response)["accounts"], nlohmann::json::array()) << "empty fields are there, too";
  EXPECT_THAT(callers_.entries(), ::testing::ElementsAre("ana demo"));
}

TEST_F(GateTest, WithoutASessionNothingIsAskedOfTheServer) {
  const HttpResponse response = Ask(Post("/api/v1/BudgetService/GetBudget", R"({"dataset": "demo"})"));
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(JsonOf(response)["reason"], "NO_SESSION");
  EXPECT_EQ(Ask(Get("/api/v1/events?watch=demo:0")).status, 401);
  EXPECT_TRUE(callers_.entries().empty());
}

TEST_F(GateTest, ACallWithoutTheSessionsSecretIsRefused) {
  SignIn(R"({"name": "ana"})");
  csrf_ = "guessed";
  const HttpResponse response = Ask(Post("/api/v1/BudgetService/GetBudget", R"({"dataset": "demo"})"));
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(JsonOf(response)["reason"], "CSRF");
  EXPECT_TRUE(callers_.entries().empty());
}

TEST_F(GateTest, AChangeByGetIsRefused) {
  SignIn(R"({"name": "ana"})");
  EXPECT_EQ(Ask(Get("/api/v1/BudgetService/ApproveLimitChange?dataset=demo")).status, 405);
  EXPECT_EQ(Ask(Get("/auth/logout")).status, 200) << "a page, and no end of the session";
  EXPECT_EQ(JsonOf(Ask(Get("/api/v1/session")))["signed_in"], true);
}

TEST_F(GateTest, CallsThatAreNotOnTheListDoNotExist) {
  SignIn(R"({"name": "ana"})");
  EXPECT_EQ(Ask(Post("/api/v1/OwnerService/RowCounts", "{}")).status, 404);
  EXPECT_EQ(Ask(Post("/api/v1/../BudgetService/GetBudget", "{}")).status, 404);
}

TEST_F(GateTest, ABodyThatIsNoRequestNamesTheField) {
  SignIn(R"({"name": "ana"})");
  for (const char* body : {R"({"datset": "demo"})", "{", "", "5", R"({"dataset": 7})"}) {
    EXPECT_EQ(Ask(Post("/api/v1/BudgetService/GetBudget", body)).status, 400) << body;
  }
  EXPECT_THAT(Ask(Post("/api/v1/BudgetService/GetBudget", R"({"datset": "demo"})")).body,
              HasSubstr("datset"));
  EXPECT_TRUE(callers_.entries().empty());
}

TEST_F(GateTest, AnErrorOfTheServerComesWithItsDetails) {
  server_->services.on_get_budget = [](auto&, const auto&, auto&) {
    google::rpc::ErrorInfo info;
    info.set_domain("curator");
    info.set_reason("LOGIN_TOO_OLD");
    (*info.mutable_metadata())["max_age_seconds"] = "600";
    return client::testing::DetailedError(grpc::StatusCode::PERMISSION_DENIED, "log in again", {&info});
  };
  SignIn(R"({"name": "ana"})");
  const HttpResponse response = Ask(Post("/api/v1/BudgetService/GetBudget", "{}"));
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(JsonOf(response)["code"], "PERMISSION_DENIED");
  EXPECT_EQ(JsonOf(response)["reason"], "LOGIN_TOO_OLD");
  EXPECT_EQ(JsonOf(response)["metadata"]["max_age_seconds"], "600");
}

TEST_F(GateTest, AStreamIsAnArrayOfItsMessages) {
  server_->services.on_list_entries = [](auto&, const auto&, auto& writer) {
    for (int64_t i = 1; i <= 3; ++i) {
      v1::LedgerEntry entry;
      entry.set_sequence(i);
      writer.Write(entry);
    }
    return grpc::Status::OK;
  };
  SignIn(R"({"name": "ana"})");
  const auto json = JsonOf(Ask(Post("/api/v1/BudgetService/ListLedgerEntries", R"({"dataset": "demo"})")));
  EXPECT_EQ(json["messages"].size(), 3U);
  EXPECT_EQ(json["messages"][2]["sequence"], "3") << "64 bits are no number of JavaScript's";
  EXPECT_EQ(json["truncated"], false);
}

TEST_F(GateTest, AStreamIsCutOffBeforeItIsTooLong) {
  server_->services.on_list_entries = [](auto& context, const auto&, auto& writer) {
    v1::LedgerEntry entry;
    entry.set_summary(std::string(100'000, 'x'));
    int64_t written = 0;
    while (!context.IsCancelled() && writer.Write(entry)) ++written;
    return grpc::Status::CANCELLED;
  };
  SignIn(R"({"name": "ana"})");
  const HttpResponse response =
      Ask(Post("/api/v1/BudgetService/ListLedgerEntries", R"({"dataset": "demo"})"));
  EXPECT_EQ(JsonOf(response)["truncated"], true);
  EXPECT_LE(response.body.size(), kMostJsonBytes + 100);
  EXPECT_GT(response.body.size(), kMostJsonBytes / 2);
}

TEST_F(GateTest, WhenTheBrowserLeavesTheCallIsCancelled) {
  absl::Notification is_asked;
  absl::Notification is_cancelled;
  server_->services.on_get_budget = [&](grpc::ServerContext& context, const auto&, auto&) {
    is_asked.Notify();
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    is_cancelled.Notify();
    return grpc::Status::CANCELLED;
  };
  SignIn(R"({"name": "ana"})");
  const auto exchange = std::make_shared<FakeExchange>();
  gate_->HandleBrowser(Post("/api/v1/BudgetService/GetBudget", "{}"), exchange);
  is_asked.WaitForNotification();
  exchange->Leave();
  EXPECT_TRUE(is_cancelled.WaitForNotificationWithTimeout(testing::kPatience));
}

TEST_F(GateTest, OnePrincipalHasItsCallsAtATimeInAllItsSessions) {
  absl::Notification go_on;
  server_->services.on_get_budget = [&](auto&, const auto&, auto&) {
    go_on.WaitForNotification();
    return grpc::Status::OK;
  };
  SignIn(R"({"name": "ana"})");
  std::vector<std::shared_ptr<FakeExchange>> exchanges;
  for (int i = 0; i < CallPlaces::kMostOfOne; ++i) {
    if (i == CallPlaces::kMostOfOne / 2) {
      cookie_.clear();
      SignIn(R"({"name": "ana"})");
    }
    exchanges.push_back(std::make_shared<FakeExchange>());
    gate_->HandleBrowser(Post("/api/v1/BudgetService/GetBudget", "{}"), exchanges.back());
  }
  const HttpResponse refused = Ask(Post("/api/v1/BudgetService/GetBudget", "{}"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(JsonOf(refused)["reason"], "TOO_MANY_CALLS");
  go_on.Notify();
  for (const auto& exchange : exchanges) EXPECT_EQ(exchange->Await().status, 200);
  exchanges.clear();  // the answers, which hold the places until they are taken
  EXPECT_EQ(Ask(Post("/api/v1/BudgetService/GetBudget", "{}")).status, 200);
}

TEST_F(GateTest, ASessionWhoseCredentialIsRefusedEnds) {
  SignIn(R"({"name": "ana"})");
  server_->services.on_get_budget = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "the token was revoked");
  };
  const HttpResponse response = Ask(Post("/api/v1/BudgetService/GetBudget", "{}"));
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(JsonOf(response)["reason"], "NO_SESSION");
  EXPECT_EQ(JsonOf(Ask(Get("/api/v1/session")))["signed_in"], false);
}

TEST_F(GateTest, ALostServerIsSaidAndTheSessionStays) {
  SignIn(R"({"name": "ana"})");
  server_.reset();
  const HttpResponse response = Ask(Post("/api/v1/BudgetService/GetBudget", "{}"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(JsonOf(response)["reason"], "UNREACHABLE");
  const auto session = JsonOf(Ask(Get("/api/v1/session")));
  EXPECT_EQ(session["signed_in"], true);
  EXPECT_EQ(session["server"], nullptr);
}

TEST_F(GateTest, LoggingOutEndsTheSessionAndItsStreams) {
  server_->services.on_watch_ledger = [](grpc::ServerContext& context, const auto&, auto&) {
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    return grpc::Status::CANCELLED;
  };
  SignIn(R"({"name": "ana"})");
  const std::shared_ptr<FakeStream> stream = Follow("demo:0");
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(Ask(Post("/auth/logout", "{}")).status, 200);
  EXPECT_TRUE(stream->AwaitClosed());
  EXPECT_THAT(stream->AwaitText("signed_out"), HasSubstr("event: signed_out"));
  EXPECT_EQ(JsonOf(Ask(Get("/api/v1/session")))["signed_in"], false);
}

HttpRequest LocalGet(const std::string& path, const std::string& authorization = "") {
  HttpRequest request{.method = "GET", .path = path, .headers = {{"host", "127.0.0.1:9187"}}};
  if (!authorization.empty()) request.headers.emplace_back("authorization", authorization);
  return request;
}

TEST_F(GateTest, MetricsAreThoseOfTheServerAndTheGatesOwn) {
  server_->services.on_get_metrics = [this](grpc::ServerContext& context, const auto&,
                                            v1::GetMetricsResponse& response) {
    callers_.Add(MetadataOf(context, "authorization"));
    response.set_text("curator_build_info 1\n");
    return grpc::Status::OK;
  };
  StartGate(/*is_development=*/false);
  const auto exchange = std::make_shared<FakeExchange>();
  gate_->HandleLocal(LocalGet("/metrics", "Bearer scraper"), exchange);
  EXPECT_THAT(exchange->Await().body,
              AllOf(HasSubstr("curator_build_info 1\n"), HasSubstr("\ncurator_gate_sessions 0\n"),
                    HasSubstr("\ncurator_gate_server_reachable 1\n")));
  EXPECT_THAT(callers_.entries(), ::testing::ElementsAre("Bearer scraper"));
}

TEST_F(GateTest, WithoutTheServerTheGatesOwnMetricsAreThere) {
  server_.reset();
  const auto exchange = std::make_shared<FakeExchange>();
  gate_->HandleLocal(LocalGet("/metrics"), exchange);
  const HttpResponse response = exchange->Await();
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, AllOf(HasSubstr("\ncurator_gate_sessions 0\n"),
                                   HasSubstr("\ncurator_gate_server_reachable 0\n")));
}

TEST_F(GateTest, MetricsAreRefusedToWhoeverMayNotReadThem) {
  server_->services.on_get_metrics = [](auto&, const auto&, auto&) {
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "for operators");
  };
  const auto exchange = std::make_shared<FakeExchange>();
  gate_->HandleLocal(LocalGet("/metrics"), exchange);
  EXPECT_EQ(exchange->Await().status, 403);
}

TEST_F(GateTest, APageThatGivesThisHostAnotherNameReadsNoMetrics) {
  for (const char* host : {"evil.example", "evil.example:9187", "127.0.0.1.evil.example", ""}) {
    HttpRequest request = LocalGet("/metrics");
    request.headers[0].second = host;
    const auto exchange = std::make_shared<FakeExchange>();
    gate_->HandleLocal(request, exchange);
    EXPECT_EQ(exchange->Await().status, 403) << host;
  }
}

TEST_F(GateTest, BrowsersHaveNoMetrics) {
  EXPECT_THAT(Ask(Get("/metrics")).body, HasSubstr("<!doctype html>"));
}

TEST_F(GateTest, TheHealthIsThatOfTheWayToTheServer) {
  const auto ask = [&] {
    const auto exchange = std::make_shared<FakeExchange>();
    gate_->HandleLocal(LocalGet("/healthz"), exchange);
    return exchange->Await().status;
  };
  EXPECT_EQ(ask(), 200);
  server_.reset();
  EXPECT_EQ(ask(), 503);
}

// A server that takes connections and says nothing.
class SilentServer {
 public:
  SilentServer() {
    sockaddr_in name = {.sin_family = AF_INET, .sin_port = 0};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_EQ(listen(descriptor_, 16), 0);
    socklen_t size = sizeof(name);
    EXPECT_EQ(getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &size), 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(name.sin_port));
  }
  ~SilentServer() { close(descriptor_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  const std::string& address() const { return address_; }

 private:
  const int descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
  std::string address_;
};

TEST(SilentServerTest, TheHealthOfAServerThatSaysNothingIsKnownInTime) {
  const SilentServer server;
  Gate gate({.server = server.address(),
             .origins = {"https://curator.example"},
             .longest_for_operators = absl::Milliseconds(100)});
  for (const char* path : {"/healthz", "/metrics"}) {
    const auto exchange = std::make_shared<FakeExchange>();
    gate.HandleLocal(LocalGet(path), exchange);
    EXPECT_EQ(exchange->Await().status, std::string(path) == "/healthz" ? 503 : 200) << path;
  }
}

TEST(SilentServerTest, AProgramThatLeavesEndsItsCallAndGivesItsPlaceBack) {
  const SilentServer server;
  Gate gate({.server = server.address(),
             .origins = {"https://curator.example"},
             .longest_for_operators = absl::Hours(1)});
  for (int i = 0; i < 2 * CallPlaces::kMostOfOne; ++i) {
    const auto exchange = std::make_shared<FakeExchange>();
    gate.HandleLocal(LocalGet("/healthz"), exchange);
    exchange->Leave();
    EXPECT_EQ(exchange->Await().status, 503) << i;
  }
}

TEST(SilentServerTest, OperatorsProgramsHaveABoundedNumberOfCalls) {
  const SilentServer server;
  Gate gate({.server = server.address(),
             .origins = {"https://curator.example"},
             .longest_for_operators = absl::Hours(1)});
  for (int i = 0; i < CallPlaces::kMostOfOne; ++i) {
    gate.HandleLocal(LocalGet("/healthz"), std::make_shared<FakeExchange>());
  }
  const auto exchange = std::make_shared<FakeExchange>();
  gate.HandleLocal(LocalGet("/healthz"), exchange);
  EXPECT_EQ(exchange->Await().status, 429);
}

// ---- Events

v1::LedgerEntry EntryOf(const std::string& dataset, int64_t sequence) {
  v1::LedgerEntry entry;
  entry.set_dataset(dataset);
  entry.set_sequence(sequence);
  return entry;
}

// A server whose history of "demo" has `entries` entries and grows on demand.
class GateEventsTest : public GateTest {
 protected:
  GateEventsTest() {
    server_->services.on_watch_ledger =
        [this](grpc::ServerContext& context, const v1::WatchLedgerRequest& request,
               grpc::ServerWriter<v1::LedgerEntry>& writer) { return Watch(context, request, writer); };
    SignIn(R"({"name": "ana"})");
  }
  // Calls of Watch() that are under way use what is below.
  ~GateEventsTest() override {
    gate_.reset();
    server_.reset();
  }

  grpc::Status Watch(grpc::ServerContext& context, const v1::WatchLedgerRequest& request,
                     grpc::ServerWriter<v1::LedgerEntry>& writer) {
    writer.SendInitialMetadata();
    watches_.Add(request.ShortDebugString());
    std::map<std::string, int64_t> sent;
    for (const v1::LedgerPosition& position : request.positions()) {
      sent[position.dataset()] = position.after_sequence();
      if (position.dataset() != "secret" || is_open_) continue;
      google::rpc::ErrorInfo info;
      info.set_domain("curator");
      info.set_reason("NOT_FOUND");
      (*info.mutable_metadata())["dataset"] = "secret";
      return client::testing::DetailedError(code_of_secret_, "no dataset secret", {&info});
    }
    while (!context.IsCancelled() && !is_ending_) {
      for (auto& [dataset, sequence] : sent) {
        while (sequence < entries_) writer.Write(EntryOf(dataset, ++sequence));
      }
      absl::SleepFor(absl::Milliseconds(2));
    }
    return is_ending_ ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "stopping") : grpc::Status::CANCELLED;
  }

  client::testing::Log watches_;
  std::atomic<int64_t> entries_ = 2;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> is_open_ = false;  // whether "secret" may be read
  std::atomic<grpc::StatusCode> code_of_secret_ = grpc::StatusCode::NOT_FOUND;
};

TEST_F(GateEventsTest, EntriesAfterThePositionAreSentInOrderAndThenNewOnes) {
  const auto stream = Follow("demo:1");
  EXPECT_THAT(
      stream->AwaitText("\"sequence\":\"2\""),
      AllOf(HasSubstr("event: state\ndata: {\"state\":\"live\"}\n\n"),
            HasSubstr("event: entry\nid: 2\ndata: {\"dataset\":\"demo\",\"entry\":{\"sequence\":\"2\"")));
  entries_ = 3;
  EXPECT_THAT(stream->AwaitText("id: 3"), AllOf(HasSubstr("id: 3\n"), Not(HasSubstr("id: 1\n"))));
}

TEST_F(GateEventsTest, AResumedStreamGoesOnAfterTheLastId) {
  entries_ = 5;
  const auto stream = Follow("demo:0", "4");
  EXPECT_THAT(stream->AwaitText("id: 5"), AllOf(HasSubstr("id: 5\n"), Not(HasSubstr("id: 4\n"))));
}

TEST_F(GateEventsTest, TwoPagesOfASessionHaveOneWatch) {
  const auto first = Follow("demo:0");
  EXPECT_THAT(first->AwaitText("id: 2"), HasSubstr("id: 2\n"));
  const auto second = Follow("demo:2");
  entries_ = 3;
  EXPECT_THAT(first->AwaitText("id: 3"), HasSubstr("id: 3\n"));
  EXPECT_THAT(second->AwaitText("id: 3"), HasSubstr("id: 3\n"));
  EXPECT_EQ(watches_.entries().size(), 1U);
}

TEST_F(GateEventsTest, APageThatIsBehindGetsWhatItLacksAndTheOtherNothingTwice) {
  const auto first = Follow("demo:0");
  first->AwaitText("id: 2");
  const auto second = Follow("demo:0");
  second->AwaitText("id: 2");
  entries_ = 3;
  second->AwaitText("id: 3");
  const std::string text = first->AwaitText("id: 3");
  const size_t once = text.find("id: 2\n");
  EXPECT_EQ(text.find("id: 2\n", once + 1), std::string::npos);
}

TEST_F(GateEventsTest, AfterTheServerWasLostNoEntryIsMissingOrDoubled) {
  const auto stream = Follow("demo:0");
  stream->AwaitText("id: 2");
  is_ending_ = true;
  stream->AwaitText("reconnecting");
  entries_ = 4;
  is_ending_ = false;
  const std::string text = stream->AwaitText("id: 4");
  for (const char* id : {"id: 1\n", "id: 2\n", "id: 3\n", "id: 4\n"}) {
    const size_t once = text.find(id);
    EXPECT_NE(once, std::string::npos) << id;
    EXPECT_EQ(text.find(id, once + 1), std::string::npos) << id;
  }
}

TEST_F(GateEventsTest, ADatasetThatMayNotBeReadEndsAndTheOthersGoOn) {
  const auto stream = Follow("demo:0,secret:0");
  const std::string text = stream->AwaitText("id: 2.0");
  EXPECT_THAT(text, AllOf(HasSubstr("event: ended\ndata: {\"dataset\":\"secret\",\"code\":\"NOT_FOUND\""),
                          HasSubstr("id: 2.0\n")));
}

TEST_F(GateEventsTest, AfterTheEndOfADatasetItsPageGetsNothingOfItUntilItAsksAgain) {
  const auto stream = Follow("demo:2,secret:0");
  stream->AwaitText("event: ended");
  is_open_ = true;
  const auto another = Follow("demo:2,secret:5");
  entries_ = 7;
  another->AwaitText("id: 7.7");
  const std::string text = stream->AwaitText("id: 7.0");
  EXPECT_THAT(text, AllOf(HasSubstr("id: 7.0\n"), Not(HasSubstr("{\"dataset\":\"secret\",\"entry\""))));
}

TEST_F(GateEventsTest, ADamagedHistoryStopsNoOther) {
  code_of_secret_ = grpc::StatusCode::DATA_LOSS;
  const auto stream = Follow("demo:0,secret:0");
  EXPECT_THAT(stream->AwaitText("id: 2.0"), AllOf(HasSubstr("DATA_LOSS"), HasSubstr("id: 2.0\n")));
}

TEST_F(GateEventsTest, AnErrorOfADatasetThatNobodyWatchesDoesNotBeginTheNextWatchAtOnce) {
  server_->services.on_watch_ledger = [this](auto&, const auto&, auto&) {
    watches_.Add("a watch");
    google::rpc::ErrorInfo info;
    info.set_domain("curator");
    info.set_reason("NOT_FOUND");
    (*info.mutable_metadata())["dataset"] = "elsewhere";
    return client::testing::DetailedError(grpc::StatusCode::NOT_FOUND, "no dataset elsewhere", {&info});
  };
  const auto stream = Follow("demo:0");
  EXPECT_THAT(stream->AwaitText("no dataset elsewhere"), HasSubstr("no dataset elsewhere"));
  EXPECT_EQ(watches_.entries().size(), 1U);
}

TEST_F(GateEventsTest, ARefusedWatchSaysWhy) {
  server_->services.on_watch_ledger = [](auto&, const auto&, auto&) {
    google::rpc::ErrorInfo info;
    info.set_domain("curator");
    info.set_reason("QUOTA");
    return client::testing::DetailedError(grpc::StatusCode::RESOURCE_EXHAUSTED, "four watches are open",
                                          {&info});
  };
  const auto stream = Follow("demo:0");
  EXPECT_THAT(stream->AwaitText("QUOTA"), HasSubstr("four watches are open"));
}

// The end of a session is noticed by the sweep; until then a feed that has to start again must not wait for
// it.
TEST_F(GateEventsTest, AWatchThatEndsAfterItsSessionIsNotStartedAgain) {
  gate_.emplace(GateOptions{.server = server_->address(),
                            .origins = {absl::StrCat("http://", kHost)},
                            .is_development = true,
                            .sessions = {.idle = absl::Milliseconds(300)}});
  SignIn(R"({"name": "ana"})");
  const auto stream = Follow("demo:0");
  stream->AwaitText("id: 2");
  const size_t watches = watches_.entries().size();
  absl::SleepFor(absl::Milliseconds(350));  // the session's time is over
  is_ending_ = true;
  stream->AwaitText("reconnecting");
  is_ending_ = false;
  EXPECT_EQ(Ask(Get("/api/v1/events?watch=demo:0")).status, 401);
  EXPECT_TRUE(stream->AwaitClosed());
  EXPECT_EQ(watches_.entries().size(), watches);
}

TEST_F(GateEventsTest, WhenThePageClosesTheWatchEnds) {
  const auto stream = Follow("demo:0");
  EXPECT_THAT(stream->AwaitText("id: 2"), HasSubstr("id: 2\n"));
  stream->Leave();
  entries_ = 3;
  const auto another = Follow("demo:2");
  EXPECT_THAT(another->AwaitText("id: 3"), HasSubstr("id: 3\n"));
  EXPECT_EQ(watches_.entries().size(), 2U) << "the first watch is not used again";
}

TEST_F(GateEventsTest, APageThatWatchesNothingWaitsForTheEndOfItsSession) {
  const auto stream = Follow("");
  EXPECT_THAT(stream->AwaitText("live"), HasSubstr(R"({"state":"live"})"));
  EXPECT_EQ(Ask(Post("/auth/logout", "{}")).status, 200);
  EXPECT_THAT(stream->AwaitText("signed_out"), HasSubstr("event: signed_out"));
  EXPECT_TRUE(watches_.entries().empty());
}

TEST_F(GateEventsTest, APositionThatIsNoneIsRefused) {
  EXPECT_EQ(Ask(Get("/api/v1/events?watch=demo")).status, 400);
  HttpRequest request = Get("/api/v1/events?watch=demo:0");
  request.headers.emplace_back("last-event-id", "1.2");
  EXPECT_EQ(Ask(std::move(request)).status, 400);
}

TEST_F(GateEventsTest, ASessionHasSixteenOpenPages) {
  std::vector<std::shared_ptr<FakeStream>> streams;
  for (size_t i = 0; i < LedgerFeed::kMostPages; ++i) streams.push_back(Follow("demo:0"));
  EXPECT_EQ(Ask(Get("/api/v1/events?watch=demo:0")).status, 429);
  streams.front()->Leave();
  EXPECT_NE(Follow("demo:0"), nullptr);
}

}  // namespace
}  // namespace curator::gate
