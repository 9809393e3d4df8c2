// Who can become whom: docs/ACCESS.md has each of these sentences as a row of its table.
#include "directory/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "directory/testing/test_directory.h"

namespace curator::directory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

#define EXPECT_REFUSED(expected, expression)                                        \
  do {                                                                              \
    const absl::Status checked_status = (expression);                               \
    EXPECT_EQ(checked_status.code(), absl::StatusCode::expected) << checked_status; \
  } while (false)

// Ada and abe are administrators and two persons; eve is nobody in particular, registered by her issuer.
class Rules : public ::testing::Test {
 protected:
  void SetUp() override {
    at_.LetInAdministrator("ada");
    at_.LetInAdministrator("abe");
    ASSERT_TRUE(at_.Register("eve").ok());
  }
  const Directory& directory() const { return at_.directory(); }

  TestDirectory at_;
};

// ---- Principals

TEST_F(Rules, OnlyAnAdministratorMakesPrincipals) {
  EXPECT_REFUSED(kPermissionDenied, at_.Create("eve", "bob"));
  EXPECT_TRUE(at_.Create("ada", "bob").ok());
}

TEST_F(Rules, ANameIsNeverUsedTwiceAlsoAfterItsPrincipalWasDisabled) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Disable("ada", "bob").ok());
  EXPECT_REFUSED(kAlreadyExists, at_.Create("ada", "bob"));
}

TEST_F(Rules, NoPrincipalIsNamedAsTheActorsThatAreNone) {
  EXPECT_REFUSED(kInvalidArgument, at_.Create("ada", kHostActor));
  EXPECT_REFUSED(kInvalidArgument, at_.Register(kIssuerActor));
}

TEST_F(Rules, OnlyAnAdministratorDisablesAndEnables) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  EXPECT_REFUSED(kPermissionDenied, at_.Disable("eve", "bob"));
  EXPECT_TRUE(at_.Disable("ada", "bob").ok());
  EXPECT_REFUSED(kPermissionDenied, at_.Make("eve", EnablePrincipal(directory(), at_.By("eve"),
                                                                    {.name = "bob", .reason = "back"})));
  EXPECT_TRUE(
      at_.Make("ada", EnablePrincipal(directory(), at_.By("ada"), {.name = "bob", .reason = "back"})).ok());
}

TEST_F(Rules, ADisabledAdministratorIsNoneAndTheLastOneCannotBeDisabled) {
  EXPECT_TRUE(at_.Disable("ada", "abe").ok());
  EXPECT_REFUSED(kPermissionDenied, at_.Create("abe", "bob"));
  EXPECT_REFUSED(kFailedPrecondition, at_.Disable("ada", "ada"));
  EXPECT_THAT(directory().Administrators(), ElementsAre("ada"));
}

// ---- Forgetting

TEST_F(Rules, OnlyAnAdministratorForgets) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Disable("ada", "bob").ok());
  at_.Advance(kForgetAfterUs);
  EXPECT_TRUE(absl::IsPermissionDenied(at_.Forget("eve", "bob")));
  EXPECT_TRUE(absl::IsNotFound(at_.Forget("ada", "nobody")));
  EXPECT_TRUE(at_.Forget("ada", "bob").ok());
  EXPECT_TRUE(absl::IsNotFound(at_.Forget("ada", "bob"))) << "there is none any more";
  EXPECT_TRUE(at_.Create("ada", "bob").ok()) << "another one";
}

TEST_F(Rules, APrincipalIsForgottenADayAfterItWasDisabledForTheLastTime) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  EXPECT_THAT(std::string(at_.Forget("ada", "bob").message()), HasSubstr("is not disabled"));
  ASSERT_TRUE(at_.Disable("ada", "bob").ok());
  at_.Advance(kForgetAfterUs - 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(at_.Forget("ada", "bob")));
  const Change enabled = PrincipalEnabled{.name = "bob", .reason = "is back"};
  ASSERT_TRUE(at_.Make("ada", enabled).ok());
  at_.Advance(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(at_.Forget("ada", "bob"))) << "it is enabled";
  ASSERT_TRUE(at_.Disable("ada", "bob").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(at_.Forget("ada", "bob"))) << "a day from now on";
  at_.Advance(kForgetAfterUs);
  EXPECT_TRUE(at_.Forget("ada", "bob").ok());
}

TEST_F(Rules, AnOwnerIsForgottenOnceItsDatasetsAreArchived) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Disable("ada", "bob").ok());
  at_.Advance(kForgetAfterUs);
  EXPECT_THAT(std::string(at_.Forget("ada", "bob", {.owns_open_dataset = true}).message()),
              HasSubstr("owns datasets that are not archived"));
  EXPECT_TRUE(at_.Forget("ada", "bob").ok());
}

