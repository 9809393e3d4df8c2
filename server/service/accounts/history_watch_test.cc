#include "service/accounts/history_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/errors.h"
#include "ledger/history/entry_payload.h"
#include "service/charges/accountant.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three datasets of "owner". Reads of this thread are counted.
class HistoryWatchTest : public ServiceTest {
 protected:
  HistoryWatchTest() : ServiceTest(&OpenLedgerThrough<CountedReads>) {}

  void SetUp() override {
    for (const char* const name : {"census", "schools", "visits"}) {
      ids_[name] = MakeSealed(People(name)).record.id;
    }
  }

  // What a thread of a server does twice a second.
  absl::StatusOr<std::vector<WatchedEntry>> Look(HistoryWatch& watch,
                                                 HistoryWatch::Steady::time_point now = {}) {
    heads_.Read(now);
    return watch.Look(now);
  }
  // Looks until nothing is new: as many as there were.
  size_t CatchUp(HistoryWatch& watch) {
    size_t found = 0;
    for (size_t last = 1; last > 0; found += last) last = Look(watch).value().size();
    EXPECT_THAT(Look(watch).value(), IsEmpty());
    return found;
  }
  HistoryWatch WatchBy(const std::string& principal, const std::vector<std::string>& names,
                       const directory::DirectoryStore* directory = nullptr) {
    std::vector<HistoryPosition> positions;
    for (const std::string& name : names) positions.push_back({DatasetName(name), 0});
    return {Access{*ledger_, directory}, heads_, TestPrincipal(principal), std::move(positions)};
  }
  void Grant(const std::string& dataset, const std::string& grantee, int64_t roles, int64_t ends_us = 0) {
    const ledger::Grant grant{.grantee = grantee, .roles = roles, .expires_at_us = ends_us};
    ASSERT_TRUE(ledger_->SetGrant(ids_.at(dataset), grant, TestPrincipal("owner")).ok());
  }
  void Delete(const std::string& dataset) {
    ASSERT_TRUE(ledger_
                    ->DeleteDataset({.request_id = NewRequestId().text(),
                                     .name = dataset,
                                     .dataset_id = ids_.at(dataset),
                                     .actor = TestPrincipal("owner")})
                    .ok());
  }
  void MakeOf(const std::string& principal, const std::string& name) {
    NewDataset dataset = People(name);
    dataset.principal = TestPrincipal(principal);
    ASSERT_TRUE(CreateDataset({*ledger_}, dataset, Intent::kDo).ok());
  }
  absl::Status Reserve(const std::string& dataset, const std::string& principal) {
    return ReserveBudget(services_, TestPrincipal(principal),
                         {{.request_id = NewRequestId(),
                           .dataset = DatasetName(dataset),
                           .event = dp::Event{dp::PureEvent{EpsilonOf(1)}},
                           .summary = "one count",
                           .lifetime = absl::Hours(1)}},
                         Intent::kDo)
        .status();
  }
  static absl::Status MakeChange(directory::DirectoryStore& directory, const directory::Change& change) {
    return directory.Make("owner", [&](const directory::Directory&) { return change; }).status();
  }
  static std::vector<std::string> DatasetsOf(const std::vector<WatchedEntry>& found) {
    std::vector<std::string> names;
    for (const WatchedEntry& each : found) names.push_back(each.dataset);
    return names;
  }

  std::map<std::string, std::string> ids_;
  WatchedHeads heads_{*ledger_};
};

TEST_F(HistoryWatchTest, ALookAtHistoriesThatHaveNotMovedReadsNothingButTheirHeads) {
  std::vector<std::unique_ptr<HistoryWatch>> watches;
  for (int i = 0; i < 10; ++i) {
    watches.push_back(std::make_unique<HistoryWatch>(WatchBy("owner", {"census", "schools", "visits"})));
    EXPECT_GT(CatchUp(*watches.back()), 0u);
  }
  CountedReads::count = 0;
  heads_.Read({});
  EXPECT_EQ(CountedReads::count, 1);
  for (const auto& watch : watches) EXPECT_THAT(watch->Look({}).value(), IsEmpty());
  EXPECT_EQ(CountedReads::count, 1);
}

TEST_F(HistoryWatchTest, ANewEntryIsFoundByTheNextLookAndOnce) {
  HistoryWatch watch = WatchBy("owner", {"census", "schools", "visits"});
  CatchUp(watch);
  Grant("schools", "ana", ledger::kGrantedAnalyst);
  EXPECT_THAT(DatasetsOf(Look(watch).value()), ElementsAre("schools"));
  EXPECT_THAT(Look(watch).value(), IsEmpty());
}

