#include "directory/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace curator::directory {
namespace {

const Identity kIdentity = {CredentialKind::kOidc, "https://idp.example", "bob"};

std::vector<Change> OneOfEach() {
  return {PrincipalCreated{"bob", PrincipalKind::kService, true},
          PrincipalDisabled{"bob", "left"},
          PrincipalEnabled{"bob", "is back"},
          CredentialAdded{"c1", "bob", kIdentity, "hash", "laptop", 7, Basis::kOwnProof, true},
          CredentialApproved{"c1"},
          CredentialRemoved{"c1", "lost"},
          PrincipalRegistered{"corp.bob", "c2", kIdentity},
          EnrolmentOpened{"e1", "bob", kIdentity, "hash", 8, true},
          EnrolmentTried{"e1"},
          EnrolmentUsed{"e1", "c3"},
          RoleBound{Role::kApprover, "bob", "census", true},
          RoleApproved{Role::kApprover, "bob", "census"},
          RoleUnbound{Role::kAdministrator, "bob", ""},
          CustodySet{Custody::kSingle},
          PrincipalForgotten{"~1", "asked for it"}};
}

TEST(Changes, AreReadAsTheyWereWritten) {
  const std::vector<Change> changes = OneOfEach();
  ASSERT_EQ(changes.size(), std::variant_size_v<Change>);
  for (const Change& change : changes) {
    const absl::StatusOr<Change> parsed = ParseChange(KindOf(change), EncodeChange(change));
    ASSERT_TRUE(parsed.ok()) << KindOf(change) << ": " << parsed.status();
    EXPECT_EQ(parsed->index(), change.index());
    EXPECT_EQ(EncodeChange(*parsed), EncodeChange(change)) << KindOf(change);
  }
}

// What is not visited would stand in the history by its name.
TEST(Changes, OfPrincipalsHaveTheirNamesReplaced) {
  for (Change change : OneOfEach()) {
    VisitNames(change, [](std::string& name) { name = "~"; });
    const bool names_somebody = EncodeChange(change).find("bob") != std::string::npos;
    const bool is_identity = std::visit(
        [](const auto& each) {
          return requires {
            each.identity;
          };
        },
        change);
    EXPECT_EQ(names_somebody, is_identity) << KindOf(change) << ": an identity is not a principal's name";
  }
}

TEST(Changes, HaveDifferentKinds) {
  std::set<std::string_view> kinds;
  for (const Change& change : OneOfEach()) kinds.insert(KindOf(change));
  EXPECT_EQ(kinds.size(), std::variant_size_v<Change>);
}

TEST(Changes, AreRefusedWithBytesThatNobodyWrites) {
  for (const Change& change : OneOfEach()) {
    const std::string payload = EncodeChange(change);
    EXPECT_TRUE(absl::IsDataLoss(ParseChange(KindOf(change), payload + "x").status())) << KindOf(change);
    EXPECT_TRUE(
        absl::IsDataLoss(ParseChange(KindOf(change), payload.substr(0, payload.size() - 1)).status()));
  }
  std::string with_unknown_kind = EncodeChange(PrincipalCreated{"bob", PrincipalKind::kPerson, false});
  with_unknown_kind[with_unknown_kind.size() - 9] = 9;  // the last byte of the second field from the end
  EXPECT_TRUE(absl::IsDataLoss(ParseChange(PrincipalCreated::kKind, with_unknown_kind).status()));
}

TEST(Changes, OfAnUnknownKindAreRefused) {
  EXPECT_TRUE(absl::IsDataLoss(ParseChange("GRANTED", EncodeChange(CredentialApproved{"c1"})).status()));
}

}  // namespace
}  // namespace curator::directory