TEST_F(Rules, WhomEarlierHistoriesNameIsNotForgotten) {
  Directory directory;
  const auto as_it_is = [](const std::string& stored) { return stored; };
  int64_t seq = 0;
  for (const Change& change : {Change(PrincipalCreated{.name = "ada"}), Change(RoleBound{.principal = "ada"}),
                               Change(PrincipalCreated{.name = "bob"}),
                               Change(PrincipalDisabled{.name = "bob", .reason = "left"})}) {
    ASSERT_TRUE(directory
                    .Apply({.seq = ++seq,
                            .kind = std::string(KindOf(change)),
                            .payload = EncodeChange(change),
                            .actor = kHostActor},
                           as_it_is)
                    .ok());
  }
  const auto refused = ForgetPrincipal(directory, {.by = "ada", .at_us = 2 * kForgetAfterUs}, "bob", "", {});
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("earlier version"));
}

// ---- Credentials that an administrator adds

TEST_F(Rules, AnAdministratorLinksTheFirstIdentityOfAPrincipalThatCannotHaveRightsYet) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  EXPECT_TRUE(at_.Link("ada", "bob", OidcOf("bob")).ok());
  EXPECT_TRUE(at_.IsActive(OidcOf("bob")));
}

TEST_F(Rules, ASecondIdentityIsPendingUntilASecondAdministratorApprovesIt) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Link("ada", "bob", OidcOf("bob")).ok());
  ASSERT_TRUE(at_.Link("ada", "bob", OidcOf("of ada's")).ok());
  EXPECT_FALSE(at_.IsActive(OidcOf("of ada's")));
  EXPECT_REFUSED(kPermissionDenied, at_.Approve("ada", "of ada's"));
  EXPECT_REFUSED(kPermissionDenied, at_.Approve("eve", "of ada's"));
  EXPECT_TRUE(at_.Approve("abe", "of ada's").ok());
  EXPECT_TRUE(at_.IsActive(OidcOf("of ada's")));
}

TEST_F(Rules, ATokenForAnotherIsPendingWhereHeMayHaveRights) {
  ASSERT_TRUE(at_.Token("ada", "eve", "t1").ok());
  EXPECT_FALSE(at_.IsActive({.kind = CredentialKind::kApiToken, .subject = "t1"}));
  ASSERT_TRUE(at_.Create("ada", "nightly").ok());
  ASSERT_TRUE(at_.Token("ada", "nightly", "t2").ok());
  EXPECT_TRUE(at_.IsActive({.kind = CredentialKind::kApiToken, .subject = "t2"}));
}

TEST_F(Rules, ANameThatTheLedgerKnewIsLinkedByTwoAdministrators) {
  ASSERT_TRUE(at_.Create("ada", "olga", /*has_rights=*/true).ok());
  ASSERT_TRUE(at_.Link("ada", "olga", OidcOf("olga")).ok());
  EXPECT_FALSE(at_.IsActive(OidcOf("olga")));
  EXPECT_TRUE(at_.Approve("abe", "olga").ok());
}

// Else one of two pending credentials, both of them the administrator's, could be approved for the other.
TEST_F(Rules, APendingCredentialDoesNotMakeTheNextOneActive) {
  ASSERT_TRUE(at_.Create("ada", "olga", /*has_rights=*/true).ok());
  ASSERT_TRUE(at_.Link("ada", "olga", OidcOf("olga")).ok());
  ASSERT_TRUE(at_.Link("ada", "olga", OidcOf("of ada's")).ok());
  EXPECT_FALSE(at_.IsActive(OidcOf("of ada's")));
}

TEST_F(Rules, RemovingEveryCredentialOfSomebodyDoesNotMakeTheNextOneAdministratorsChoice) {
  ASSERT_TRUE(
      at_.Make("ada", RemoveCredential(directory(), at_.By("ada"), {.id = "eve", .reason = "lost"})).ok());
  ASSERT_TRUE(at_.Link("ada", "eve", OidcOf("of ada's")).ok());
  EXPECT_FALSE(at_.IsActive(OidcOf("of ada's")));
}

TEST_F(Rules, AnIdentityBelongsToOnePrincipal) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  EXPECT_REFUSED(kAlreadyExists, at_.Link("ada", "bob", OidcOf("eve")));
  EXPECT_REFUSED(kAlreadyExists, at_.Open("eve", "eve", OidcOf("sub of ada")));
}