TEST_F(HistoryWatchTest, WhoSeesOwnChargesAloneReadsNothingMoreWhenOthersHaveCharged) {
  Grant("census", "ana", ledger::kGrantedService);
  HistoryWatch watch = WatchBy("ana", {"census"});
  ASSERT_TRUE(Reserve("census", "ana").ok());
  EXPECT_EQ(CatchUp(watch), 1u);
  ASSERT_TRUE(Reserve("census", "owner").ok());
  EXPECT_THAT(Look(watch).value(), IsEmpty());
  heads_.Read({});
  CountedReads::count = 0;
  EXPECT_THAT(watch.Look({}).value(), IsEmpty());
  EXPECT_EQ(CountedReads::count, 0) << "the entry of another was passed over";
  ASSERT_TRUE(Reserve("census", "ana").ok());
  EXPECT_THAT(DatasetsOf(Look(watch).value()), ElementsAre("census"));
}

TEST_F(HistoryWatchTest, EndsWithTheDatasetThatMayNoLongerBeWatchedAfterWhatCameBefore) {
  for (const char* const name : {"census", "schools"}) Grant(name, "uma", ledger::kGrantedAuditor);
  HistoryWatch watch = WatchBy("uma", {"census", "schools"});
  CatchUp(watch);
  Grant("census", "ana", ledger::kGrantedAnalyst);
  Grant("schools", "uma", 0);
  EXPECT_THAT(DatasetsOf(Look(watch).value()), ElementsAre("census"));
  const absl::Status ended = Look(watch).status();
  EXPECT_TRUE(absl::IsNotFound(ended)) << ended;
  EXPECT_EQ(DatasetConcernedBy(ended), "schools");
}

TEST_F(HistoryWatchTest, ADatasetThatIsHiddenEndsItAsOneThatDoesNotExist) {
  Grant("census", "uma", ledger::kGrantedAuditor);
  std::set<std::string> messages;
  for (const std::string hidden : {"schools", "nothing"}) {
    HistoryWatch watch = WatchBy("uma", {hidden, "census"});
    CountedReads::count = 0;
    const absl::Status ended = watch.Look({}).status();
    EXPECT_TRUE(absl::IsNotFound(ended)) << ended;
    EXPECT_EQ(DatasetConcernedBy(ended), hidden);
    messages.insert(absl::StrReplaceAll(std::string(ended.message()), {{hidden, "NAME"}}));
    messages.insert(absl::StrCat(CountedReads::count, " reads"));
  }
  EXPECT_EQ(messages.size(), 2u);
}

TEST_F(HistoryWatchTest, AGrantThatExpiresEndsItThoughNothingWasWritten) {
  const absl::Time end = absl::Now() + absl::Milliseconds(300);
  Grant("census", "uma", ledger::kGrantedAuditor, absl::ToUnixMicros(end));
  HistoryWatch watch = WatchBy("uma", {"census"});
  CatchUp(watch);
  absl::Status ended;
  while (ended.ok()) {
    const bool must_have_ended = absl::Now() > end;
    ended = Look(watch).status();
    ASSERT_TRUE(!must_have_ended || !ended.ok());
  }
  EXPECT_EQ(DatasetConcernedBy(ended), "census");
}

TEST_F(HistoryWatchTest, RowsAreReadAgainFromTimeToTimeWhateverSaysThatTheyAreTheSame) {
  HistoryWatch watch = WatchBy("owner", {"census"});
  CatchUp(watch);
  const HistoryWatch::Steady::time_point start = {};
  CountedReads::count = 0;
  EXPECT_TRUE(Look(watch, start + WatchedHeads::kLongestTrust - std::chrono::seconds(1)).ok());
  EXPECT_EQ(CountedReads::count, 1) << "of the heads";
  EXPECT_TRUE(Look(watch, start + WatchedHeads::kLongestTrust).ok());
  EXPECT_EQ(CountedReads::count, 3) << "of the heads, and of the row";
}

