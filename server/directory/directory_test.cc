#include "directory/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "directory/describe.h"
#include "ledger/history/entry_payload.h"

namespace curator::directory {
namespace {

using ::testing::IsEmpty;

// Ada is an administrator; bob has an identity, an API token and an open enrolment.
class ADirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"ada", "bob", "new"}) Apply(PrincipalCreated{.name = name});
    Apply(RoleBound{.role = Role::kAdministrator, .principal = "ada"});
    Apply(CredentialAdded{.id = "c1", .principal = "bob", .identity = kBob});
    Apply(CredentialAdded{.id = "t1", .principal = "bob", .identity = kToken, .secret_hash = "h"});
    Apply(EnrolmentOpened{.id = "e1", .principal = "bob", .identity = {.issuer = "i", .subject = "other"}});
  }

  void Apply(const Change& change, int64_t at_us = 0, const std::string& actor = kHostActor) {
    const absl::Status applied = ApplyAt(directory_.seq() + 1, change, at_us, actor);
    ASSERT_TRUE(applied.ok()) << applied;
  }
  absl::Status ApplyAt(int64_t seq, const Change& change, int64_t at_us = 0,
                       const std::string& actor = kHostActor) {
    return Apply({.seq = seq,
                  .kind = std::string(KindOf(change)),
                  .payload = EncodeChange(change),
                  .actor = actor,
                  .created_at_us = at_us});
  }
  absl::Status Apply(const ledger::Entry& entry) {
    return directory_.Apply(entry, [this](const std::string& stored) {
      const auto found = names_.find(stored);
      return found == names_.end() ? stored : found->second;
    });
  }
  // Ten entries are lost.
  absl::Status Repair() { return Repair(directory_.seq(), directory_.seq() + 10, directory_.seq() + 11); }
  absl::Status Repair(int64_t last_kept_seq, int64_t anchored_seq, int64_t seq) {
    const ledger::Repair repair{
        .reason = "lost", .last_kept_seq = last_kept_seq, .anchored_seq = anchored_seq};
    return Apply(
        {.seq = seq, .kind = ledger::kRepaired, .payload = EncodePayload(repair), .actor = kHostActor});
  }

  static inline const Identity kBob{.issuer = "i", .subject = "bob"};
  static inline const Identity kToken{.kind = CredentialKind::kApiToken, .subject = "t1"};
  static inline const std::string kPseudonym = "~" + std::string(32, '0');
  std::map<std::string, std::string> names_;  // by what entries have
  Directory directory_;
};

TEST_F(ADirectory, TrustsNobodyAfterARepair) {
  ASSERT_TRUE(Repair().ok());
  EXPECT_TRUE(directory_.FindPrincipal("ada")->is_disabled);
  EXPECT_TRUE(directory_.FindPrincipal("bob")->is_disabled);
  EXPECT_THAT(directory_.Administrators(), IsEmpty());
  EXPECT_THAT(directory_.RolesOf("ada"), IsEmpty());
  EXPECT_EQ(directory_.FindIdentity(kToken), nullptr) << "it may have been removed";
  EXPECT_EQ(directory_.FindIdentity(kBob), nullptr);
  EXPECT_EQ(directory_.FindEnrolment("e1"), nullptr);
  // Else one administrator alone could link it, and act as it.
  EXPECT_TRUE(directory_.FindPrincipal("bob")->may_have_rights);
  EXPECT_TRUE(directory_.FindPrincipal("new")->may_have_rights)
      << "it may have had a credential that is lost";
}

TEST_F(ADirectory, GoesOnAfterTheGap) {
  ASSERT_TRUE(Repair().ok());
  Apply(PrincipalEnabled{.name = "bob", .reason = "checked"});
  EXPECT_FALSE(directory_.FindPrincipal("bob")->is_disabled);
}

TEST_F(ADirectory, OnlyARepairMayLeaveAGap) {
  const int64_t seq = directory_.seq();
  EXPECT_TRUE(absl::IsDataLoss(Repair(seq, seq + 10, seq))) << "it goes back";
  EXPECT_TRUE(absl::IsDataLoss(Repair(seq, seq + 10, seq + 12))) << "it skips more than it says";
  EXPECT_TRUE(absl::IsDataLoss(Repair(seq - 1, seq + 10, seq + 11))) << "of another history";
  const Change change = PrincipalCreated{.name = "eve"};
  EXPECT_TRUE(absl::IsDataLoss(ApplyAt(directory_.seq() + 2, change)));
}

