#include "client/gate/renewals.h"

#include <google/rpc/error_details.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "client/gate/testing/unsigned_token.h"

namespace curator::gate {
namespace {

using testing::UnsignedIdToken;

constexpr char kIssuer[] = "https://idp.example";

absl::Status Refusal(const std::string& reason) {
  google::rpc::ErrorInfo info;
  info.set_domain("curator");
  info.set_reason(reason);
  absl::Status status = absl::UnauthenticatedError("refused");
  status.SetPayload("type.googleapis.com/google.rpc.ErrorInfo", absl::Cord(info.SerializeAsString()));
  return status;
}

class RenewalsTest : public ::testing::Test {
 protected:
  RenewalsTest() {
    key_ = Sessions::KeyOf(*sessions_.Begin({.principal = "ana",
                                             .credential = {Credential::Kind::kLogin, UnsignedIdToken("old")},
                                             .issuer = "corp",
                                             .refresh_token = "first"}));
  }
  ~RenewalsTest() override { workers_.Stop(); }

  absl::StatusOr<https::Response> Answer(const https::Fields& fields) {
    ++asked_;
    may_answer_.WaitForNotification();
    for (const auto& [name, value] : fields) {
      if (name == "refresh_token") used_ += value + " ";
    }
    if (!is_reachable_) return absl::UnavailableError("no connection");
    if (!is_accepted_) return https::Response{.status = 400, .body = R"({"error": "invalid_grant"})"};
    const nlohmann::json answer = {{"id_token", UnsignedIdToken("new")}, {"refresh_token", "second"}};
    return https::Response{.status = 200, .body = answer.dump()};
  }
  bool Renew(const Credential& refused, const std::string& reason) {
    absl::Notification is_done;
    bool renewed = false;
    renewals_.Renew(key_, refused, Refusal(reason), [&](bool was_renewed) {
      renewed = was_renewed;
      is_done.Notify();
    });
    is_done.WaitForNotification();
    return renewed;
  }
  const Credential old_ = {Credential::Kind::kLogin, UnsignedIdToken("old")};