TEST_F(Rules, OnlyAnAdministratorLinksIdentitiesOfOthers) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  EXPECT_REFUSED(kPermissionDenied, at_.Link("eve", "bob", OidcOf("x")));
  EXPECT_REFUSED(kPermissionDenied, at_.Token("eve", "bob", "t"));
  EXPECT_REFUSED(kPermissionDenied, at_.Open("eve", "bob", OidcOf("x")));
  EXPECT_REFUSED(kPermissionDenied, at_.Open("ada", "eve", OidcOf("x")));
}

// ---- One's own proof

TEST_F(Rules, APrincipalAddsAnIdentityToItselfWhenThatOneAgreesByTheCode) {
  ASSERT_TRUE(at_.Open("eve", "eve", CertificateOf("spiffe://example/eve")).ok());
  EXPECT_FALSE(at_.IsActive(CertificateOf("spiffe://example/eve")));
  EXPECT_TRUE(at_.Use("eve", CertificateOf("spiffe://example/eve")).ok());
  EXPECT_TRUE(at_.IsActive(CertificateOf("spiffe://example/eve")));
}

TEST_F(Rules, ACodeIsForOneIdentity) {
  ASSERT_TRUE(at_.Open("eve", "eve", OidcOf("eve 2")).ok());
  EXPECT_REFUSED(kNotFound, at_.Use("eve", OidcOf("mallory")));
  EXPECT_EQ(directory().FindEnrolment("enrolment of eve")->wrong_codes, 0);
}

TEST_F(Rules, ACodeEndsAfterFiveWrongOnesAndAfterFifteenMinutes) {
  ASSERT_TRUE(at_.Open("eve", "eve", OidcOf("eve 2")).ok());
  for (int wrong = 0; wrong < 5; ++wrong) {
    EXPECT_TRUE(at_.Use("eve", OidcOf("eve 2"), "wrong").ok()) << "it is counted";
  }
  EXPECT_REFUSED(kNotFound, at_.Use("eve", OidcOf("eve 2")));
  ASSERT_TRUE(at_.Open("eve", "eve", OidcOf("eve 2")).ok());
  at_.Advance(15 * TestDirectory::kMinute);
  EXPECT_REFUSED(kNotFound, at_.Use("eve", OidcOf("eve 2")));
  EXPECT_FALSE(at_.IsActive(OidcOf("eve 2")));
}

TEST_F(Rules, APrincipalMakesTokensForItselfThatExpire) {
  EXPECT_TRUE(at_.Token("eve", "eve", "t").ok());
  EXPECT_TRUE(at_.IsActive({.kind = CredentialKind::kApiToken, .subject = "t"}));
  CredentialAdded for_ever{.id = "u",
                           .principal = "eve",
                           .identity = {.kind = CredentialKind::kApiToken, .subject = "u"},
                           .secret_hash = "hash"};
  EXPECT_REFUSED(kInvalidArgument, AddToken(directory(), at_.By("eve"), for_ever).status());
  for_ever.expires_at_us = at_.now_us() + 367 * 24 * 60 * TestDirectory::kMinute;
  EXPECT_REFUSED(kInvalidArgument, AddToken(directory(), at_.By("eve"), for_ever).status());
}

TEST_F(Rules, ItsPrincipalOrAnAdministratorRemovesACredential) {
  ASSERT_TRUE(at_.Token("eve", "eve", "t").ok());
  ASSERT_TRUE(at_.Register("mallory").ok());
  const CredentialRemoved wanted{.id = "t", .reason = "lost"};
  EXPECT_REFUSED(kNotFound, at_.Make("mallory", RemoveCredential(directory(), at_.By("mallory"), wanted)));
  EXPECT_TRUE(at_.Make("eve", RemoveCredential(directory(), at_.By("eve"), wanted)).ok());
  EXPECT_EQ(directory().FindCredential("t"), nullptr);
}

// ---- The host

TEST_F(Rules, TheHostMakesAnAdministratorOnlyWhereThereIsNone) {
  ASSERT_TRUE(at_.Create(kHostActor, "aron").ok());
  EXPECT_REFUSED(kFailedPrecondition, at_.Open(kHostActor, "aron", OidcOf("aron"), true));
  EXPECT_TRUE(at_.Open(kHostActor, "aron", OidcOf("aron"), true, /*break_glass=*/true).ok());
}

TEST_F(Rules, TheHostMakesNobodyAnAdministratorWhoseNameMayHaveRights) {
  EXPECT_REFUSED(kFailedPrecondition, at_.Open(kHostActor, "eve", OidcOf("of the host"), true, true));
  EXPECT_TRUE(at_.Open(kHostActor, "ada", OidcOf("ada again"), true, true).ok()) << "who lost her credential";
}

// ---- Two persons