TEST_F(ADirectory, KnowsPrincipalsByTheirNamesAndAsEntriesNameThem) {
  names_[kPseudonym] = "vera";
  Apply(PrincipalCreated{.name = kPseudonym});
  EXPECT_EQ(directory_.FindPrincipal("vera")->stored_name, kPseudonym);
  EXPECT_EQ(directory_.FindStored(kPseudonym)->name, "vera");
  EXPECT_EQ(directory_.FindPrincipal(kPseudonym), nullptr);
  EXPECT_EQ(directory_.FindPrincipal("bob")->stored_name, "bob") << "as an earlier version wrote it";
}

TEST_F(ADirectory, HasNothingOfAForgottenPrincipalAndItsNameIsAnothers) {
  names_[kPseudonym] = "vera";
  const Identity identity{.issuer = "i", .subject = "vera"};
  const auto make_vera = [&](const std::string& stored, const std::string& credential) {
    Apply(PrincipalCreated{.name = stored});
    Apply(CredentialAdded{.id = credential, .principal = stored, .identity = identity});
    Apply(RoleBound{.role = Role::kApprover, .principal = stored, .dataset_id = "d"});
  };
  make_vera(kPseudonym, "c2");
  Apply(EnrolmentOpened{.id = "e2", .principal = kPseudonym, .identity = {.issuer = "i", .subject = "x"}});
  Apply(PrincipalForgotten{.pseudonym = kPseudonym});
  EXPECT_EQ(directory_.FindPrincipal("vera"), nullptr);
  EXPECT_EQ(directory_.FindIdentity(identity), nullptr);
  EXPECT_EQ(directory_.FindCredential("c2"), nullptr);
  EXPECT_EQ(directory_.FindEnrolment("e2"), nullptr);
  EXPECT_THAT(directory_.RolesOf("vera"), IsEmpty());
  const std::string another = "~" + std::string(32, '1');
  names_[another] = "vera";
  make_vera(another, "c3");
  EXPECT_EQ(directory_.FindIdentity(identity)->principal, "vera");
}

// A directory that saw the name is as one that reads the same entries later.
TEST_F(ADirectory, EverythingThatNamedAForgottenPrincipalNamesItsPseudonym) {
  names_[kPseudonym] = "vera";
  Apply(PrincipalCreated{.name = kPseudonym});
  Apply(PrincipalCreated{.name = "made"}, 5, kPseudonym);
  Apply(CredentialAdded{.id = "c2", .principal = "made", .identity = {.issuer = "i", .subject = "made"}}, 5,
        kPseudonym);
  Apply(CredentialAdded{
      .id = "c3", .principal = "bob", .identity = {.issuer = "i", .subject = "b"}, .is_pending = true});
  Apply(CredentialApproved{.id = "c3"}, 5, kPseudonym);
  Apply(RoleBound{.role = Role::kOperator, .principal = "made"}, 5, kPseudonym);
  Apply(RoleBound{.role = Role::kAuditor, .principal = "made", .is_pending = true});
  Apply(RoleApproved{.role = Role::kAuditor, .principal = "made"}, 5, kPseudonym);
  EXPECT_EQ(directory_.FindPrincipal("made")->created_by, "vera");
  names_.erase(kPseudonym);
  Apply(PrincipalForgotten{.pseudonym = kPseudonym});
  EXPECT_EQ(directory_.FindPrincipal("made")->created_by, kPseudonym);
  EXPECT_EQ(directory_.FindPrincipal("made")->vouched_alone.at("c2"), kPseudonym);
  EXPECT_EQ(directory_.FindCredential("c2")->added_by, kPseudonym);
  EXPECT_EQ(directory_.FindCredential("c3")->approved_by, kPseudonym);
  EXPECT_EQ(directory_.FindRole(Role::kOperator, "made", "")->bound_by, kPseudonym);
  EXPECT_EQ(directory_.FindRole(Role::kAuditor, "made", "")->approved_by, kPseudonym);
  EXPECT_EQ(directory_.ChangesToday("vera", 5), 0) << "who has the name next begins at none";
  EXPECT_EQ(directory_.ChangesToday(kPseudonym, 5), 5);
  EXPECT_TRUE(directory_.IsForgotten(kPseudonym));
  EXPECT_FALSE(directory_.IsForgotten("bob"));
}

