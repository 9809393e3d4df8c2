#include "service/identity/identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using directory::CredentialKind;
using directory::Identity;
using directory::PrincipalKind;
using directory::Role;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kIssuer[] = "https://idp.example";

Identity Oidc(const std::string& subject) {
  return {.kind = CredentialKind::kOidc, .issuer = kIssuer, .subject = subject};
}

// Ada and abe are administrators by `curatord bootstrap`. "owner" owns the dataset "census".
class IdentitiesTest : public ServiceTest {
 protected:
  void SetUp() override {
    auto opened = directory::DirectoryStore::Open(*ledger_, {});
    ASSERT_TRUE(opened.ok()) << opened.status();
    directory_ = *std::move(opened);
    identities_ = std::make_unique<IdentityServices>(IdentityServices{
        .directory = *directory_,
        .ledger = *ledger_,
        .hash_of_secret = [](std::string_view secret) { return Sha256(secret); },
        .entropy = host::RandomBytes,
        .alias_for_registering = [this](std::string_view issuer) -> std::optional<std::string> {
          return registers_ && issuer == kIssuer ? std::optional<std::string>("corp") : std::nullopt;
        },
        .now_us = [this] { return now_us_; }});
    for (const Principal& administrator : {ada_, abe_}) EnrolOnHost(administrator);
  }

  void EnrolOnHost(const Principal& administrator) {
    const Identity identity = Oidc("sub of " + administrator.name());
    const auto enrolment = OpenEnrolmentOnHost(*identities_, administrator.name(), identity, true);
    ASSERT_TRUE(enrolment.ok()) << enrolment.status();
    EXPECT_EQ(UseEnrolment(*identities_, identity, enrolment->code).value(), administrator.name());
  }
  absl::Status Create(const std::string& name) {
    return CreatePrincipal(*identities_, ada_, name, PrincipalKind::kPerson).status();
  }

  const Principal ada_ = TestPrincipal("ada");
  const Principal abe_ = TestPrincipal("abe");
  bool registers_ = true;
  int64_t now_us_ = absl::ToUnixMicros(absl::Now());
  std::unique_ptr<directory::DirectoryStore> directory_;
  std::unique_ptr<IdentityServices> identities_;
};

TEST_F(IdentitiesTest, TheFirstAdministratorEnrolsByTheCodeOfTheHost) {
  const PrincipalView ada = ViewPrincipal(*identities_, "ada").value();
  ASSERT_EQ(ada.roles.size(), 1);
  EXPECT_EQ(ada.roles[0].binding.role, Role::kAdministrator);
  ASSERT_EQ(ada.credentials.size(), 1);
  EXPECT_EQ(ada.credentials[0].basis, directory::Basis::kHost);
}

TEST_F(IdentitiesTest, AWrongCodeIsCountedAndEndsTheEnrolment) {
  const Identity identity = Oidc("third");
  const std::string code = OpenEnrolmentOnHost(*identities_, "carl", identity, true)->code;
  // The right id with another secret: what somebody sends who has seen half of it.
  const auth::ApiToken right = auth::ParseApiToken(code, auth::kEnrolmentPrefix).value();
  auth::ApiToken wrong = auth::MakeApiToken(host::RandomBytes);
  wrong.id = right.id;
  for (int i = 0; i < 5; ++i) {
    const absl::Status status =
        UseEnrolment(*identities_, identity, auth::FormatApiToken(wrong, auth::kEnrolmentPrefix)).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr("the code is wrong"));
  }
  EXPECT_TRUE(absl::IsNotFound(UseEnrolment(*identities_, identity, code).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(UseEnrolment(*identities_, identity, "nonsense").status()));
}

TEST_F(IdentitiesTest, ANameThatTheLedgerKnowsIsNotOneAdministratorsToGiveAway) {
  MakeSealed(People("census"));
  ASSERT_TRUE(Create("owner").ok());
  const directory::Credential linked =
      LinkIdentity(*identities_, ada_, "owner", Oidc("of ada's"), "").value();
  EXPECT_TRUE(linked.is_pending);
  EXPECT_TRUE(absl::IsPermissionDenied(ApproveCredential(*identities_, ada_, linked.id).status()));
  EXPECT_FALSE(ApproveCredential(*identities_, abe_, linked.id)->is_pending);
}

