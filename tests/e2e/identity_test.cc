// A server with a configuration: how calls are authenticated, and how soon a revocation is seen. On both
// ledgers, with two servers on one.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "app_bootstrap.h"
#include "app_server_history.h"
#include "auth/testing/forged_tokens.h"
#include "curator/v1/dataset.grpc.pb.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/shell.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_issuer.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Ledgers, Identities, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Identities, TheHostNamesTheFirstAdministratorOfAFreshServer) {
  EXPECT_EQ(ReasonOf(As("ada").WhoAmI().status()), "UNKNOWN_PRINCIPAL");
  const std::string code = CodeIn(Bootstrap("ada"));
  EXPECT_TRUE(absl::IsNotFound(Enrol(As("mallory"), code).status()));
  EXPECT_EQ(Enrol(As("ada"), code).value(), "ada");
  EXPECT_TRUE(absl::IsNotFound(Enrol(As("ada"), code).status())) << "once";
  EXPECT_THAT(Bootstrap("eve"), HasSubstr("there is an active administrator"));
  EXPECT_EQ(As("ada").WhoAmI()->principal().roles(0).role(), v1::RoleBinding::ADMINISTRATOR);
}

TEST_P(Identities, ANameProvesNothing) {
  EnrolAdministrator("ada");
  const Client named({.server = first_->address(), .principal = "ada"});
  const absl::Status status = named.WhoAmI().status();
  EXPECT_TRUE(absl::IsUnauthenticated(status));
  EXPECT_EQ(ReasonOf(status), "NAME_NOT_ACCEPTED");
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("leave out --as"), HasSubstr("curator login")));
  const Client beside({.server = first_->address(),
                       .principal = "ada",
                       .retry = {},
                       .token = [token = issuer_.TokenOf("ada")](bool) { return token; }});
  EXPECT_EQ(ReasonOf(beside.WhoAmI().status()), "NAME_NOT_ACCEPTED") << "also beside a proof";
  EXPECT_FALSE(named.GetVersion()->development_mode());
  EXPECT_EQ(named.GetVersion()->version(), "") << "before somebody is known";
}

TEST_P(Identities, ATokenIsAskedForAgainWhenItHasExpired) {
  const std::string eve = Registered("eve");
  int asked = 0;
  const Client client(
      {.server = first_->address(), .principal = {}, .retry = {}, .token = [&](bool has_expired) {
         asked += has_expired ? 1 : 0;
         return issuer_.TokenOf("eve", has_expired ? absl::Hours(1) : -absl::Minutes(2));
       }});
  EXPECT_EQ(client.WhoAmI()->principal().name(), eve);
  EXPECT_EQ(asked, 1);
}

TEST_P(Identities, ForgedTokensAreRefusedAndReachNoHandler) {
  Registered("eve");
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  const nlohmann::json claims = {
      {"iss", kIssuer}, {"sub", "eve"}, {"aud", "curator"}, {"iat", now}, {"exp", now + 600}};
  ASSERT_TRUE(With(auth::TokenKeys::Shared().rsa.Token(claims)).WhoAmI().ok()) << "which none of them is";
  constexpr int64_t kBeyond = 120;  // the test may be slow
  for (const auto& [name, token, reason] :
       auth::ForgedTokens(auth::TokenKeys::Shared(), claims, now, kBeyond)) {
    // The client sends no token that is none.
    if (token.empty()) continue;
    const absl::Status status = With(token).WhoAmI().status();
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << name << ": " << status;
    EXPECT_EQ(ReasonOf(status), reason) << name;
  }
}

