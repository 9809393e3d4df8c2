// Where the configuration says so, only who logged in a moment ago approves what another person proposed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/error.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/small_table.h"

namespace curator::testing {
namespace {

constexpr absl::Duration kOld = absl::Minutes(20);

class FreshLogin : public Identities {
 protected:
  void SetUp() override {
    config_.most_login_age = std::chrono::minutes(10);
    Identities::SetUp();
    EnrolAdministrator("ada");
    EnrolAdministrator("abe");
    ASSERT_EQ(Registered("olga"), "corp.olga");
    ASSERT_EQ(Registered("vera"), "corp.vera");
    Bind(As("ada"), v1::RoleBinding::CREATOR, "corp.olga");
    MakeSealed(As("olga"), NewDataset("census", v1::RULE_PURE, "3"), SmallCsv(100));
  }
  // As an issuer says it of one who logged in so long ago, in a token that it has just renewed.
  Client AsLoggedIn(const std::string& subject, absl::Duration ago) const {
    return With(issuer_.TokenOfLogin(subject, ago, /*is_new=*/true));
  }
  std::string ApiTokenOf(const std::string& subject) const {
    v1::CreateApiTokenRequest request;
    request.set_label("nightly");
    request.mutable_expire_time()->set_seconds(absl::ToUnixSeconds(absl::Now()) + 3600);
    const auto made = As(subject).CreateApiToken(request);
    EXPECT_TRUE(made.ok()) << made.status();
    return made->token();
  }
  static absl::Status ApproveRoleOfVera(const Client& client) {
    v1::ApproveRoleRequest request;
    request.set_role(v1::RoleBinding::APPROVER);
    request.set_principal("corp.vera");
    request.set_dataset("census");
    return client.ApproveRole(request).status();
  }
  void MakeVeraApprover() const {
    v1::BindRoleRequest propose;
    propose.set_role(v1::RoleBinding::APPROVER);
    propose.set_principal("corp.vera");
    propose.set_dataset("census");
    ASSERT_TRUE(As("olga").BindRole(propose).ok());
    ASSERT_EQ(ApproveRoleOfVera(AsLoggedIn("ada", absl::Minutes(1))), absl::OkStatus());
  }
  v1::ApproveLimitChangeRequest ProposedLimit() const {
    v1::ProposeLimitChangeRequest propose;
    propose.set_dataset("census");
    propose.set_epsilon("4");
    propose.set_reason("a second study");
    const auto proposed = As("olga").ProposeLimitChange(propose);
    EXPECT_TRUE(proposed.ok()) << proposed.status();
    v1::ApproveLimitChangeRequest approve;
    approve.set_dataset("census");
    approve.set_proposal_id(proposed->id());
    return approve;
  }
};

INSTANTIATE_TEST_SUITE_P(Ledgers, FreshLogin, ::testing::Values(Backend::kSqlite),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(FreshLogin, IsNeededForALimitAlsoToSeeWhatWouldBeApproved) {
  MakeVeraApprover();
  v1::ApproveLimitChangeRequest approve = ProposedLimit();
  for (const bool only_checks : {true, false}) {
    approve.set_validate_only(only_checks);
    const absl::Status refused = AsLoggedIn("vera", kOld).ApproveLimitChange(approve).status();
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
    EXPECT_EQ(ReasonOf(refused), "LOGIN_TOO_OLD");
    EXPECT_EQ(client::Metadata(refused, "max_age_seconds"), "600");
  }
  EXPECT_EQ(ReasonOf(As("vera").ApproveLimitChange(approve).status()), "LOGIN_TOO_OLD")
      << "without auth_time";
  EXPECT_EQ(ReasonOf(With(ApiTokenOf("vera")).ApproveLimitChange(approve).status()), "LOGIN_TOO_OLD");
  EXPECT_EQ(As("olga").ListLimitProposals("census")->proposals(0).state(), v1::LimitProposal::PENDING);
  EXPECT_EQ(AsLoggedIn("vera", absl::Minutes(9)).ApproveLimitChange(approve)->state(),
            v1::LimitProposal::APPROVED);
}

TEST_P(FreshLogin, IsNeededForEachKindOfApprovalBeforeAnythingIsLookedUp) {
  const std::map<std::string, std::function<absl::Status(const Client&)>> approvals = {
      {"a limit",
       [](const Client& client) {
         v1::ApproveLimitChangeRequest request;
         request.set_dataset("nothing");
         return client.ApproveLimitChange(request).status();
       }},
      {"a repair",
       [](const Client& client) {
         v1::ApproveRepairRequest request;
         request.set_dataset("nothing");
         return client.ApproveRepair(request).status();
       }},
      {"a publication",
       [](const Client& client) {
         v1::PublishDatasetRequest request;
         request.set_dataset("nothing");
         return client.PublishDataset(request).status();
       }},
      {"a credential",
       [](const Client& client) {
         v1::ApproveCredentialRequest request;
         request.set_credential_id("nothing");
         return client.ApproveCredential(request).status();
       }},
      {"a role", &ApproveRoleOfVera}};
  for (const auto& [what, approve] : approvals) {
    EXPECT_EQ(ReasonOf(approve(AsLoggedIn("ada", kOld))), "LOGIN_TOO_OLD") << what;
    const std::string with_fresh_login = ReasonOf(approve(AsLoggedIn("ada", absl::ZeroDuration())));
    EXPECT_NE(with_fresh_login, "LOGIN_TOO_OLD") << what;
    EXPECT_NE(with_fresh_login, "") << what << ": there is nothing to approve";
  }
}

TEST_P(FreshLogin, IsNeededForNothingElse) {
  EXPECT_TRUE(AsLoggedIn("olga", kOld).GetBudget("census").ok());
  const v1::ApproveLimitChangeRequest proposed = ProposedLimit();
  v1::WithdrawLimitChangeRequest withdraw;
  withdraw.set_dataset("census");
  withdraw.set_proposal_id(proposed.proposal_id());
  const auto withdrawn = AsLoggedIn("olga", kOld).WithdrawLimitChange(withdraw);
  EXPECT_TRUE(withdrawn.ok()) << withdrawn.status();
}

}  // namespace
}  // namespace curator::testing