TEST_F(Rules, TwoPersonsAreNotTwoWhenOneAdministratorAloneLinkedBoth) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Link("ada", "bob", OidcOf("bob")).ok());
  ASSERT_TRUE(at_.Create("ada", "cleo").ok());
  ASSERT_TRUE(at_.Link("ada", "cleo", OidcOf("cleo")).ok());
  EXPECT_FALSE(directory().AreTwoPersons("bob", "cleo"));
  EXPECT_FALSE(directory().AreTwoPersons("ada", "bob"));
  EXPECT_TRUE(directory().AreTwoPersons("abe", "bob"));
  EXPECT_TRUE(directory().AreTwoPersons("ada", "abe"));
  EXPECT_FALSE(directory().AreTwoPersons("eve", "eve"));
}

TEST_F(Rules, ASecondAdministratorsWordMakesThemTwo) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Link("ada", "bob", OidcOf("bob")).ok());
  ASSERT_TRUE(at_.Approve("abe", "bob").ok());
  EXPECT_TRUE(directory().AreTwoPersons("ada", "bob"));
}

TEST_F(Rules, TheMakerOfATokenHasSeenItAlsoAfterAnApproval) {
  ASSERT_TRUE(at_.Token("ada", "eve", "t").ok());
  EXPECT_TRUE(directory().AreTwoPersons("ada", "eve")) << "the token is pending";
  ASSERT_TRUE(at_.Approve("abe", "t").ok());
  EXPECT_FALSE(directory().AreTwoPersons("ada", "eve"));
}

// An administrator makes a second one of himself, who then vouches for a third.
TEST_F(Rules, APuppetsPuppetIsNoOtherPerson) {
  ASSERT_TRUE(at_.Create("ada", "puppet").ok());
  ASSERT_TRUE(at_.Link("ada", "puppet", OidcOf("puppet")).ok());
  ASSERT_TRUE(at_.Bind("ada", Role::kAdministrator, "puppet").ok());
  ASSERT_TRUE(at_.Create("puppet", "puppet-2").ok());
  ASSERT_TRUE(at_.Link("puppet", "puppet-2", OidcOf("puppet 2")).ok());
  EXPECT_FALSE(directory().AreTwoPersons("ada", "puppet-2"));
}

// The identity by which an administrator first became somebody counts also after it was removed, and after
// that principal has added others by its own proof.
TEST_F(Rules, RemovingTheFirstIdentityDoesNotHideWhoLinkedIt) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Link("ada", "bob", OidcOf("first")).ok());
  ASSERT_TRUE(at_.Open("bob", "bob", OidcOf("second")).ok());
  ASSERT_TRUE(at_.Use("bob", OidcOf("second")).ok());
  ASSERT_TRUE(
      at_.Make("bob", RemoveCredential(directory(), at_.By("bob"), {.id = "first", .reason = "old"})).ok());
  EXPECT_FALSE(directory().AreTwoPersons("ada", "bob"));
}

TEST_F(Rules, ApprovingIsForAnAdministratorWhoIsAnotherPerson) {
  ASSERT_TRUE(at_.Create("ada", "puppet").ok());
  ASSERT_TRUE(at_.Link("ada", "puppet", OidcOf("puppet")).ok());
  ASSERT_TRUE(at_.Bind("ada", Role::kAdministrator, "puppet").ok());
  ASSERT_TRUE(at_.Link("ada", "eve", OidcOf("of ada's")).ok());
  const absl::Status refused = at_.Approve("puppet", "of ada's");
  EXPECT_REFUSED(kPermissionDenied, refused);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("do not count as two persons"));
}

// ---- Two persons, of whom one was forgotten

// The principal that an administrator makes of an identity of its own, and makes an administrator.
class ForgottenPuppet : public Rules {
 protected:
  void SetUp() override {
    Rules::SetUp();
    at_.VouchFor("ada", "puppet");
    ASSERT_TRUE(at_.Bind("ada", Role::kAdministrator, "puppet").ok());
    ASSERT_TRUE(at_.Register("olga").ok());
  }
};

TEST_F(ForgottenPuppet, AForgottenAdministratorStillCountsForWhatItVouchedFor) {
  at_.VouchFor("puppet", "bob");
  const std::string pseudonym = at_.DisableAndForget("ada", "puppet");
  EXPECT_FALSE(directory().AreTwoPersons("ada", "bob"));
  EXPECT_FALSE(directory().AreTwoPersons("ada", pseudonym)) << "as a proposal names who made it";
  EXPECT_FALSE(directory().AreTwoPersons(pseudonym, "bob"));
  EXPECT_TRUE(directory().AreTwoPersons("abe", "bob"));
  EXPECT_TRUE(directory().AreTwoPersons("abe", pseudonym));
}