// Another server has destroyed the name already when these entries are read.
TEST_F(ADirectory, FollowsAPrincipalWhoseNameIsGoneBeforeTheEntryThatForgetsIt) {
  names_[kPseudonym] = "vera";
  Apply(PrincipalCreated{.name = kPseudonym});
  names_.erase(kPseudonym);
  Apply(PrincipalDisabled{.name = kPseudonym, .reason = "left"});
  EXPECT_TRUE(directory_.FindPrincipal("vera")->is_disabled);
  Apply(PrincipalForgotten{.pseudonym = kPseudonym});
  EXPECT_EQ(directory_.FindPrincipal("vera"), nullptr);
  EXPECT_EQ(directory_.FindStored(kPseudonym), nullptr);
}

// As where a backup of the table of pseudonyms was restored.
TEST_F(ADirectory, DoesNotTakeBackTheNameOfAForgottenPrincipal) {
  names_[kPseudonym] = "vera";
  Apply(PrincipalCreated{.name = kPseudonym});
  Apply(PrincipalForgotten{.pseudonym = kPseudonym});
  Apply(PrincipalCreated{.name = "late"}, 5, kPseudonym);
  EXPECT_EQ(directory_.FindPrincipal("late")->created_by, kPseudonym);
}

TEST_F(ADirectory, KnowsWhoCouldActAsAForgottenPrincipalAlsoAfterARepair) {
  Apply(PrincipalCreated{.name = kPseudonym});
  Apply(CredentialAdded{.id = "c2", .principal = kPseudonym, .identity = {.issuer = "i", .subject = "v"}}, 5,
        "ada");
  Apply(CredentialAdded{
      .id = "c3", .principal = "bob", .identity = {.issuer = "i", .subject = "b"}, .is_pending = true});
  Apply(PrincipalForgotten{.pseudonym = kPseudonym});
  ASSERT_TRUE(Repair().ok());
  EXPECT_FALSE(directory_.AreTwoPersons("ada", kPseudonym));
  Apply(PrincipalForgotten{.pseudonym = "bob"});
  EXPECT_EQ(directory_.FindPrincipal("bob"), nullptr) << "whose credentials the repair ended";
}

// The rules let nobody but a principal itself, and the host, open one.
TEST_F(ADirectory, AnEnrolmentThatAForgottenPrincipalOpenedIsGone) {
  Apply(PrincipalCreated{.name = kPseudonym});
  Apply(EnrolmentOpened{.id = "e2", .principal = "new", .identity = {.issuer = "i", .subject = "n"}}, 5,
        kPseudonym);
  Apply(PrincipalForgotten{.pseudonym = kPseudonym});
  EXPECT_EQ(directory_.FindEnrolment("e2"), nullptr);
  EXPECT_NE(directory_.FindEnrolment("e1"), nullptr);
}

TEST_F(ADirectory, NobodyIsForgottenWhomNoEntryNames) {
  EXPECT_TRUE(absl::IsDataLoss(ApplyAt(directory_.seq() + 1, PrincipalForgotten{.pseudonym = kPseudonym})));
}

TEST_F(ADirectory, KnowsWhenOnePersonHadCustody) {
  EXPECT_EQ(directory_.custody(), Custody::kTwoPersons);
  Apply(CustodySet{Custody::kSingle}, 100);
  EXPECT_EQ(directory_.custody(), Custody::kSingle);
  Apply(CustodySet{Custody::kTwoPersons}, 200);
  EXPECT_EQ(directory_.custody(), Custody::kTwoPersons);
  EXPECT_EQ(directory_.CustodyAt(99), Custody::kTwoPersons);
  EXPECT_EQ(directory_.CustodyAt(100), Custody::kSingle);
  EXPECT_EQ(directory_.CustodyAt(199), Custody::kSingle);
  EXPECT_EQ(directory_.CustodyAt(200), Custody::kTwoPersons);
}

TEST_F(ADirectory, TakesTwoPersonsAfterARepair) {
  Apply(CustodySet{Custody::kSingle});
  ASSERT_TRUE(Repair().ok());
  EXPECT_EQ(directory_.custody(), Custody::kTwoPersons);
}

TEST(Describe, SaysNoSecret) {
  const std::string text =
      Describe(CredentialAdded{.id = "t1",
                               .principal = "bob",
                               .identity = {.kind = CredentialKind::kApiToken, .subject = "t1"},
                               .secret_hash = "hash of it"});
  EXPECT_EQ(text, "t1 for bob: API_TOKEN t1, by an administrator");
}

}  // namespace
}  // namespace curator::directory