TEST_F(IdentitiesTest, AnApiTokenIsShownOnceAndStoredAsAHash) {
  const int64_t tomorrow = absl::ToUnixMicros(absl::Now() + absl::Hours(24));
  const NewApiToken made = CreateApiToken(*identities_, ada_, "", "laptop", tomorrow).value();
  EXPECT_THAT(made.text, StartsWith("curt_"));
  EXPECT_EQ(made.credential.principal, "ada");
  const std::string secret = auth::ParseApiToken(made.text)->secret;
  const std::vector<ledger::Entry> entries = ledger_->ListServerEntries({}).value();
  for (const ledger::Entry& entry : entries) {
    EXPECT_EQ(entry.payload.find(secret), std::string::npos);
  }
}

TEST_F(IdentitiesTest, WhomAnIssuerVouchesForRegistersWhereItsSettingsAllowIt) {
  EXPECT_EQ(Register(*identities_, Oidc("1"), "Eve O'Hara").value(), "corp.eve-o-hara");
  EXPECT_THAT(Register(*identities_, Oidc("2"), "Eve O'Hara").value(), StartsWith("corp.eve-o-hara-"));
  EXPECT_EQ(Register(*identities_, Oidc("3"), "").value(), "corp.3");
  EXPECT_TRUE(absl::IsAlreadyExists(Register(*identities_, Oidc("1"), "again").status()));
  registers_ = false;
  EXPECT_TRUE(absl::IsPermissionDenied(Register(*identities_, Oidc("4"), "Mallory").status()));
  const Identity certificate{.kind = CredentialKind::kCertificate, .issuer = {}, .subject = "spiffe://x"};
  EXPECT_TRUE(absl::IsPermissionDenied(Register(*identities_, certificate, "Mallory").status()));
}

TEST_F(IdentitiesTest, OnlyAdministratorsSeeWhoElseIsKnown) {
  ASSERT_TRUE(Create("bob").ok());
  const Principal bob = TestPrincipal("bob");
  EXPECT_TRUE(GetPrincipal(*identities_, bob, "bob").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(GetPrincipal(*identities_, bob, "ada").status()));
  EXPECT_TRUE(absl::IsPermissionDenied(GetPrincipal(*identities_, bob, "nobody").status()));
  EXPECT_TRUE(absl::IsPermissionDenied(ListPrincipals(*identities_, bob, "", 10).status()));
  std::vector<std::string> names;
  const std::vector<PrincipalView> page = ListPrincipals(*identities_, ada_, "abe", 10).value();
  for (const PrincipalView& each : page) names.push_back(each.record.name);
  EXPECT_THAT(names, ElementsAre("ada", "bob"));
}

TEST_F(IdentitiesTest, AnApproverIsNamedWithItsDataset) {
  MakeSealed(People("census"));
  const std::string vera = Register(*identities_, Oidc("vera"), "vera").value();
  const RoleOrder order{.role = Role::kApprover, .principal = vera, .dataset = "census"};
  EXPECT_TRUE(absl::IsNotFound(BindRole(*identities_, TestPrincipal("stranger"), order).status()));
  EXPECT_TRUE(BindRole(*identities_, TestPrincipal("owner"), order)->binding.is_pending);
  const RoleView approved = ApproveRole(*identities_, ada_, order).value();
  EXPECT_FALSE(approved.binding.is_pending);
  EXPECT_EQ(ViewPrincipal(*identities_, vera)->roles.at(0).dataset, "census");
  EXPECT_TRUE(UnbindRole(*identities_, TestPrincipal("owner"), order).ok());
  EXPECT_TRUE(ViewPrincipal(*identities_, vera)->roles.empty());
}