TEST_F(HistoryWatchTest, ARowThatIsReadAgainAndTakesRightsAwayEndsTheWatch) {
  Grant("census", "uma", ledger::kGrantedAuditor);
  HistoryWatch watch = WatchBy("uma", {"census"});
  CatchUp(watch);
  // As damage does, it changes no revision.
  Corrupt("DELETE FROM grants WHERE grantee <> 'owner'");
  EXPECT_TRUE(Look(watch, HistoryWatch::Steady::time_point() + std::chrono::seconds(1)).ok());
  const absl::Status ended =
      Look(watch, HistoryWatch::Steady::time_point() + WatchedHeads::kLongestTrust).status();
  EXPECT_EQ(DatasetConcernedBy(ended), "census");
}

TEST_F(HistoryWatchTest, ADeletedDatasetIsWatchedToItsEndByItsOwnerAndByNobodyWithoutARoleInItsHistory) {
  Grant("census", "ana", ledger::kGrantedAnalyst);
  HistoryWatch owners = WatchBy("owner", {"census"});
  HistoryWatch anas = WatchBy("ana", {"census"});
  CatchUp(owners);
  CatchUp(anas);
  Delete("census");
  const std::vector<WatchedEntry> last = Look(owners).value();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last.front().entry.kind, ledger::kDatasetDeleted);
  // At the latest when rows are read again.
  const absl::Status ended =
      Look(anas, HistoryWatch::Steady::time_point() + WatchedHeads::kLongestTrust).status();
  EXPECT_TRUE(absl::IsNotFound(ended)) << ended;
}

TEST_F(HistoryWatchTest, ADatasetThatHasTheNameOfADeletedOneGivesNoRightsInTheHistoryOfThat) {
  Grant("census", "ana", ledger::kGrantedAnalyst);
  HistoryWatch watch = WatchBy("ana", {"census"});
  ASSERT_TRUE(watch.Look({}).ok());
  Delete("census");
  MakeOf("ana", "census");
  // The heads have not been read since it began.
  const absl::StatusOr<std::vector<WatchedEntry>> found = watch.Look({});
  EXPECT_TRUE(absl::IsNotFound(found.status())) << found.status();
}

// By its id a reader goes on in the history in which it was; by the name it would miss entries of the other.
TEST_F(HistoryWatchTest, APositionWithAnIdIsInTheHistoryOfThatDatasetAlone) {
  const std::string id = ids_.at("census");
  HistoryWatch before = WatchBy("owner", {id});
  const std::vector<WatchedEntry> found = Look(before).value();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().dataset, id);
  Delete("census");
  MakeOf("owner", "census");
  HistoryWatch again{
      Access{*ledger_, nullptr}, heads_, TestPrincipal("owner"), {{DatasetName(id), found.back().entry.seq}}};
  const std::vector<WatchedEntry> rest = Look(again).value();
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest.front().entry.kind, ledger::kDatasetDeleted);
  EXPECT_EQ(rest.front().entry.dataset_id, id);
}

TEST_F(HistoryWatchTest, OldRowsAreReadInPortions) {
  constexpr size_t kMost = WatchedHeads::kMostRowsAtOnce;
  std::vector<std::unique_ptr<WatchedHeads::Watched>> watched;
  for (size_t i = 0; i < kMost + 50; ++i) watched.push_back(heads_.Watch(absl::StrCat("id", i), {}));
  const HistoryWatch::Steady::time_point later =
      HistoryWatch::Steady::time_point() + WatchedHeads::kLongestTrust;
  const auto reads = [&] {
    CountedReads::count = 0;
    heads_.Read(later);
    return CountedReads::count - 1;
  };
  EXPECT_EQ(reads(), static_cast<int64_t>(kMost));
  EXPECT_EQ(reads(), 50);
  EXPECT_EQ(reads(), 0);
}

TEST_F(HistoryWatchTest, AGrantIsReadOnceForAllWhoWatchItsDataset) {
  std::vector<std::unique_ptr<HistoryWatch>> watches;
  for (int i = 0; i < 50; ++i) {
    watches.push_back(std::make_unique<HistoryWatch>(WatchBy("owner", {"census", "schools", "visits"})));
    CatchUp(*watches.back());
  }
  Grant("schools", "ana", ledger::kGrantedAnalyst);
  CountedReads::count = 0;
  heads_.Read({});
  for (const auto& watch : watches) EXPECT_THAT(DatasetsOf(watch->Look({}).value()), ElementsAre("schools"));
  EXPECT_EQ(CountedReads::count, 1 + 1 + 50) << "the heads, one row, and the entry for each";
}

