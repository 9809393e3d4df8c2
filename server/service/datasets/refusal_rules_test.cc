#include "service/datasets/refusal_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "service/accounts/budgets.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using codec::RefusalRule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RefusalRulesTest : public ServiceTest {
 protected:
  void SetUp() override { census_ = MakeSealed(People("census")).record.id; }

  absl::StatusOr<RefusalRule> Add(const RefusalRule& rule, const RequestId& id = NewRequestId(),
                                  Intent intent = Intent::kDo) const {
    return AddRefusalRule({*ledger_}, {id, owner_, DatasetName("census"), rule}, intent);
  }
  absl::Status Remove(const std::string& rule, const RequestId& id = NewRequestId(),
                      Intent intent = Intent::kDo) const {
    return RemoveRefusalRule({*ledger_}, {id, owner_, DatasetName("census"), rule}, intent);
  }
  std::vector<RefusalRule> List(const std::string& principal = "owner") const {
    const auto rules = ListRefusalRules({*ledger_}, TestPrincipal(principal), DatasetName("census"));
    EXPECT_TRUE(rules.ok()) << rules.status();
    return rules.value_or(std::vector<RefusalRule>());
  }
  std::vector<std::string> NamesFor(const std::string& principal) const {
    std::vector<std::string> names;
    for (const RefusalRule& rule : List(principal)) names.push_back(rule.name);
    return names;
  }
  void Grant(const std::string& grantee, int64_t roles) const {
    ASSERT_TRUE(ledger_->SetGrant(census_, {.grantee = grantee, .roles = roles}, owner_).ok());
  }
  std::string FieldOfRefused(const RefusalRule& rule) const { return FieldOf(Add(rule).status()); }

  const Principal owner_ = TestPrincipal("owner");
  std::string census_;
};

TEST_F(RefusalRulesTest, ARuleIsStoredWithItsListsInOrderAndListedByName) {
  ASSERT_TRUE(Add({.name = "b"}).ok());
  const auto added = Add({.name = "a", .principals = {"zoe", "ana", "zoe"}, .attributes = {"sex", "age"}});
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_THAT(added->principals, ElementsAre("ana", "zoe"));
  EXPECT_THAT(added->attributes, ElementsAre("age", "sex"));
  EXPECT_THAT(List(), ElementsAre(*added, RefusalRule{.name = "b"}));
}

TEST_F(RefusalRulesTest, TheSameRuleAgainChangesNothingAndAnotherOfItsNameIsRefused) {
  ASSERT_TRUE(Add({.name = "a"}).ok());
  const std::string before = ledger_->GetDataset("census")->refusal_rules;
  ASSERT_TRUE(Add({.name = "a"}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Add({.name = "a", .note = "other"}).status()));
  EXPECT_EQ(ledger_->GetDataset("census")->refusal_rules, before);
}

TEST_F(RefusalRulesTest, ARepeatedRequestChangesNothing) {
  const RequestId add = NewRequestId();
  const RequestId remove = NewRequestId();
  ASSERT_TRUE(Add({.name = "a"}, add).ok());
  ASSERT_TRUE(Remove("a", remove).ok());
  EXPECT_TRUE(Remove("a", remove).ok());
  EXPECT_TRUE(Add({.name = "a"}, add).ok());
  EXPECT_TRUE(List().empty()) << "it is not added a second time";
  EXPECT_TRUE(absl::IsNotFound(Remove("a")));
}

TEST_F(RefusalRulesTest, WhatIsOnlyValidatedChangesNothing) {
  EXPECT_TRUE(Add({.name = "a"}, NewRequestId(), Intent::kValidateOnly).ok());
  EXPECT_TRUE(absl::IsNotFound(Remove("a", NewRequestId(), Intent::kValidateOnly)));
  EXPECT_TRUE(List().empty());
  EXPECT_TRUE(Add({.name = "a", .principals = {"nobody-yet"}}, NewRequestId(), Intent::kValidateOnly).ok());
  EXPECT_EQ(ledger_->FindPseudonym("nobody-yet").value(), "nobody-yet") << "no name is stored";
}

TEST_F(RefusalRulesTest, AMalformedRuleIsRefusedByItsField) {
  EXPECT_EQ(FieldOfRefused({.name = ""}), "rule.name");
  EXPECT_EQ(FieldOfRefused({.name = "No"}), "rule.name");
  EXPECT_EQ(FieldOfRefused({.name = std::string(64, 'a')}), "rule.name");
  EXPECT_EQ(FieldOfRefused({.name = "a", .principals = {"ana", "a b"}}), "rule.principals[1]");
  EXPECT_EQ(FieldOfRefused({.name = "a", .attributes = {"sex", "agee"}}), "rule.attributes[1]");
  EXPECT_EQ(FieldOfRefused({.name = "a", .price_above = codec::PriceAbove{"rho", 1}}),
            "rule.price_above.counter");
  EXPECT_EQ(FieldOfRefused({.name = "a", .start_us = 3'000'000'000'000'000, .end_us = 3'000'000'000'000'000}),
            "rule.end_time");
  EXPECT_EQ(FieldOfRefused({.name = "a", .end_us = 1}), "rule.end_time") << "it has passed";
  EXPECT_EQ(FieldOfRefused({.name = "a", .note = std::string(201, 'n')}), "rule.note");
  EXPECT_EQ(FieldOfRefused({.name = "a", .note = "two\nlines"}), "rule.note");
  EXPECT_TRUE(List().empty());
}