  std::atomic<int> asked_ = 0;
  std::string used_;
  bool is_reachable_ = true;
  bool is_accepted_ = true;
  absl::Notification may_answer_;
  std::string revoked_;
  absl::Notification has_revoked_;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  Sessions sessions_{{}, [this] { return now_; }};
  std::vector<LoginProvider> providers_ = {
      {.alias = "corp",
       .issuer = kIssuer,
       .client_id = "gate",
       .transport = {.get = [](const std::string&) -> absl::StatusOr<https::Response> {
                       return https::Response{
                           .status = 200,
                           .body =
                               R"({"issuer": "https://idp.example", "token_endpoint": "https://idp.example/t",
                             "revocation_endpoint": "https://idp.example/r"})"};
                     },
                     .post = [this](const std::string& url,
                                    const https::Fields& fields) -> absl::StatusOr<https::Response> {
                       if (url == "https://idp.example/t") return Answer(fields);
                       EXPECT_EQ(url, "https://idp.example/r");
                       revoked_ = std::map<std::string, std::string>(fields.begin(), fields.end())["token"];
                       has_revoked_.Notify();
                       return https::Response{.status = 200, .body = ""};
                     }}}};
  IssuerWorkers workers_{{"corp"}, 2, 10};
  Renewals renewals_{sessions_, providers_, workers_};
  std::string key_;
};

TEST_F(RenewalsTest, AnExpiredLoginGetsANewToken) {
  may_answer_.Notify();
  EXPECT_TRUE(Renew(old_, "TOKEN_EXPIRED"));
  EXPECT_EQ(sessions_.Look(key_)->credential.text, UnsignedIdToken("new"));
  EXPECT_EQ(sessions_.Look(key_)->refresh_token, "second");
}

TEST_F(RenewalsTest, CallsThatFindItExpiredAtOnceRenewItOnce) {
  absl::BlockingCounter done(3);
  std::atomic<int> renewed = 0;
  for (int i = 0; i < 3; ++i) {
    renewals_.Renew(key_, old_, Refusal("TOKEN_EXPIRED"), [&](bool was_renewed) {
      renewed += was_renewed ? 1 : 0;
      done.DecrementCount();
    });
  }
  may_answer_.Notify();
  done.Wait();
  EXPECT_EQ(renewed, 3);
  EXPECT_EQ(asked_, 1);
}

TEST_F(RenewalsTest, ACallThatWasMadeBeforeTheRenewalUsesItAndNoRefreshTokenTwice) {
  may_answer_.Notify();
  EXPECT_TRUE(Renew(old_, "TOKEN_EXPIRED"));
  EXPECT_TRUE(Renew(old_, "TOKEN_EXPIRED"));
  EXPECT_EQ(used_, "first ");
}

TEST_F(RenewalsTest, ALoginThatTheIssuerDoesNotRenewEnds) {
  may_answer_.Notify();
  is_accepted_ = false;
  EXPECT_FALSE(Renew(old_, "TOKEN_EXPIRED"));
  EXPECT_FALSE(sessions_.Look(key_));
}

TEST_F(RenewalsTest, WhileTheIssuerCannotBeReachedTheSessionStays) {
  may_answer_.Notify();
  is_reachable_ = false;
  EXPECT_FALSE(Renew(old_, "TOKEN_EXPIRED"));
  EXPECT_TRUE(sessions_.Look(key_));
}

TEST_F(RenewalsTest, ACredentialThatIsRefusedForAnotherReasonEndsItsSession) {
  EXPECT_FALSE(Renew(old_, "CREDENTIAL_REMOVED"));
  EXPECT_FALSE(sessions_.Look(key_));
  EXPECT_EQ(asked_, 0);
}

// An issuer that gives out the same expired token again would else be asked without end.
TEST_F(RenewalsTest, ATokenThatIsRefusedAsSoonAsItWasRenewedEndsItsSession) {
  may_answer_.Notify();
  EXPECT_TRUE(Renew(old_, "TOKEN_EXPIRED"));
  now_ += absl::Seconds(29);
  EXPECT_FALSE(Renew({Credential::Kind::kLogin, UnsignedIdToken("new")}, "TOKEN_EXPIRED"));
  EXPECT_FALSE(sessions_.Look(key_));
  EXPECT_EQ(asked_, 1);
}

TEST_F(RenewalsTest, ARenewedTokenIsRenewedAgainWhenItsTimeIsOver) {
  may_answer_.Notify();
  EXPECT_TRUE(Renew(old_, "TOKEN_EXPIRED"));
  now_ += absl::Minutes(5);
  Renew({Credential::Kind::kLogin, UnsignedIdToken("new")}, "TOKEN_EXPIRED");
  EXPECT_EQ(used_, "first second ");
}

// The server may not have the issuer's newest key yet.
TEST_F(RenewalsTest, ALoginWhoseKeyTheServerDoesNotKnowStays) {
  EXPECT_FALSE(Renew(old_, "TOKEN_INVALID"));
  EXPECT_TRUE(sessions_.Look(key_));
  EXPECT_EQ(asked_, 0);
}

TEST_F(RenewalsTest, AnInvalidApiTokenEndsItsSession) {
  const Credential token = {Credential::Kind::kToken, "cura_removed"};
  key_ = Sessions::KeyOf(*sessions_.Begin({.principal = "ana", .credential = token}));
  EXPECT_FALSE(Renew(token, "TOKEN_INVALID"));
  EXPECT_FALSE(sessions_.Look(key_));
}

TEST_F(RenewalsTest, ASessionThatEndsRevokesItsRefreshToken) {
  sessions_.OnEnd([this](const std::string&, const Session& session) { renewals_.Forget(session); });
  sessions_.End(key_);
  EXPECT_TRUE(has_revoked_.WaitForNotificationWithTimeout(absl::Seconds(20)));
  EXPECT_EQ(revoked_, "first");
}

TEST_F(RenewalsTest, WhatWaitsAtTheEndIsAnswered) {
  std::atomic<int> answered = 0;
  renewals_.Renew(key_, old_, Refusal("TOKEN_EXPIRED"), [&](bool) { ++answered; });
  may_answer_.Notify();
  workers_.Stop();
  renewals_.Close();
  EXPECT_EQ(answered, 1);
}

}  // namespace
}  // namespace curator::gate
