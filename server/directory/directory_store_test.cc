#include "directory/directory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "directory/rules.h"
#include "ledger/open_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator::directory {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Ids must differ, and need not be secret here.
std::string DifferentBytes(size_t bytes) {
  static std::atomic<int64_t> calls = 0;
  std::string text = std::to_string(++calls);
  text.resize(bytes, '.');
  return text;
}

// By the host, of a principal that has been disabled.
absl::StatusOr<Change> Forgetting(const Directory& directory, const std::string& name) {
  const PrincipalRecord* const found = directory.FindPrincipal(name);
  if (found == nullptr) return absl::NotFoundError(name);
  return PrincipalForgotten{.pseudonym = found->stored_name};
}

class DirectoryStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ledger_ = OpenLedger();
    store_ = OpenStore(*ledger_);
  }

  std::unique_ptr<ledger::Ledger> OpenLedger() const {
    auto ledger = ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                                      .anchor_dir = folder_.path() + "/anchor",
                                      .entropy = DifferentBytes});
    EXPECT_TRUE(ledger.ok()) << ledger.status();
    return *std::move(ledger);
  }
  // Its clock is the test's; it reads the history when it is asked to.
  std::unique_ptr<DirectoryStore> OpenStore(ledger::Ledger& ledger) {
    auto store = DirectoryStore::Open(
        ledger, {.between_polls = std::chrono::hours(1), .now = [this] { return now_.load(); }});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static absl::Status Create(DirectoryStore& store, const std::string& name) {
    return store
        .Make(kHostActor,
              [&](const Directory& directory) {
                return CreatePrincipal(directory, {.by = kHostActor}, {.name = name});
              })
        .status();
  }
  static bool Knows(const DirectoryStore& store, const std::string& name) {
    const absl::StatusOr<DirectoryStore::Snapshot> current = store.Current();
    EXPECT_TRUE(current.ok()) << current.status();
    return current.ok() && (*current)->FindPrincipal(name) != nullptr;
  }

  absl::Status Forget(const std::string& name) {
    return store_->Make(kHostActor, [&](const Directory& each) { return Forgetting(each, name); }).status();
  }
  // A backup of the table of pseudonyms, and its restoring.
  void SaveNames() const { Run("CREATE TABLE saved.names AS SELECT * FROM pseudonyms"); }
  void RestoreNames() const { Run("INSERT OR IGNORE INTO pseudonyms SELECT * FROM saved.names"); }
  void Run(const std::string& script) const {
    sqlite3* file = nullptr;
    ASSERT_EQ(sqlite3_open((folder_.path() + "/ledger.db").c_str(), &file), SQLITE_OK);
    const std::string attached = absl::StrCat("ATTACH '", folder_.path(), "/saved.db' AS saved; ", script);
    EXPECT_EQ(sqlite3_exec(file, attached.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(file);
    sqlite3_close(file);
  }

  const testing::ScratchFolder folder_;
  std::atomic<DirectoryStore::Steady::time_point> now_ = DirectoryStore::Steady::now();
  std::unique_ptr<ledger::Ledger> ledger_;
  std::unique_ptr<DirectoryStore> store_;
};

TEST_F(DirectoryStoreTest, AChangeIsThereAtOnceAndAfterARestart) {
  ASSERT_TRUE(Create(*store_, "bob").ok());
  EXPECT_TRUE(Knows(*store_, "bob"));
  store_ = OpenStore(*ledger_);
  EXPECT_TRUE(Knows(*store_, "bob"));
}

TEST_F(DirectoryStoreTest, AChangeByAnotherServerIsThereAfterARefresh) {
  const std::unique_ptr<ledger::Ledger> other_ledger = OpenLedger();
  const std::unique_ptr<DirectoryStore> other = OpenStore(*other_ledger);
  ASSERT_TRUE(Create(*other, "bob").ok());
  EXPECT_FALSE(Knows(*store_, "bob"));
  ASSERT_TRUE(store_->Refresh().ok());
  EXPECT_TRUE(Knows(*store_, "bob"));
}

TEST_F(DirectoryStoreTest, ARefusedChangeIsNotAppended) {
  ASSERT_TRUE(Create(*store_, "bob").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Create(*store_, "bob")));
  EXPECT_EQ((*store_->Current())->seq(), 1);
}

TEST_F(DirectoryStoreTest, IsDecidedAgainWhereAnotherServerWasFaster) {
  const std::unique_ptr<ledger::Ledger> other_ledger = OpenLedger();
  const std::unique_ptr<DirectoryStore> other = OpenStore(*other_ledger);
  int decisions = 0;
  const auto made = store_->Make(kHostActor, [&](const Directory& directory) {
    const bool is_first = ++decisions == 1;
    EXPECT_TRUE(!is_first || Create(*other, "bob").ok());
    return CreatePrincipal(directory, {.by = kHostActor}, {.name = "bob"});
  });
  EXPECT_TRUE(absl::IsAlreadyExists(made.status()));
  EXPECT_EQ(decisions, 2);
}

TEST_F(DirectoryStoreTest, ChangesOfManyThreadsAreAllMadeAndEachIsDecidedOnce) {
  constexpr int kThreads = 8;
  constexpr int kChanges = 10;
  std::atomic<int> decisions = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int change = 0; change < kChanges; ++change) {
        const auto made = store_->Make(kHostActor, [&](const Directory& directory) {
          ++decisions;
          return CreatePrincipal(directory, {.by = kHostActor},
                                 {.name = absl::StrCat("p", thread, "-", change)});
        });
        EXPECT_TRUE(made.ok()) << made.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ((*store_->Current())->principal_count(), kThreads * kChanges);
  EXPECT_EQ(decisions, kThreads * kChanges);
}

TEST_F(DirectoryStoreTest, LetsNobodyInWhenTheLedgerHasNotConfirmedItForTwoSeconds) {
  now_ = now_.load() + seconds(2);
  EXPECT_TRUE(store_->Current().ok());
  now_ = now_.load() + milliseconds(1);
  EXPECT_TRUE(absl::IsUnavailable(store_->Current().status()));
  ASSERT_TRUE(store_->Refresh().ok());
  EXPECT_TRUE(store_->Current().ok());
}

// A store that reads by itself sees it without being asked.
TEST_F(DirectoryStoreTest, PollsTheHistory) {
  const std::unique_ptr<ledger::Ledger> other_ledger = OpenLedger();
  auto polling = DirectoryStore::Open(*other_ledger, {.between_polls = milliseconds(10)});
  ASSERT_TRUE(polling.ok());
  ASSERT_TRUE(Create(*store_, "bob").ok());
  const auto deadline = std::chrono::steady_clock::now() + seconds(2);
  while (!Knows(**polling, "bob") && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(Knows(**polling, "bob"));
}

// ---- Names

TEST_F(DirectoryStoreTest, EntriesHavePseudonymsAndTheDirectoryHasNames) {
  ASSERT_TRUE(Create(*store_, "bob").ok());
  const std::vector<ledger::Entry> entries = ledger_->ListServerEntries({}).value();
  EXPECT_EQ(entries.at(0).payload.find("bob"), std::string::npos);
  EXPECT_NE(entries.at(0).payload.find(ledger_->PseudonymOf("bob").value()), std::string::npos);
  EXPECT_EQ((*store_->Current())->FindPrincipal("bob")->stored_name, ledger_->PseudonymOf("bob").value());
}

TEST_F(DirectoryStoreTest, AForgottenNameIsForgottenByEveryServerAndAfterARestart) {
  const std::unique_ptr<ledger::Ledger> other_ledger = OpenLedger();
  int cleared = 0;
  const auto other = DirectoryStore::Open(*other_ledger, {.between_polls = std::chrono::hours(1),
                                                          .on_forgotten = [&] { ++cleared; }})
                         .value();
  ASSERT_TRUE(Create(*other, "bob").ok());
  const std::string pseudonym = other_ledger->PseudonymOf("bob").value();
  ASSERT_TRUE(store_
                  ->Make("bob",
                         [](const Directory& directory) {
                           return CreatePrincipal(directory, {.by = kHostActor}, {.name = "eve"});
                         })
                  .ok());
  ASSERT_TRUE(
      store_->Make(kHostActor, [](const Directory& directory) { return Forgetting(directory, "bob"); }).ok());
  EXPECT_FALSE(Knows(*store_, "bob"));
  EXPECT_EQ(ledger_->NamesOf({pseudonym})->at(0), pseudonym);

  EXPECT_EQ(other_ledger->NamesOf({pseudonym})->at(0), "bob") << "until it reads the history";
  ASSERT_TRUE(other->Refresh().ok());
  EXPECT_EQ(cleared, 1);
  EXPECT_FALSE(Knows(*other, "bob"));
  EXPECT_EQ(other_ledger->NamesOf({pseudonym})->at(0), pseudonym);
  const auto restarted = OpenStore(*ledger_);
  for (DirectoryStore* const each : {store_.get(), other.get(), restarted.get()}) {
    EXPECT_EQ((*each->Current())->FindPrincipal("eve")->created_by, pseudonym)
        << "what he did stands, by nobody's name";
  }
  // Another one may have the name.
  ASSERT_TRUE(Create(*other, "bob").ok());
  EXPECT_NE(other_ledger->PseudonymOf("bob").value(), pseudonym);
  EXPECT_TRUE(Knows(*OpenStore(*other_ledger), "bob"));
}

// As after a crash, or where a backup of the table was restored.
TEST_F(DirectoryStoreTest, ANameThatTheHistorySaysIsForgottenIsForgottenAtTheNextStart) {
  ASSERT_TRUE(Create(*store_, "bob").ok());
  const std::string pseudonym = ledger_->PseudonymOf("bob").value();
  ASSERT_TRUE(ledger_
                  ->AppendServerEntry({.after_seq = 1,
                                       .kind = std::string(PrincipalForgotten::kKind),
                                       .payload = EncodeChange(PrincipalForgotten{.pseudonym = pseudonym}),
                                       .actor = kHostActor})
                  .ok());
  ASSERT_EQ(ledger_->NamesOf({pseudonym})->at(0), "bob");
  const auto started = OpenStore(*ledger_);
  EXPECT_FALSE(Knows(*started, "bob"));
  EXPECT_EQ(ledger_->NamesOf({pseudonym})->at(0), pseudonym);
}

// Of a table that was restored while the server runs. Else another principal gets what is the former one's.
TEST_F(DirectoryStoreTest, AForgottenNameThatIsBackInTheTableIsForgottenAgainBeforeItIsAnothers) {
  int cleared = 0;
  store_ = DirectoryStore::Open(*ledger_,
                                {.between_polls = std::chrono::hours(1), .on_forgotten = [&] { ++cleared; }})
               .value();
  ASSERT_TRUE(Create(*store_, "bob").ok());
  const std::string pseudonym = ledger_->PseudonymOf("bob").value();
  SaveNames();
  ASSERT_TRUE(Forget("bob").ok());
  RestoreNames();
  EXPECT_EQ(cleared, 1);
  ASSERT_TRUE(Create(*store_, "bob").ok());
  EXPECT_EQ(cleared, 2);
  ASSERT_TRUE(Knows(*store_, "bob"));
  EXPECT_NE((*store_->Current())->FindPrincipal("bob")->stored_name, pseudonym);
  EXPECT_NE(ledger_->PseudonymOf("bob").value(), pseudonym);
  EXPECT_EQ(ledger_->NamesOf({pseudonym})->at(0), pseudonym);
}

// The creation and the forgetting of a principal stand on different pages of the history.
TEST_F(DirectoryStoreTest, ANameThatIsBackDoesNotKeepTheServerReading) {
  ASSERT_TRUE(Create(*store_, "bob").ok());
  ASSERT_TRUE(Create(*store_, "eve").ok());
  const std::string pseudonym = ledger_->PseudonymOf("bob").value();
  SaveNames();
  const std::string payload = EncodeChange(CustodySet{});
  for (int64_t seq = 2; seq < 2 + ledger::Page().limit; ++seq) {
    ASSERT_TRUE(ledger_
                    ->AppendServerEntry(
                        {.after_seq = seq, .kind = "CUSTODY_SET", .payload = payload, .actor = kHostActor})
                    .ok());
  }
  ASSERT_TRUE(Forget("bob").ok());
  RestoreNames();
  ASSERT_TRUE(Forget("eve").ok()) << "which makes every server read";
  const std::unique_ptr<DirectoryStore> started = OpenStore(*ledger_);
  for (const DirectoryStore* each : {store_.get(), started.get()}) {
    EXPECT_FALSE(Knows(*each, "bob"));
    EXPECT_FALSE(Knows(*each, "eve"));
  }
  EXPECT_EQ(ledger_->NamesOf({pseudonym})->at(0), pseudonym) << "the server that started has seen to it";
}

// ---- Custody

TEST_F(DirectoryStoreTest, OnePersonIsEnoughOnlyWhereTheServersOwnConfigurationSaysSoToo) {
  const auto with = [&](Custody custody, std::vector<Custody>* others) {
    return DirectoryStore::Open(
               *ledger_,
               {.between_polls = std::chrono::hours(1),
                .custody = custody,
                .on_other_custody = [others](Custody of_history) { others->push_back(of_history); }})
        .value();
  };
  std::vector<Custody> seen_by_two;
  std::vector<Custody> seen_by_single;
  const auto two = with(Custody::kTwoPersons, &seen_by_two);
  const auto single = with(Custody::kSingle, &seen_by_single);
  const auto here = [](const DirectoryStore& store) { return store.CustodyHere(**store.Current()); };
  const auto set = [](DirectoryStore& store, Custody custody) {
    return store.Make(kHostActor, [&](const Directory&) { return CustodySet{custody}; }).status();
  };
  EXPECT_EQ(here(*single), Custody::kTwoPersons) << "the history does not say so";
  ASSERT_TRUE(set(*single, Custody::kSingle).ok());
  ASSERT_TRUE(two->Refresh().ok());
  EXPECT_EQ(here(*single), Custody::kSingle);
  EXPECT_EQ(here(*two), Custody::kTwoPersons);
  EXPECT_EQ((*two->Current())->custody(), Custody::kSingle) << "which budgets and receipts say";
  ASSERT_TRUE(Create(*two, "bob").ok());
  EXPECT_EQ(seen_by_two, std::vector({Custody::kSingle})) << "once";
  std::vector<Custody> seen_at_start;
  with(Custody::kTwoPersons, &seen_at_start);
  EXPECT_TRUE(seen_at_start.empty()) << "a server that starts writes what its configuration says";
  ASSERT_TRUE(set(*two, Custody::kTwoPersons).ok());
  ASSERT_TRUE(single->Refresh().ok());
  EXPECT_EQ(here(*single), Custody::kTwoPersons);
  EXPECT_EQ(seen_by_single, std::vector({Custody::kTwoPersons}));
}

TEST_F(DirectoryStoreTest, IsRefusedWhereAnEntryIsNoChange) {
  ASSERT_TRUE(
      ledger_
          ->AppendServerEntry(
              {.after_seq = 0, .kind = "PRINCIPAL_CREATED", .payload = "nonsense", .actor = kHostActor})
          .ok());
  EXPECT_TRUE(absl::IsDataLoss(store_->Refresh()));
  EXPECT_TRUE(absl::IsDataLoss(store_->Current().status()));
}

}  // namespace
}  // namespace curator::directory