TEST_F(RefusalRulesTest, ADatasetHasSoManyRulesOfSoManyBytes) {
  for (size_t i = 0; i < codec::kMostRefusalRules; ++i)
    ASSERT_TRUE(Add({.name = absl::StrCat("rule-", i)}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Add({.name = "more"}).status()));
  ASSERT_TRUE(Remove("rule-0").ok());
  RefusalRule large{.name = "large"};
  for (int i = 0; i < 1300; ++i) large.principals.push_back(absl::StrCat("p", i));
  ASSERT_TRUE(Add(large).ok());
  ASSERT_TRUE(Remove("rule-1").ok());
  large.name = "larger";
  EXPECT_TRUE(absl::IsFailedPrecondition(Add(large).status()));
  large.principals.resize(1501, "more");
  EXPECT_EQ(FieldOfRefused(large), "rule.principals");
  EXPECT_TRUE(Add({.name = "small"}).ok());
}

TEST_F(RefusalRulesTest, APublicDatasetHasNoRules) {
  NewDataset open = People("open");
  open.limit.reset();
  open.is_public = true;
  ASSERT_TRUE(CreateDataset({*ledger_}, open, Intent::kDo).ok());
  const auto added =
      AddRefusalRule({*ledger_}, {NewRequestId(), owner_, DatasetName("open"), {.name = "a"}}, Intent::kDo);
  EXPECT_TRUE(absl::IsFailedPrecondition(added.status())) << added.status();
}

TEST_F(RefusalRulesTest, AGranteeSeesTheRulesThatMayRefuseItWithoutTheOthersOfTheirLists) {
  Grant("ana", ledger::kGrantedAnalyst);
  Grant("sam", ledger::kGrantedService);
  Grant("uma", ledger::kGrantedAuditor);
  ASSERT_TRUE(Add({.name = "all"}).ok());
  ASSERT_TRUE(Add({.name = "both", .principals = {"ana", "sam"}}).ok());
  ASSERT_TRUE(Add({.name = "of-sam", .principals = {"sam"}}).ok());
  ASSERT_TRUE(Add({.name = "outside", .kinds = codec::kRuledReservation}).ok());
  EXPECT_THAT(NamesFor("ana"), ElementsAre("all", "both"));
  EXPECT_THAT(List("ana").at(1).principals, ElementsAre("ana"));
  EXPECT_TRUE(List("ana").at(0).principals.empty());
  EXPECT_THAT(NamesFor("sam"), ElementsAre("all", "both", "of-sam", "outside"));
  EXPECT_THAT(NamesFor("uma"), ElementsAre("all", "both", "of-sam", "outside"));
  EXPECT_THAT(List("uma").at(1).principals, ElementsAre("ana", "sam"));
  EXPECT_TRUE(
      absl::IsNotFound(ListRefusalRules({*ledger_}, TestPrincipal("eve"), DatasetName("census")).status()));
}

TEST_F(RefusalRulesTest, OnlyTheOwnerChangesRules) {
  Grant("ana", ledger::kGrantedAnalyst);
  const auto added = AddRefusalRule(
      {*ledger_}, {NewRequestId(), TestPrincipal("ana"), DatasetName("census"), {.name = "a"}}, Intent::kDo);
  EXPECT_TRUE(absl::IsPermissionDenied(added.status())) << added.status();
  EXPECT_FALSE(IsRefusedByRule(added.status()));
  EXPECT_TRUE(absl::IsPermissionDenied(RemoveRefusalRule(
      {*ledger_}, {NewRequestId(), TestPrincipal("ana"), DatasetName("census"), "a"}, Intent::kDo)));
}

TEST_F(RefusalRulesTest, TheHistorySaysWhoAddedAndRemovedWhichRule) {
  ASSERT_TRUE(Add({.name = "night", .principals = {"ana"}}).ok());
  ASSERT_TRUE(Remove("night").ok());
  const auto read = ListLedgerEntries({*ledger_}, owner_, DatasetName("census"), {.limit = 1000});
  ASSERT_TRUE(read.ok()) << read.status();
  std::vector<std::string> said;
  for (const ledger::Entry& entry : read->entries) {
    if (entry.kind == ledger::kRulesSet) said.push_back(ledger::ActorName(entry) + ": " + Summary(entry));
  }
  EXPECT_THAT(said, ElementsAre("owner: added night", "owner: removed night"));
}

}  // namespace
}  // namespace curator::service
