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

  void Apply(const Change& change, int64_t at_us = 0) {
    const absl::Status applied = ApplyAt(directory_.seq() + 1, change, at_us);
    ASSERT_TRUE(applied.ok()) << applied;
  }
  absl::Status ApplyAt(int64_t seq, const Change& change, int64_t at_us = 0) {
    return Apply({.seq = seq,
                  .kind = std::string(KindOf(change)),
                  .payload = EncodeChange(change),
                  .actor = kHostActor,
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