TEST_F(ForgottenPuppet, AChainOfForgottenPrincipalsIsFollowedInAnyOrderOfForgetting) {
  at_.VouchFor("puppet", "puppet-2");
  ASSERT_TRUE(at_.Bind("puppet", Role::kAdministrator, "puppet-2").ok());
  at_.VouchFor("puppet-2", "bob");
  for (const char* name : {"puppet-2", "puppet"}) {
    at_.DisableAndForget("ada", name);
    EXPECT_FALSE(directory().AreTwoPersons("ada", "bob")) << "after " << name;
  }
  at_.VouchFor("ada", "another-puppet");
  ASSERT_TRUE(at_.Bind("ada", Role::kAdministrator, "another-puppet").ok());
  at_.VouchFor("another-puppet", "cleo");
  EXPECT_FALSE(directory().AreTwoPersons("cleo", "bob"));
}

TEST_F(ForgottenPuppet, WhoGetsAForgottenNameDoesNotCountForTheFormerOne) {
  at_.VouchFor("puppet", "bob");
  at_.DisableAndForget("ada", "puppet");
  ASSERT_TRUE(at_.Register("puppet", OidcOf("of somebody else")).ok());
  EXPECT_TRUE(directory().AreTwoPersons("puppet", "bob"));
  EXPECT_TRUE(directory().AreTwoPersons("puppet", "ada"));
}

// Else the administrator behind the puppet approves it, and acts as olga.
TEST_F(ForgottenPuppet, ACredentialThatAForgottenAdministratorAddedIsApprovedByNobody) {
  ASSERT_TRUE(at_.Link("puppet", "olga", OidcOf("of ada's")).ok());
  ASSERT_TRUE(at_.Token("puppet", "olga", "t").ok());
  at_.DisableAndForget("ada", "puppet");
  for (const char* credential : {"of ada's", "t"}) {
    EXPECT_REFUSED(kNotFound, at_.Approve("ada", credential));
    EXPECT_REFUSED(kNotFound, at_.Approve("abe", credential));
  }
  EXPECT_EQ(directory().FindIdentity(OidcOf("of ada's")), nullptr) << "it is nobody's";
  EXPECT_EQ(directory().FindPrincipal("olga")->credentials.size(), 1U);
}

TEST_F(ForgottenPuppet, ARoleThatAForgottenAdministratorProposedIsApprovedByNobody) {
  for (const Role role : {Role::kAuditor, Role::kApprover}) {
    ASSERT_TRUE(at_.Bind("puppet", role, "eve").ok());
  }
  at_.DisableAndForget("ada", "puppet");
  for (const Role role : {Role::kAuditor, Role::kApprover}) {
    EXPECT_REFUSED(kNotFound, at_.ApproveBinding("ada", "eve", "", role));
    EXPECT_REFUSED(kNotFound, at_.ApproveBinding("abe", "eve", "", role));
  }
}

TEST_F(ForgottenPuppet, WhatWasApprovedOrNeedsNoApprovalStands) {
  ASSERT_TRUE(at_.Bind("puppet", Role::kOperator, "eve").ok());
  ASSERT_TRUE(at_.Bind("puppet", Role::kAuditor, "eve").ok());
  ASSERT_TRUE(at_.ApproveBinding("abe", "eve", "", Role::kAuditor).ok());
  ASSERT_TRUE(at_.Link("puppet", "olga", OidcOf("olga 2")).ok());
  ASSERT_TRUE(at_.Approve("abe", "olga 2").ok());
  at_.DisableAndForget("ada", "puppet");
  EXPECT_TRUE(directory().HasRole(Role::kOperator, "eve"));
  EXPECT_TRUE(directory().HasRole(Role::kAuditor, "eve"));
  EXPECT_TRUE(at_.IsActive(OidcOf("olga 2")));
}

// An active credential is one administrator's word until a second person approves it.
TEST_F(ForgottenPuppet, ASecondPersonMayStillConfirmWhatAForgottenOneVouchedFor) {
  at_.VouchFor("puppet", "bob");
  at_.DisableAndForget("ada", "puppet");
  EXPECT_REFUSED(kPermissionDenied, at_.Approve("ada", "bob"));
  ASSERT_TRUE(at_.Approve("abe", "bob").ok());
  EXPECT_TRUE(directory().AreTwoPersons("ada", "bob"));
}

// ---- One identity, one person

