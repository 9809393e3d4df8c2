// Followers of the audit, on every backend.
#include "audit/audit_followers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "audit/testing/audit_conformance.h"
#include "ledger/conformance/faulty_database.h"

namespace curator::audit {
namespace {

using ledger::Fault;
using ledger::FaultyDatabase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::milliseconds kNeverByItself = std::chrono::hours(24);

class AuditFollowersTest : public AuditConformance {
 protected:
  // What a follower got, by ids.
  struct Got {
    std::vector<int64_t> ids;
    int looks = 0;
  };
  static AuditFollowers::OnLook Into(Got& got) {
    return [&got](const std::vector<AuditRecord>& records) {
      ++got.looks;
      for (const AuditRecord& record : records) got.ids.push_back(record.id);
    };
  }
  static std::vector<AuditRecord> Calls(size_t number) { return std::vector<AuditRecord>(number); }
};

TEST_P(AuditFollowersTest, AFollowerGetsWhatIsAfterTheRecordThatItNamesAndWhatComes) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append(Calls(3)).ok());
  AuditFollowers followers(*store, kNeverByItself);
  Got got;
  const uint64_t follower = followers.Follow(1, Into(got), [] {});
  followers.Look();
  EXPECT_THAT(got.ids, ElementsAre(2, 3));
  followers.Took(follower);
  ASSERT_TRUE(OpenAudit()->Append(Calls(1)).ok());  // another server's
  followers.Look();
  EXPECT_THAT(got.ids, ElementsAre(2, 3, 4));
}

TEST_P(AuditFollowersTest, WithoutARecordItGetsWhatIsNew) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append(Calls(3)).ok());
  AuditFollowers followers(*store, kNeverByItself);
  Got got;
  followers.Follow(std::nullopt, Into(got), [] {});
  followers.Look();
  EXPECT_THAT(got.ids, IsEmpty());
  ASSERT_TRUE(store->Append(Calls(1)).ok());
  followers.Look();
  EXPECT_THAT(got.ids, ElementsAre(4));
}

TEST_P(AuditFollowersTest, WithoutARecordItGetsTheFirstOneOfAll) {
  const auto store = OpenAudit();
  AuditFollowers followers(*store, kNeverByItself);
  Got got;
  followers.Follow(std::nullopt, Into(got), [] {});
  followers.Look();
  ASSERT_TRUE(store->Append(Calls(1)).ok());
  followers.Look();
  EXPECT_THAT(got.ids, ElementsAre(1));
}

TEST_P(AuditFollowersTest, WhoHasNotTakenWhatItGotGetsNoMoreAndHoldsUpNobody) {
  const auto store = OpenAudit();
  AuditFollowers followers(*store, kNeverByItself);
  Got slow;
  Got quick;
  const uint64_t slow_one = followers.Follow(0, Into(slow), [] {});
  const uint64_t quick_one = followers.Follow(0, Into(quick), [] {});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store->Append(Calls(1)).ok());
    followers.Look();
    followers.Took(quick_one);
  }
  EXPECT_THAT(slow.ids, ElementsAre(1));
  EXPECT_THAT(quick.ids, ElementsAre(1, 2, 3));
  followers.Took(slow_one);
  followers.Look();
  EXPECT_THAT(slow.ids, ElementsAre(1, 2, 3));
}

TEST_P(AuditFollowersTest, ManyRecordsComeInBoundedParts) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append(Calls(AuditFollowers::kMostAtOnce + 1)).ok());
  AuditFollowers followers(*store, kNeverByItself);
  Got got;
  const uint64_t follower = followers.Follow(0, Into(got), [] {});
  followers.Look();
  EXPECT_THAT(got.ids, SizeIs(AuditFollowers::kMostAtOnce));
  followers.Took(follower);
  followers.Look();
  EXPECT_EQ(got.ids.back(), AuditFollowers::kMostAtOnce + 1);
}

TEST_P(AuditFollowersTest, WhoWasRemovedGetsNothing) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append(Calls(1)).ok());
  AuditFollowers followers(*store, kNeverByItself);
  Got got;
  followers.Remove(followers.Follow(0, Into(got), [] {}));
  followers.Look();
  EXPECT_EQ(got.looks, 0);
}

TEST_P(AuditFollowersTest, WhoFollowsAServerThatStopsLearnsIt) {
  const auto store = OpenAudit();
  AuditFollowers followers(*store, kNeverByItself);
  Got got;
  int closed = 0;
  followers.Follow(0, Into(got), [&] { ++closed; });
  followers.Close();
  EXPECT_EQ(closed, 1);
  followers.Follow(0, Into(got), [&] { ++closed; });
  EXPECT_EQ(closed, 2);
  ASSERT_TRUE(store->Append(Calls(1)).ok());
  followers.Look();
  EXPECT_EQ(got.looks, 0);
}

TEST_P(AuditFollowersTest, AStoreThatIsAwayIsAskedAgainAndNothingIsMissed) {
  OpenAudit();
  auto owned = std::make_unique<FaultyDatabase>(OpenStoreOf(audit_url()));
  FaultyDatabase& faulty = *owned;
  AuditStore store([&] { return std::move(owned); });
  ASSERT_TRUE(store.Append(Calls(2)).ok());
  AuditFollowers followers(store, kNeverByItself);
  Got got;
  followers.Follow(0, Into(got), [] {});
  for (int step = 0; step < 4; ++step) {
    faulty.Arm(Fault::kLost, step);
    followers.Look();
    faulty.Disarm();
  }
  followers.Look();
  EXPECT_THAT(got.ids, ElementsAre(1, 2));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, AuditFollowersTest, ::testing::ValuesIn(ledger::LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::audit
