#include "rpc/live_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "base/testing/names.h"

namespace curator::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Says of every caller what the test says.
class SaidAuthenticator final : public Authenticator {
 public:
  absl::StatusOr<Caller> Identify(const grpc::ServerContextBase&) override { return absl::UnknownError(""); }
  absl::StatusOr<Proof> Prove(const grpc::ServerContextBase&) override { return absl::UnknownError(""); }
  absl::Status CheckStill(const Caller& caller) override {
    return caller.principal.name() == "bob" ? of_bob_ : absl::OkStatus();
  }

  absl::Status of_bob_;
};

class LiveCallsTest : public ::testing::Test {
 protected:
  std::unique_ptr<LiveCalls::Entry> Begin(const std::string& name) {
    return calls_.Add(authenticator_, Caller{TestPrincipal(name)},
                      [this, name](const absl::Status&) { revoked_.push_back(name); });
  }

  SaidAuthenticator authenticator_;
  LiveCalls calls_{std::chrono::hours(1)};
  std::vector<std::string> revoked_;
};

TEST_F(LiveCallsTest, EndOnceWhenTheirCallerIsDisabled) {
  const auto of_bob = Begin("bob");
  const auto of_eve = Begin("eve");
  calls_.Check();
  EXPECT_THAT(revoked_, IsEmpty());
  authenticator_.of_bob_ = absl::UnauthenticatedError("disabled");
  calls_.Check();
  calls_.Check();
  EXPECT_THAT(revoked_, ElementsAre("bob"));
}

TEST_F(LiveCallsTest, AreForgottenWhenTheyHaveEnded) {
  auto of_bob = Begin("bob");
  of_bob.reset();
  authenticator_.of_bob_ = absl::UnauthenticatedError("disabled");
  calls_.Check();
  EXPECT_THAT(revoked_, IsEmpty());
}

TEST_F(LiveCallsTest, GoOnWhileTheDirectoryIsUnavailable) {
  const auto of_bob = Begin("bob");
  authenticator_.of_bob_ = absl::UnavailableError("the ledger does not answer");
  calls_.Check();
  EXPECT_THAT(revoked_, IsEmpty());
}

TEST_F(LiveCallsTest, AreCheckedWithoutBeingAsked) {
  LiveCalls checking{std::chrono::milliseconds(5)};
  authenticator_.of_bob_ = absl::UnauthenticatedError("disabled");
  absl::Notification revoked;
  const auto entry = checking.Add(authenticator_, Caller{TestPrincipal("bob")},
                                  [&](const absl::Status&) { revoked.Notify(); });
  EXPECT_TRUE(revoked.WaitForNotificationWithTimeout(absl::Seconds(2)));
}

}  // namespace
}  // namespace curator::rpc