TEST_F(Rules, AForgottenAdministratorWhoRegistersAgainIsTheSamePerson) {
  ASSERT_TRUE(at_.Register("pia").ok());
  ASSERT_TRUE(at_.Bind("ada", Role::kAdministrator, "pia").ok());
  at_.VouchFor("pia", "bob");
  const std::string pseudonym = at_.DisableAndForget("ada", "pia");
  ASSERT_TRUE(at_.Register("pia-again", OidcOf("pia")).ok());
  EXPECT_FALSE(directory().AreTwoPersons("pia-again", "bob"));
  EXPECT_FALSE(directory().AreTwoPersons("pia-again", pseudonym)) << "whose proposals she does not approve";
  EXPECT_TRUE(directory().AreTwoPersons("pia-again", "ada"));
  at_.DisableAndForget("ada", "pia-again");
  ASSERT_TRUE(at_.Register("pia", OidcOf("pia")).ok());
  EXPECT_FALSE(directory().AreTwoPersons("pia", "bob")) << "also the second time";
}

TEST_F(Rules, WhoVouchedAloneForAForgottenPrincipalCouldActAsWhoHasItsIdentity) {
  at_.VouchFor("ada", "bob");
  at_.DisableAndForget("ada", "bob");
  ASSERT_TRUE(at_.Register("bob-again", OidcOf("bob")).ok());
  EXPECT_FALSE(directory().AreTwoPersons("ada", "bob-again"));
  EXPECT_TRUE(directory().AreTwoPersons("abe", "bob-again"));
}

// Else an identity is removed first, and its principal forgotten then, or never.
TEST_F(Rules, AnIdentityThatWasRemovedTiesWhoHadItToWhoGetsIt) {
  ASSERT_TRUE(at_.Register("pia").ok());
  ASSERT_TRUE(at_.Bind("ada", Role::kAdministrator, "pia").ok());
  ASSERT_TRUE(at_.Token("pia", "pia", "t").ok());
  at_.VouchFor("pia", "bob");
  ASSERT_TRUE(at_.Remove("pia", "pia").ok());
  ASSERT_TRUE(at_.Register("pia-again", OidcOf("pia")).ok());
  EXPECT_FALSE(directory().AreTwoPersons("pia-again", "pia"));
  EXPECT_FALSE(directory().AreTwoPersons("pia-again", "bob"));
  at_.DisableAndForget("ada", "pia");
  EXPECT_FALSE(directory().AreTwoPersons("pia-again", "bob"));
  ASSERT_TRUE(at_.Remove("ada", "pia-again").ok());
  EXPECT_FALSE(directory().AreTwoPersons("pia-again", "bob")) << "also after it has lost it";
}

TEST_F(Rules, WhoHasTheIdentitiesOfTwoForgottenPrincipalsWasBoth) {
  std::vector<std::string> pseudonyms;
  for (const char* name : {"pia", "rita"}) {
    ASSERT_TRUE(at_.Register(name).ok());
    pseudonyms.push_back(at_.DisableAndForget("ada", name));
  }
  ASSERT_TRUE(at_.Register("pia-again", OidcOf("pia")).ok());
  EXPECT_TRUE(directory().AreTwoPersons(pseudonyms[0], pseudonyms[1]));
  ASSERT_TRUE(at_.Open("pia-again", "pia-again", OidcOf("rita")).ok());
  ASSERT_TRUE(at_.Use("pia-again", OidcOf("rita")).ok());
  EXPECT_FALSE(directory().AreTwoPersons(pseudonyms[0], pseudonyms[1]));
}

TEST_F(Rules, AnIdentityTiesNobodyWhomItHasNotProved) {
  ASSERT_TRUE(at_.Register("pia").ok());
  const std::string pseudonym = at_.DisableAndForget("ada", "pia");
  ASSERT_TRUE(at_.Link("ada", "eve", OidcOf("pia")).ok());
  ASSERT_FALSE(at_.IsActive(OidcOf("pia")));
  EXPECT_TRUE(directory().AreTwoPersons("eve", pseudonym)) << "it is pending";
  ASSERT_TRUE(at_.Approve("abe", "pia").ok());
  EXPECT_FALSE(directory().AreTwoPersons("eve", pseudonym));
}

