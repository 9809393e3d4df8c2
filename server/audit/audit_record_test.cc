#include "audit/audit_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace curator::audit {
namespace {

TEST(AuditRecordTest, EveryWordMeansWhatItWasWrittenFor) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(*ParseRecordKind(WordOf(static_cast<RecordKind>(i))), static_cast<RecordKind>(i));
    EXPECT_EQ(*ParsePeerClass(WordOf(static_cast<PeerClass>(i))), static_cast<PeerClass>(i));
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(*ParseIdentityKind(WordOf(static_cast<IdentityKind>(i))), static_cast<IdentityKind>(i));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(*ParseDecision(WordOf(static_cast<Decision>(i))), static_cast<Decision>(i));
  }
  EXPECT_EQ(ParseDecision("MAYBE").status().code(), absl::StatusCode::kDataLoss);
}

TEST(AuditRecordTest, ATextIsCutBetweenCharacters) {
  EXPECT_EQ(BoundedText("census", 6), "census");
  EXPECT_EQ(BoundedText("census", 3), "cen");
  EXPECT_EQ(BoundedText("Zürich", 2), "Z");
  EXPECT_EQ(BoundedText("Zürich", 3), "Zü");
}

TEST(AuditRecordTest, WhatAStoreOrATerminalWouldNotTakeBecomesAQuestionMark) {
  EXPECT_EQ(BoundedText(std::string("a\0b", 3), 10), "a?b");
  EXPECT_EQ(BoundedText("a\xff\xc3z", 10), "a??z");
  EXPECT_EQ(BoundedText("\x1b[2J\n", 10), "?[2J?");
}

TEST(AuditRecordTest, FullAccountsAreReadAsTheyWereWritten) {
  const std::vector<FullAccount> accounts = {{"dataset/census", "PURE", "epsilon", 5, 3},
                                             {"dataset/census/analyst/ana", "ZCDP", "rho", 7, 0}};
  EXPECT_EQ(ParseFullAccounts(TextOf(accounts)).value(), accounts);
  EXPECT_EQ(ParseFullAccounts(TextOf({})).value(), std::vector<FullAccount>());
  for (const char* const damaged : {"x", "a\tb\tc\t1", "a\tb\tc\t1\tx", "a\tb\tc\t1\t2\n"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseFullAccounts(damaged).status())) << damaged;
  }
}

TEST(AuditRecordTest, OfManyFullAccountsTheFirstAreKeptAndNoNameBreaksALine) {
  AuditRecord record;
  record.full_accounts.assign(3 * kMostFullAccounts, {"dataset/a\nb\tc", "PURE", "epsilon", 1, 0});
  const AuditRecord bounded = Bounded(record);
  ASSERT_EQ(bounded.full_accounts.size(), kMostFullAccounts);
  EXPECT_EQ(ParseFullAccounts(TextOf(bounded.full_accounts)).value(), bounded.full_accounts);
}

TEST(AuditRecordTest, ARecordIsSmallWhateverWasSent) {
  const std::string large(1'000'000, 'x');
  const AuditRecord bounded = Bounded({.principal = large, .dataset = large, .request_id = large});
  EXPECT_LE(bounded.principal.size() + bounded.dataset.size() + bounded.request_id.size(), 512u);
}

}  // namespace
}  // namespace curator::audit
