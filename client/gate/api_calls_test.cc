// Calls of a session whose login has to be renewed.
#include "client/gate/api_calls.h"

#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/gate/testing/fake_browser.h"
#include "client/gate/testing/unsigned_token.h"
#include "client/testing/fake_server.h"

namespace curator::gate {
namespace {

using testing::FakeExchange;
using testing::JsonOf;
using testing::UnsignedIdToken;

grpc::Status Refuse(const std::string& reason) {
  google::rpc::ErrorInfo info;
  info.set_domain("curator");
  info.set_reason(reason);
  return client::testing::DetailedError(grpc::StatusCode::UNAUTHENTICATED, "who are you?", {&info});
}

class ApiCallsTest : public ::testing::Test {
 protected:
  ApiCallsTest() {
    key_ = Sessions::KeyOf(*sessions_.Begin({.principal = "ana",
                                             .credential = {Credential::Kind::kLogin, UnsignedIdToken("old")},
                                             .issuer = "corp",
                                             .refresh_token = "first"}));
    server_.services.on_get_budget = [this](grpc::ServerContext& context, const auto&, auto&) {
      ++asked_;
      const auto found = context.client_metadata().find("authorization");
      const std::string sent(found->second.data(), found->second.size());
      if (sent == absl::StrCat("Bearer ", UnsignedIdToken("old"))) return Refuse(reason_);
      return on_new_token_(context);
    };
  }
  ~ApiCallsTest() override {
    workers_.Stop();
    later_.Stop();
    channels_.Close();
  }

  std::shared_ptr<FakeExchange> Call() {
    const auto exchange = std::make_shared<FakeExchange>();
    calls_.Call("BudgetService/GetBudget", "{}", key_, *sessions_.Look(key_), exchange);
    return exchange;
  }

  std::string reason_ = "TOKEN_EXPIRED";
  std::function<grpc::Status(grpc::ServerContext&)> on_new_token_ = [](auto&) { return grpc::Status::OK; };
  std::atomic<int> asked_ = 0;
  client::testing::FakeServer server_;
  std::vector<LoginProvider> providers_ = {
      {.alias = "corp",
       .issuer = "https://idp.example",
       .client_id = "gate",
       .transport = {
           .get = [](const std::string&) -> absl::StatusOr<https::Response> {
             return https::Response{
                 .status = 200,
                 .body = R"({"issuer": "https://idp.example", "token_endpoint": "https://idp.example/t"})"};
           },
           .post = [](const std::string&, const https::Fields&) -> absl::StatusOr<https::Response> {
             const nlohmann::json answer = {{"id_token", UnsignedIdToken("new")},
                                            {"refresh_token", "second"}};
             return https::Response{.status = 200, .body = answer.dump()};
           }}}};
  Channels channels_{server_.address()};
  Sessions sessions_;
  Workers later_{1, 10};
  IssuerWorkers workers_{{"corp"}, 2, 10};
  CallPlaces places_;
  Renewals renewals_{sessions_, providers_, workers_};
  ApiCalls calls_{channels_, sessions_, renewals_, places_, later_};
  std::string key_;
};

TEST_F(ApiCallsTest, ACallWithAnExpiredLoginIsMadeAgainWithTheRenewedOne) {
  EXPECT_EQ(Call()->Await().status, 200);
  EXPECT_EQ(asked_, 2);
}

TEST_F(ApiCallsTest, WhenTheBrowserLeavesTheCallIsCancelledAfterARenewalToo) {
  absl::Notification is_asked;
  absl::Notification is_cancelled;
  on_new_token_ = [&](grpc::ServerContext& context) {
    is_asked.Notify();
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    is_cancelled.Notify();
    return grpc::Status::CANCELLED;
  };
  const auto exchange = Call();
  is_asked.WaitForNotification();
  exchange->Leave();
  EXPECT_TRUE(is_cancelled.WaitForNotificationWithTimeout(testing::kPatience));
}

TEST_F(ApiCallsTest, ABrowserThatHasLeftBeforeItsCallBeginsCancelsIt) {
  const auto exchange = std::make_shared<FakeExchange>();
  exchange->Leave();
  on_new_token_ = [&](grpc::ServerContext& context) {
    while (!context.IsCancelled()) absl::SleepFor(absl::Milliseconds(5));
    return grpc::Status::CANCELLED;
  };
  calls_.Call("BudgetService/GetBudget", "{}", key_, *sessions_.Look(key_), exchange);
  EXPECT_EQ(exchange->Await().status, 499);
}

TEST_F(ApiCallsTest, ALoginThatIsRefusedAgainAfterItsRenewalEnds) {
  on_new_token_ = [](auto&) { return Refuse("TOKEN_EXPIRED"); };
  const HttpResponse response = Call()->Await();
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(JsonOf(response)["reason"], "NO_SESSION");
  EXPECT_FALSE(sessions_.Look(key_));
  EXPECT_EQ(asked_, 2);
}

TEST_F(ApiCallsTest, ALoginWhoseKeyTheServerDoesNotKnowYetIsRefusedAndStays) {
  reason_ = "TOKEN_INVALID";
  const HttpResponse response = Call()->Await();
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(JsonOf(response)["reason"], "TOKEN_INVALID");
  EXPECT_TRUE(sessions_.Look(key_));
}

TEST_F(ApiCallsTest, ACallWithoutRoomForItsAnswerIsRefused) {
  on_new_token_ = [](auto&) { return grpc::Status::OK; };
  const auto full = places_.Take("ana");
  ASSERT_TRUE(full->Grow(CallPlaces::kMostBytesOfOne));
  EXPECT_EQ(Call()->Await().status, 429);
}

}  // namespace
}  // namespace curator::gate