// Whatever administrators do: no removal and no forgetting makes two persons of one, unless a second
// administrator confirms a credential, which none does here. A server that starts decides as one that runs.
TEST_F(Rules, WhoIsOnePersonStaysOneAlsoForAServerThatStarts) {
  std::mt19937 random(1);
  const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  std::vector<std::string> stored = {at_.PseudonymOf("ada"), at_.PseudonymOf("abe"), at_.PseudonymOf("eve")};
  std::set<std::pair<std::string, std::string>> one_person;
  const std::vector<std::string> names = {"p", "q", "r", "s"};
  int forgotten = 0;
  for (int step = 0; stored.size() < 40; ++step) {
    const std::string by = pick(directory().Administrators());
    const std::string name = pick(names);
    const Identity identity = OidcOf(pick({"1", "2", "3", "4", "5", "6"}));
    const PrincipalRecord* const found = directory().FindPrincipal(name);
    if (found == nullptr) {
      const bool is_registered = random() % 2 == 0 && at_.Register(name, identity).ok();
      if (!is_registered && at_.Create(by, name).ok()) at_.Link(by, name, identity).IgnoreError();
      ASSERT_TRUE(at_.Bind(by, Role::kAdministrator, name).ok());
      stored.push_back(at_.PseudonymOf(name));
    } else if (random() % 3 == 0 && !found->credentials.empty()) {
      ASSERT_TRUE(at_.Remove(by, *found->credentials.begin()).ok());
    } else if (by != name) {
      at_.DisableAndForget(by, name);
      ++forgotten;
    }
    const Directory again = at_.ReadAgain();
    const auto name_in = [](const Directory& each, const std::string& pseudonym) {
      return each.IsForgotten(pseudonym) ? pseudonym : each.FindStored(pseudonym)->name;
    };
    for (const std::string& one : stored) {
      for (const std::string& other : stored) {
        const bool are_two =
            directory().AreTwoPersons(name_in(directory(), one), name_in(directory(), other));
        ASSERT_EQ(are_two, again.AreTwoPersons(name_in(again, one), name_in(again, other)));
        ASSERT_FALSE(are_two && one_person.contains({one, other})) << step << ": " << one << " and " << other;
        if (!are_two) one_person.insert({one, other});
      }
    }
  }
  EXPECT_GT(forgotten, 10);
  EXPECT_TRUE(directory().AreTwoPersons("ada", "abe")) << "who did not share an identity";
}

// ---- Roles

TEST_F(Rules, AnAdministratorMakesAdministrators) {
  EXPECT_REFUSED(kPermissionDenied, at_.Bind("eve", Role::kAdministrator, "eve"));
  EXPECT_TRUE(at_.Bind("ada", Role::kAdministrator, "eve").ok());
  EXPECT_TRUE(directory().HasRole(Role::kAdministrator, "eve"));
}

TEST_F(Rules, TheLastAdministratorKeepsTheRole) {
  ASSERT_TRUE(at_.Disable("ada", "abe").ok());
  EXPECT_REFUSED(kFailedPrecondition,
                 at_.Make("ada", UnbindRole(directory(), at_.By("ada"),
                                            {.role = Role::kAdministrator, .principal = "ada"}, false)));
}

TEST_F(Rules, AnApproverIsProposedByTheOwnerAndApprovedByAnAdministrator) {
  ASSERT_TRUE(at_.Register("olga").ok());
  EXPECT_REFUSED(kPermissionDenied, at_.Bind("ada", Role::kApprover, "eve", "census"));
  ASSERT_TRUE(at_.Bind("olga", Role::kApprover, "eve", "census", {.is_owner = true}).ok());
  EXPECT_FALSE(directory().HasRole(Role::kApprover, "eve", "census"));
  EXPECT_REFUSED(kPermissionDenied, at_.ApproveBinding("olga", "eve", "census"));
  EXPECT_TRUE(at_.ApproveBinding("ada", "eve", "census").ok());
  EXPECT_TRUE(directory().HasRole(Role::kApprover, "eve", "census"));
  EXPECT_FALSE(directory().HasRole(Role::kApprover, "eve", "another dataset"));
}

TEST_F(Rules, OwnerAdministratorAndApproverAreThreePersons) {
  ASSERT_TRUE(at_.Register("olga").ok());
  EXPECT_REFUSED(kPermissionDenied, at_.Bind("olga", Role::kApprover, "olga", "census", {.is_owner = true}));
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  ASSERT_TRUE(at_.Link("ada", "bob", OidcOf("bob")).ok());
  ASSERT_TRUE(at_.Bind("olga", Role::kApprover, "bob", "census", {.is_owner = true}).ok());
  EXPECT_REFUSED(kPermissionDenied, at_.ApproveBinding("ada", "bob", "census"));
  EXPECT_TRUE(at_.ApproveBinding("abe", "bob", "census").ok());
}

TEST_F(Rules, AnOwnerProposesNoRolesOfTheServer) {
  ASSERT_TRUE(at_.Register("olga").ok());
  for (const Role role : {Role::kAdministrator, Role::kOperator, Role::kCreator, Role::kAuditor}) {
    EXPECT_REFUSED(kPermissionDenied, at_.Bind("olga", role, "eve", "", {.is_owner = true}));
    EXPECT_REFUSED(kInvalidArgument, at_.Bind("ada", role, "eve", "census", {.is_owner = true}));
  }
  EXPECT_REFUSED(kPermissionDenied,
                 at_.Bind("olga", Role::kApprover, "eve", "", {.is_owner = true}));  // of all
}