TEST_F(HistoryWatchTest, AChangeOfTheDirectoryThatConcernsNobodyWhoWatchesReadsNothing) {
  const auto directory = directory::DirectoryStore::Open(*ledger_, {}).value();
  std::vector<std::unique_ptr<HistoryWatch>> watches;
  for (int i = 0; i < 50; ++i) {
    watches.push_back(
        std::make_unique<HistoryWatch>(WatchBy("owner", {"census", "schools", "visits"}, directory.get())));
    CatchUp(*watches.back());
  }
  const directory::DirectoryStore::Snapshot before = directory->Current().value();
  ASSERT_TRUE(MakeChange(*directory, directory::PrincipalCreated{.name = "eve"}).ok());
  ASSERT_NE(directory->Current().value(), before);
  CountedReads::count = 0;
  heads_.Read({});
  for (const auto& watch : watches) EXPECT_THAT(watch->Look({}).value(), IsEmpty());
  EXPECT_EQ(CountedReads::count, 1) << "of the heads";
}

TEST_F(HistoryWatchTest, ARoleOfTheDirectoryThatIsTakenAwayEndsTheWatch) {
  const auto directory = directory::DirectoryStore::Open(*ledger_, {}).value();
  const std::string census = ids_.at("census");
  ASSERT_TRUE(MakeChange(*directory, directory::PrincipalCreated{.name = "uma"}).ok());
  ASSERT_TRUE(MakeChange(*directory, directory::RoleBound{directory::Role::kApprover, "uma", census}).ok());
  HistoryWatch watch = WatchBy("uma", {"census"}, directory.get());
  CatchUp(watch);
  ASSERT_TRUE(MakeChange(*directory, directory::RoleUnbound{directory::Role::kApprover, "uma", census}).ok());
  EXPECT_EQ(DatasetConcernedBy(Look(watch).status()), "census");
}

TEST_F(HistoryWatchTest, APrincipalOfTheDirectoryThatIsDisabledKeepsNoRoleOfIt) {
  const auto directory = directory::DirectoryStore::Open(*ledger_, {}).value();
  ASSERT_TRUE(MakeChange(*directory, directory::PrincipalCreated{.name = "uma"}).ok());
  ASSERT_TRUE(MakeChange(*directory, directory::RoleBound{directory::Role::kAuditor, "uma", ""}).ok());
  HistoryWatch watch = WatchBy("uma", {"census"}, directory.get());
  CatchUp(watch);
  ASSERT_TRUE(MakeChange(*directory, directory::PrincipalDisabled{"uma"}).ok());
  EXPECT_EQ(DatasetConcernedBy(Look(watch).status()), "census");
}

TEST_F(HistoryWatchTest, WhatMayBeWatchedIsKnownOnceItWasLookedAt) {
  Grant("census", "uma", ledger::kGrantedAuditor);
  HistoryWatch watch = WatchBy("uma", {"census", "schools", "visits"});
  EXPECT_THAT(watch.TakeAllowed(), IsEmpty());
  EXPECT_THAT(DatasetsOf(Look(watch).value()), ::testing::Each("census"));
  EXPECT_THAT(watch.TakeAllowed(), ElementsAre("census"));
  EXPECT_FALSE(Look(watch).ok());
  EXPECT_THAT(watch.TakeAllowed(), IsEmpty());
}

TEST_F(HistoryWatchTest, ALongHistoryDelaysNoOther) {
  constexpr size_t kMost = HistoryWatch::kMostAtOnce;
  for (size_t i = 0; i < 2 * kMost; ++i) {
    Grant("census", "ana", i % 2 == 0 ? ledger::kGrantedAnalyst : ledger::kGrantedService);
  }
  HistoryWatch watch = WatchBy("owner", {"census", "schools", "visits"});
  std::vector<std::string> names = DatasetsOf(Look(watch).value());
  EXPECT_EQ(names.size(), kMost);
  names = DatasetsOf(Look(watch).value());
  EXPECT_EQ(names.size(), kMost);
  EXPECT_EQ(names.front(), "schools");
  EXPECT_THAT(names, ::testing::Contains("visits"));
  EXPECT_THAT(names, ::testing::Contains("census"));
}

TEST_F(HistoryWatchTest, AHistoryThatNobodyWatchesAnyMoreIsNotLookedAt) {
  {
    HistoryWatch watch = WatchBy("owner", {"census"});
    CatchUp(watch);
  }
  CountedReads::count = 0;
  heads_.Read({});
  EXPECT_EQ(CountedReads::count, 0);
}

}  // namespace
}  // namespace curator::service