// What only administrators may, without the rights of one.
TEST_P(Identities, CallsOfAdministratorsAreRefusedToOthers) {
  EnrolAdministrator("ada");
  const Client eve = As(Registered("eve").substr(5));
  v1::CreatePrincipalRequest create;
  create.set_name("puppet");
  create.set_kind(v1::PrincipalInfo::PERSON);
  v1::DisablePrincipalRequest disable;
  disable.set_name("ada");
  disable.set_reason("why not");
  v1::EnablePrincipalRequest enable;
  enable.set_name("ada");
  enable.set_reason("why not");
  v1::ForgetPrincipalRequest forget;
  forget.set_name("ada");
  v1::LinkIdentityRequest link;
  link.set_principal("ada");
  link.mutable_identity()->set_kind(v1::Identity::OIDC);
  link.mutable_identity()->set_issuer(kIssuer);
  link.mutable_identity()->set_subject("of eve's");
  v1::CreateApiTokenRequest token;
  token.set_principal("ada");
  token.mutable_expire_time()->set_seconds(absl::ToUnixSeconds(absl::Now()) + 60);
  v1::ApproveCredentialRequest approve;
  approve.set_credential_id("anything");
  v1::BindRoleRequest bind;
  bind.set_role(v1::RoleBinding::ADMINISTRATOR);
  bind.set_principal("corp.eve");
  v1::ApproveRoleRequest approve_role;
  approve_role.set_role(v1::RoleBinding::ADMINISTRATOR);
  approve_role.set_principal("corp.eve");
  v1::UnbindRoleRequest unbind;
  unbind.set_role(v1::RoleBinding::ADMINISTRATOR);
  unbind.set_principal("ada");
  const std::vector<std::pair<std::string, absl::Status>> ends = {
      {"CreatePrincipal", eve.CreatePrincipal(create).status()},
      {"DisablePrincipal", eve.DisablePrincipal(disable).status()},
      {"EnablePrincipal", eve.EnablePrincipal(enable).status()},
      {"ForgetPrincipal", eve.ForgetPrincipal(forget).status()},
      {"GetPrincipal", eve.GetPrincipal("ada").status()},
      {"ListPrincipals", eve.ListPrincipals().status()},
      {"GetQuotas of another", eve.GetQuotas("ada").status()},
      {"LinkIdentity", eve.LinkIdentity(link).status()},
      {"CreateApiToken for another", eve.CreateApiToken(token).status()},
      {"ApproveCredential", eve.ApproveCredential(approve).status()},
      {"BindRole", eve.BindRole(bind).status()},
      {"ApproveRole", eve.ApproveRole(approve_role).status()},
      {"UnbindRole", eve.UnbindRole(unbind).status()}};
  for (const auto& [call, end] : ends) EXPECT_TRUE(absl::IsPermissionDenied(end)) << call << ": " << end;
  v1::RemoveCredentialRequest remove;
  remove.set_credential_id(As("ada").WhoAmI()->credential_id());
  remove.set_reason("why not");
  EXPECT_TRUE(absl::IsNotFound(eve.RemoveCredential(remove).status()));
}

TEST_P(Identities, DisablingWorksAtTheNextCallOnThisServerAndWithinTwoSecondsOnTheOther) {
  EnrolAdministrator("ada");
  const std::string eve = Registered("eve");
  const std::unique_ptr<App> second = Start("second");
  const Client elsewhere = With(issuer_.TokenOf("eve"), second.get());
  ASSERT_TRUE(elsewhere.WhoAmI().ok());
  Disable(As("ada"), eve);
  EXPECT_EQ(ReasonOf(As("eve").WhoAmI().status()), "DISABLED");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::string reason;
  while (reason.empty() && std::chrono::steady_clock::now() < deadline) {
    reason = ReasonOf(elsewhere.WhoAmI().status());
  }
  EXPECT_EQ(reason, "DISABLED");
}