TEST_F(Rules, OneAdministratorMakesOperatorsAndCreators) {
  for (const Role role : {Role::kOperator, Role::kCreator}) {
    ASSERT_TRUE(at_.Bind("ada", role, "eve").ok());
    EXPECT_TRUE(directory().HasRole(role, "eve"));
  }
}

TEST_F(Rules, WhoSeesOrApprovesForAllDatasetsIsApprovedByASecondAdministrator) {
  for (const Role role : {Role::kAuditor, Role::kApprover}) {
    ASSERT_TRUE(at_.Bind("ada", role, "eve").ok());
    EXPECT_FALSE(directory().HasRole(role, "eve"));
    EXPECT_REFUSED(kPermissionDenied, at_.ApproveBinding("ada", "eve", "", role));
    ASSERT_TRUE(at_.ApproveBinding("abe", "eve", "", role).ok());
    EXPECT_TRUE(directory().HasRole(role, "eve"));
  }
}

// ---- What no principal is at once

TEST_F(Rules, AnAdministratorHasNoRightsOnDatasets) {
  ASSERT_TRUE(at_.Register("olga").ok());
  EXPECT_REFUSED(kFailedPrecondition,
                 at_.Bind("ada", Role::kAdministrator, "eve", "", {.holder_has_data = true}));
  ASSERT_TRUE(at_.Bind("ada", Role::kCreator, "eve").ok());
  EXPECT_REFUSED(kFailedPrecondition, at_.Bind("ada", Role::kAdministrator, "eve"));
  EXPECT_REFUSED(kFailedPrecondition, at_.Bind("ada", Role::kCreator, "abe"));
  EXPECT_REFUSED(kFailedPrecondition, at_.Bind("olga", Role::kApprover, "abe", "census", {.is_owner = true}));
  EXPECT_REFUSED(kFailedPrecondition, CheckMaySpend(directory(), "abe", "census"));
  EXPECT_TRUE(at_.Bind("ada", Role::kOperator, "abe").ok()) << "which gives no data";
}

TEST_F(Rules, NobodyApprovesTheLimitsOfABudgetThatHeSpends) {
  ASSERT_TRUE(at_.Register("olga").ok());
  EXPECT_REFUSED(kFailedPrecondition, at_.Bind("olga", Role::kApprover, "eve", "census",
                                               {.is_owner = true, .holder_uses_dataset = true}));
  EXPECT_REFUSED(kFailedPrecondition,
                 at_.Bind("ada", Role::kApprover, "eve", "",
                          {.holder_has_data = true}));  // who approves for all datasets spends from none
  EXPECT_TRUE(CheckMaySpend(directory(), "eve", "census").ok());
  ASSERT_TRUE(at_.Bind("olga", Role::kApprover, "eve", "census", {.is_owner = true}).ok());
  EXPECT_REFUSED(kFailedPrecondition,
                 CheckMaySpend(directory(), "eve", "census"));  // also while it is pending
  EXPECT_TRUE(CheckMaySpend(directory(), "eve", "another dataset").ok());
}

// ---- Bounds

TEST_F(Rules, APrincipalMakesAHundredChangesADay) {
  for (int change = 0; change < 50; ++change) {
    const std::string id = "t" + std::to_string(change);
    ASSERT_TRUE(at_.Token("eve", "eve", id).ok());
    ASSERT_TRUE(
        at_.Make("eve", RemoveCredential(directory(), at_.By("eve"), {.id = id, .reason = "used"})).ok());
  }
  EXPECT_REFUSED(kResourceExhausted, at_.Token("eve", "eve", "one more"));
  at_.Advance(24 * 60 * TestDirectory::kMinute);
  EXPECT_TRUE(at_.Token("eve", "eve", "one more").ok());
}

TEST_F(Rules, NameTheFieldThatIsMalformed) {
  ASSERT_TRUE(at_.Create("ada", "bob").ok());
  const auto field_of = [&](const Identity& identity) {
    return FieldViolationOf(at_.Link("ada", "bob", identity)).value_or(FieldViolation()).field;
  };
  EXPECT_EQ(field_of({.kind = CredentialKind::kOidc, .issuer = "", .subject = "x"}), "identity.issuer");
  EXPECT_EQ(field_of(OidcOf("")), "identity.subject");
  EXPECT_EQ(field_of(OidcOf("two\nlines")), "identity.subject");
  EXPECT_EQ(field_of(OidcOf(std::string(1025, 'x'))), "identity.subject");
  EXPECT_EQ(field_of({.kind = CredentialKind::kCertificate, .issuer = "https://x", .subject = "y"}),
            "identity.issuer");
}

}  // namespace
}  // namespace curator::directory