TEST_F(IdentitiesTest, ADisabledPrincipalIsEnabledAgainWithAReason) {
  ASSERT_TRUE(Create("bob").ok());
  EXPECT_TRUE(DisablePrincipal(*identities_, ada_, "bob", "left")->record.is_disabled);
  EXPECT_TRUE(absl::IsInvalidArgument(EnablePrincipal(*identities_, ada_, "bob", "").status()));
  EXPECT_FALSE(EnablePrincipal(*identities_, ada_, "bob", "is back")->record.is_disabled);
}

TEST_F(IdentitiesTest, AForgottenPrincipalIsNobodyAndItsNameASomebodyElses) {
  MakeSealed(People("census"));
  ASSERT_TRUE(Create("bob").ok());
  ASSERT_TRUE(LinkIdentity(*identities_, ada_, "bob", Oidc("7f3a"), "").ok());
  ledger::Dataset census = ledger_->GetDataset("census").value();
  ASSERT_TRUE(ledger_->SetGrant(census.id, {.grantee = "bob"}, TestPrincipal("owner")).ok());
  const Principal bob = TestPrincipal("bob");
  EXPECT_TRUE(absl::IsPermissionDenied(ForgetPrincipal(*identities_, bob, "bob", "").status()));
  ASSERT_TRUE(DisablePrincipal(*identities_, ada_, "bob", "left").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(ForgetPrincipal(*identities_, ada_, "bob", "").status())) << "today";
  now_us_ += directory::kForgetAfterUs + 60'000'000;
  const std::string pseudonym = ForgetPrincipal(*identities_, ada_, "bob", "").value();
  EXPECT_TRUE(absl::IsNotFound(ViewPrincipal(*identities_, "bob").status()));
  EXPECT_EQ(ledger_->GetDataset("census")->grants.back().grantee, pseudonym);

  ASSERT_TRUE(Create("bob").ok());
  EXPECT_FALSE(ViewPrincipal(*identities_, "bob")->record.may_have_rights);
  EXPECT_FALSE(LinkIdentity(*identities_, ada_, "bob", Oidc("7f3a"), "")->is_pending) << "nobody's before";
  EXPECT_TRUE(absl::IsNotFound(
      FindDataset({*ledger_, directory_.get()}, Method::kGetDataset, bob, DatasetName("census")).status()));
}

TEST_F(IdentitiesTest, TheOwnerOfADatasetIsForgottenOnceItIsArchived) {
  const DatasetView census = MakeSealed(People("census"));
  ASSERT_TRUE(Create("owner").ok());
  ASSERT_TRUE(DisablePrincipal(*identities_, ada_, "owner", "left").ok());
  now_us_ += directory::kForgetAfterUs + 60'000'000;
  EXPECT_THAT(std::string(ForgetPrincipal(*identities_, ada_, "owner", "").status().message()),
              HasSubstr("not archived"));
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  const absl::StatusOr<std::string> forgotten = ForgetPrincipal(*identities_, ada_, "owner", "");
  ASSERT_TRUE(forgotten.ok()) << forgotten.status();
  EXPECT_EQ(ledger_->GetDataset("census")->owner, *forgotten);
}

TEST_F(IdentitiesTest, ARemovedCredentialIsGone) {
  ASSERT_TRUE(Create("bob").ok());
  const std::string id = LinkIdentity(*identities_, ada_, "bob", Oidc("bob"), "").value().id;
  ASSERT_TRUE(RemoveCredential(*identities_, TestPrincipal("bob"), id, "lost").ok());
  EXPECT_TRUE(ViewPrincipal(*identities_, "bob")->credentials.empty());
}

TEST_F(IdentitiesTest, APrincipalAddsAnIdentityByACode) {
  const Identity laptop{.kind = CredentialKind::kCertificate, .issuer = {}, .subject = "spiffe://x/laptop"};
  const NewEnrolment opened = OpenEnrolment(*identities_, ada_, laptop).value();
  EXPECT_THAT(opened.code, StartsWith("cure_"));
  EXPECT_TRUE(absl::IsNotFound(UseEnrolment(*identities_, Oidc("mallory"), opened.code).status()));
  EXPECT_EQ(UseEnrolment(*identities_, laptop, opened.code).value(), "ada");
}

}  // namespace
}  // namespace curator::service