TEST_P(Identities, DisablingEndsARunningStream) {
  EnrolAdministrator("ada");
  const std::string eve = Registered("eve");
  Bind(As("ada"), v1::RoleBinding::CREATOR, eve);
  const v1::CreateDatasetRequest create = NewDataset("census", v1::RULE_ZCDP, "3", "1e-9");
  ASSERT_TRUE(As("eve").CreateDataset(create).ok());
  const auto stub =
      v1::DatasetService::NewStub(grpc::CreateChannel(first_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer " + issuer_.TokenOf("eve"));
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  v1::ImportRecordsResponse response;
  const auto writer = stub->ImportRecords(&context, &response);
  v1::ImportRecordsRequest header;
  header.mutable_header()->set_request_id("5c21f0de-0000-4000-8000-000000000001");
  header.mutable_header()->set_dataset("census");
  ASSERT_TRUE(writer->Write(header));
  Disable(As("ada"), eve);
  const auto before = std::chrono::steady_clock::now();
  const grpc::Status end = writer->Finish();
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED) << end.error_message();
  EXPECT_THAT(end.error_message(), HasSubstr("disabled"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
}

TEST_P(Identities, WhoCallsTooOftenIsToldWhenToCallAgainAndOthersNoticeNothing) {
  Registered("eve");
  Registered("bob");
  config_.quotas = {};
  const std::unique_ptr<App> strict = Start("strict");
  const auto once = [&](const std::string& subject) {
    // The first refusal is final: what the client's retries would hide.
    const Client client(
        {.server = strict->address(),
         .principal = {},
         .retry = {.first_delay = std::chrono::hours(1), .longest_delay = std::chrono::hours(1)},
         .token = [token = issuer_.TokenOf(subject)](bool) { return token; }});
    return client.WhoAmI().status();
  };
  absl::Status refused;
  for (int call = 0; call < 10'000 && refused.ok(); ++call) refused = once("eve");
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), "QUOTA");
  EXPECT_TRUE(client::FullAccounts(refused).empty()) << "no budget is full";
  EXPECT_TRUE(client::RetryDelay(refused).has_value());
  EXPECT_THAT(std::string(refused.message()), HasSubstr("at most 20 calls a second, and 60 at once"));
  EXPECT_TRUE(once("bob").ok());
}

TEST_P(Identities, RightsGoToPrincipalsThatCanProveWhoTheyAre) {
  EnrolAdministrator("ada");
  Bind(As("ada"), v1::RoleBinding::CREATOR, Registered("olga"));
  const v1::CreateDatasetRequest create = NewDataset("census", v1::RULE_ZCDP, "3", "1e-9");
  ASSERT_TRUE(As("olga").CreateDataset(create).ok());
  v1::GrantAccessRequest grant;
  grant.set_dataset("census");
  grant.set_principal("bob");
  EXPECT_THAT(std::string(As("olga").GrantAccess(grant).status().message()), HasSubstr("with a credential"));
  v1::CreatePrincipalRequest principal;
  principal.set_name("bob");
  principal.set_kind(v1::PrincipalInfo::PERSON);
  ASSERT_TRUE(As("ada").CreatePrincipal(principal).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(As("olga").GrantAccess(grant).status())) << "nobody's yet";
  v1::LinkIdentityRequest link;
  link.set_principal("bob");
  link.mutable_identity()->set_kind(v1::Identity::OIDC);
  link.mutable_identity()->set_issuer(kIssuer);
  link.mutable_identity()->set_subject("bob");
  ASSERT_FALSE(As("ada").LinkIdentity(link)->pending());
  EXPECT_TRUE(As("olga").GrantAccess(grant).ok());
  EXPECT_TRUE(As("bob").GetDataset("census").ok());
  Registered("eve");
  // To others the dataset does not exist, whichever principal is named.
  for (const char* name : {"bob", "nobody"}) {
    grant.set_principal(name);
    EXPECT_TRUE(absl::IsNotFound(As("eve").GrantAccess(grant).status())) << name;
  }
}

TEST_P(Identities, ChangesOfTheDirectoryStandInTheHistoryOfTheServer) {
  EnrolAdministrator("ada");
  Registered("eve");
  first_.reset();
  const auto ledger = ledger::OpenLedger({.url = options_.ledger,
                                          .anchor_dir = options_.data_directory + "/anchor",
                                          .entropy = host::RandomBytes});
  ASSERT_TRUE(ledger.ok()) << ledger.status();
  std::vector<std::string> kinds;
  const std::vector<ledger::Entry> entries = (*ledger)->ListServerEntries({}).value();
  for (const ledger::Entry& entry : entries) kinds.push_back(entry.kind);
  EXPECT_THAT(kinds, ::testing::ElementsAre("PRINCIPAL_CREATED", "ENROLMENT_OPENED", "ENROLMENT_USED",
                                            "PRINCIPAL_REGISTERED"));
  EXPECT_TRUE((*ledger)->VerifyServerHistory()->ok);
}

// ---- A backup of the ledger is restored that lacks the newest changes

class RestoredIdentities : public Identities {
 protected:
  // The ledger as it is after `before`, under the anchor as it is after `lost`, too.
  void Lose(const std::function<void()>& before, const std::function<void()>& lost) {
    before();
    first_.reset();
    std::filesystem::copy(Ledger(), Ledger() + ".copy");
    first_ = Start("first");
    lost();
    first_.reset();
    for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(Ledger() + end);
    std::filesystem::rename(Ledger() + ".copy", Ledger());
  }
  std::string Ledger() const { return options_.ledger.substr(std::string("sqlite:").size()); }
  // In one line of text, with the exit status.
  std::string Repair() const {
    std::ostringstream out;
    const int status = RunRepairServer({.ledger = options_.ledger, .data_directory = options_.data_directory},
                                       "the disk was lost", out, out);
    return absl::StrCat(status, " ", out.str());
  }
  static v1::Identity OidcOf(const std::string& subject) {
    v1::Identity identity;
    identity.set_kind(v1::Identity::OIDC);
    identity.set_issuer(kIssuer);
    identity.set_subject(subject);
    return identity;
  }
};

INSTANTIATE_TEST_SUITE_P(Ledgers, RestoredIdentities, ::testing::Values(Backend::kSqlite),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(RestoredIdentities, NobodyIsLetInUntilTheLossIsAcceptedAndTwoAdministratorsVouchAgain) {
  Lose([&] { Registered("eve"); }, [&] { EnrolAdministrator("ada"); });
  AppOptions options = options_;
  options.development = false;
  options.config = config_;
  EXPECT_TRUE(absl::IsDataLoss(App::Start(options).status()));
  EXPECT_THAT(Repair(), AllOf(::testing::StartsWith("0 "), HasSubstr("are lost: the disk was lost")));
  first_ = Start("first");
  EXPECT_EQ(ReasonOf(As("eve").WhoAmI().status()), "UNKNOWN_PRINCIPAL") << "she may have been disabled";

  // The lost entries made the first of them an administrator under this name and by this identity.
  EnrolAdministrator("ada");
  EnrolAdministrator("bob");
  v1::EnablePrincipalRequest enable;
  enable.set_name("corp.eve");
  enable.set_reason("known in person");
  ASSERT_TRUE(As("ada").EnablePrincipal(enable).ok());
  v1::LinkIdentityRequest link;
  link.set_principal("corp.eve");
  *link.mutable_identity() = OidcOf("eve");
  const absl::StatusOr<v1::Credential> linked = As("ada").LinkIdentity(link);
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_TRUE(linked->pending()) << "until a second one agrees";
  v1::ApproveCredentialRequest approve;
  approve.set_credential_id(linked->id());
  ASSERT_TRUE(As("bob").ApproveCredential(approve).ok());
  EXPECT_EQ(As("eve").WhoAmI()->principal().name(), "corp.eve");
}

// ---- A writer of the database changes an entry of the server's history

TEST_P(RestoredIdentities, AnEditedChangeIsNamedByTheCheckOfTheLedgerAndNoServerStarts) {
  EnrolAdministrator("ada");
  Bind(As("ada"), v1::RoleBinding::CREATOR, Registered("eve"));
  first_.reset();
  const std::string check = absl::StrCat(CURATORD_PATH " --ledger ", options_.ledger, " --data-dir ",
                                         options_.data_directory, " check-ledger");
  const auto [sound, said_before] = Shell(check);
  EXPECT_EQ(sound, 0) << said_before;
  EXPECT_THAT(said_before, HasSubstr("@server: sound, 5 entries"));

  const auto database = ledger::OpenLedgerDatabase(options_.ledger);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status edited = (*database)
                                  ->Write([](ledger::sql::Transaction& transaction) {
                                    return transaction.ExecuteScript(
                                        "DROP TRIGGER server_entries_are_never_updated; "
                                        "UPDATE server_entries SET actor = 'abe' WHERE seq = 5");
                                  })
                                  .status;
  ASSERT_TRUE(edited.ok()) << edited;
  const auto [contradiction, said_after] = Shell(check);
  EXPECT_EQ(contradiction, 3) << said_after;
  EXPECT_THAT(said_after, AllOf(HasSubstr("@server: CONTRADICTS ITSELF"), HasSubstr("entry 5 was edited"),
                                HasSubstr("the ledger is NOT sound")));
  AppOptions options = options_;
  options.development = false;
  options.config = config_;
  EXPECT_TRUE(absl::IsDataLoss(App::Start(options).status()));
}

}  // namespace
}  // namespace curator::testing
