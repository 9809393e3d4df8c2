// The table of audit records, on every backend.
#include "audit/audit_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "audit/testing/audit_conformance.h"

namespace curator::audit {
namespace {

using ledger::Must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AuditStoreTest : public AuditConformance {
 protected:
  static AuditRecord CallAt(int64_t time_us, const std::string& principal = "ana") {
    return {.time_us = time_us, .principal = principal, .decision = Decision::kAllowed};
  }
  static AuditRecord CompleteRecord() {
    return {.kind = RecordKind::kCall,
            .time_us = 1'700'000'000'000'001,
            .server = "db1-3fa2",
            .principal = "ana",
            .identity = IdentityKind::kApiToken,
            .credential_id = "token 7",
            .peer = PeerClass::kEdge,
            .method = "QueryService/AnswerWorkload",
            .dataset = "Zürich's census",
            .decision = Decision::kRefused,
            .status = absl::StatusCode::kResourceExhausted,
            .reason = "BUDGET_FULL",
            .request_id = "87a70719-8392-4205-9013-9cb043717e3b",
            .count = 3,
            .since_us = 4,
            .full_accounts = {{"dataset/Zürich's census", "PURE", "epsilon", 5, 3}}};
  }
  static AuditRecord RefusalAt(int64_t time_us, const std::string& principal, const std::string& dataset) {
    AuditRecord record = CallAt(time_us);
    record.principal = principal;
    record.dataset = dataset;
    record.full_accounts = {{"dataset/" + dataset, "PURE", "epsilon", 5, 3}};
    return record;
  }
  // The ledger that has the names of principals, as a server opens it.
  std::unique_ptr<ledger::Ledger> OpenNames() {
    return Must(ledger::OpenLedger(
        {.url = url(), .anchor_dir = anchor_dir(), .entropy = ledger::SeededEntropy(NextSeed())}));
  }
  // The times of all records that the filter has, page by page.
  static std::vector<int64_t> TimesOf(AuditStore& store, const AuditFilter& filter, int64_t limit = 1000) {
    std::vector<int64_t> times;
    std::optional<AuditPlace> place = AuditPlace();
    while (place.has_value()) {
      const AuditPage page = Must(store.List(filter, *place, limit));
      for (const AuditRecord& record : page.records) times.push_back(record.time_us);
      place = page.next;
    }
    return times;
  }
};

TEST_P(AuditStoreTest, BeginsEmpty) {
  const auto store = OpenAudit();
  EXPECT_EQ(Must(store->NewestId()), 0);
  EXPECT_THAT(Must(store->ReadAfter(0, 10)), IsEmpty());
  EXPECT_THAT(TimesOf(*store, {}), IsEmpty());
}

// As a server does: the ledger's names are shown, and its pseudonyms stored.
TEST_P(AuditStoreTest, HasPseudonymsInThePlaceOfNamesThatItIsAskedForAndShows) {
  const auto names = OpenNames();
  const auto store = Must(AuditStore::Open(url(), "", names.get()));
  AuditRecord refusal = RefusalAt(1, "ana", "census");
  refusal.full_accounts.push_back({"dataset/census/analyst/ana", "PURE", "epsilon", 5, 3});
  ASSERT_TRUE(store->Append({refusal, CallAt(2, "bob"), CallAt(3, "")}).ok());
  const std::string pseudonym = Must(names->PseudonymOf("ana"));
  const std::vector<AuditRecord> stored = Must(OpenAudit()->ReadAfter(0, 10));
  EXPECT_EQ(stored.at(0).principal, pseudonym);
  EXPECT_EQ(stored.at(0).full_accounts.at(1).account, "dataset/census/analyst/" + pseudonym);
  EXPECT_EQ(stored.at(2).principal, "");

  EXPECT_EQ(Must(store->ReadAfter(0, 10)).at(0).principal, "ana");
  EXPECT_THAT(TimesOf(*store, {.principal = "ana"}), ElementsAre(1));
  const AuditPage page = Must(store->ListBudgetRefusals("census", "ana", {}, 10));
  ASSERT_THAT(page.records, SizeIs(1));
  EXPECT_EQ(page.records.at(0).full_accounts, refusal.full_accounts);

  ASSERT_TRUE(names->ForgetName(pseudonym).ok());
  EXPECT_THAT(TimesOf(*store, {.principal = "ana"}), IsEmpty()) << "another one";
  EXPECT_THAT(Must(store->ListBudgetRefusals("census", "ana", {}, 10)).records, IsEmpty());
  EXPECT_EQ(Must(store->ReadAfter(0, 10)).at(0).principal, pseudonym);
}

TEST_P(AuditStoreTest, ANameThatIsAskedForIsNotStored) {
  const auto names = OpenNames();
  const auto store = Must(AuditStore::Open(url(), "", names.get()));
  EXPECT_THAT(TimesOf(*store, {.principal = "ana"}), IsEmpty());
  EXPECT_THAT(Must(store->ListBudgetRefusals("census", "ana", {}, 10)).records, IsEmpty());
  EXPECT_EQ(Must(names->FindPseudonym("ana")), "ana");
}

TEST_P(AuditStoreTest, RecordsFromBeforeThereWerePseudonymsAreFoundByTheirName) {
  ASSERT_TRUE(OpenAudit()->Append({CallAt(1), RefusalAt(2, "ana", "census"), CallAt(3, "bob")}).ok());
  const auto names = OpenNames();
  const auto store = Must(AuditStore::Open(url(), "", names.get()));
  ASSERT_TRUE(store->Append({CallAt(4), RefusalAt(5, "ana", "census")}).ok());
  for (const int64_t limit : {1, 2, 10})
    EXPECT_THAT(TimesOf(*store, {.principal = "ana"}, limit), ElementsAre(5, 4, 2, 1)) << limit;
  EXPECT_THAT(Must(store->ListBudgetRefusals("census", "ana", {}, 10)).records, SizeIs(2));
  EXPECT_EQ(Must(store->ListBudgetRefusals("census", "ana", {}, 1)).records.at(0).time_us, 5);
}

TEST_P(AuditStoreTest, AChangedPseudonymCostsNoOtherRecord) {
  ASSERT_FALSE(Must(OpenNames()->PseudonymOf("ana")).empty());
  ASSERT_TRUE(OpenStoreOf(url())
                  ->Write([](ledger::sql::Transaction& transaction) {
                    return transaction.Execute("UPDATE pseudonyms SET name = 'eve'", {}).status();
                  })
                  .status.ok());
  const auto names = OpenNames();
  const auto store = Must(AuditStore::Open(url(), "", names.get()));
  ASSERT_TRUE(store->Append({CallAt(1, "eve"), CallAt(2, "bob")}).ok());
  const std::vector<AuditRecord> stored = Must(store->ReadAfter(0, 10));
  EXPECT_EQ(stored.at(0).principal, "@unknown");
  EXPECT_EQ(stored.at(1).principal, "bob");
}

TEST_P(AuditStoreTest, KeepsAllOfARecordAlsoAfterARestart) {
  AuditRecord record = CompleteRecord();
  ASSERT_TRUE(OpenAudit()->Append({record}).ok());
  record.id = 1;
  EXPECT_THAT(Must(OpenAudit()->ReadAfter(0, 10)), ElementsAre(record));
}

TEST_P(AuditStoreTest, AppendsAllOrNothing) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append({CallAt(1)}).ok());
  ASSERT_TRUE(TryInAudit(is_sqlite() ? "CREATE TRIGGER refused BEFORE INSERT ON audit WHEN NEW.time_us = 2 "
                                       "BEGIN SELECT RAISE(ABORT, 'refused'); END"
                                     : "ALTER TABLE audit ADD CHECK (time_us <> 2)")
                  .ok());
  EXPECT_FALSE(store->Append({CallAt(3), CallAt(2)}).ok());
  EXPECT_THAT(TimesOf(*store, {}), ElementsAre(1));
}

TEST_P(AuditStoreTest, ListsNewestFirstByTheTimesOfCalls) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append({CallAt(10), CallAt(30), CallAt(20)}).ok());
  EXPECT_THAT(TimesOf(*store, {}), ElementsAre(30, 20, 10));
}

TEST_P(AuditStoreTest, EachFilterFindsItsRecordsAlone) {
  const auto store = OpenAudit();
  AuditRecord bobs = CallAt(2, "bob");
  bobs.dataset = "census";
  AuditRecord refused = CallAt(3);
  refused.dataset = "census";
  refused.decision = Decision::kRefused;
  refused.method = "BudgetService/GetBudget";
  ASSERT_TRUE(store->Append({CallAt(1), bobs, refused}).ok());
  EXPECT_THAT(TimesOf(*store, {.principal = "ana"}), ElementsAre(3, 1));
  EXPECT_THAT(TimesOf(*store, {.dataset = "census"}), ElementsAre(3, 2));
  EXPECT_THAT(TimesOf(*store, {.principal = "bob", .dataset = "census"}), ElementsAre(2));
  EXPECT_THAT(TimesOf(*store, {.method = "BudgetService/GetBudget"}), ElementsAre(3));
  EXPECT_THAT(TimesOf(*store, {.decision = Decision::kAllowed}), ElementsAre(2, 1));
  EXPECT_THAT(TimesOf(*store, {.since_us = 2}), ElementsAre(3, 2));
  EXPECT_THAT(TimesOf(*store, {.until_us = 2}), ElementsAre(1));
  EXPECT_THAT(TimesOf(*store, {.principal = "eve"}), IsEmpty());
}

TEST_P(AuditStoreTest, PagesTogetherHaveEveryRecordOnceAlsoThoseOfOneTime) {
  const auto store = OpenAudit();
  std::vector<AuditRecord> records;
  for (const int64_t time_us : {1, 2, 2, 2, 2, 3, 4, 4}) records.push_back(CallAt(time_us));
  records.push_back(CallAt(2, "bob"));
  ASSERT_TRUE(store->Append(records).ok());
  for (const int64_t size : {1, 2, 3, 4, 100}) {
    EXPECT_THAT(TimesOf(*store, {.principal = "ana"}, size), ElementsAre(4, 4, 3, 2, 2, 2, 2, 1)) << size;
    EXPECT_THAT(TimesOf(*store, {.decision = Decision::kAllowed}, size),
                ElementsAre(4, 4, 3, 2, 2, 2, 2, 2, 1))
        << size;
  }
}

TEST_P(AuditStoreTest, ARecordThatComesBetweenTwoPagesMovesNone) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append({CallAt(1), CallAt(2), CallAt(3)}).ok());
  const AuditPage first = Must(store->List({}, {}, 2));
  ASSERT_TRUE(store->Append({CallAt(4), CallAt(3)}).ok());
  const AuditPage second = Must(store->List({}, *first.next, 2));
  ASSERT_THAT(second.records, SizeIs(1));
  EXPECT_EQ(second.records[0].id, 1);
}

TEST_P(AuditStoreTest, RefusalsOfADatasetAreListedForAllOrForOnePrincipal) {
  const auto store = OpenAudit();
  AuditRecord other = CallAt(4);
  other.principal = "ana";
  other.dataset = "census";
  ASSERT_TRUE(store
                  ->Append({RefusalAt(1, "ana", "census"), RefusalAt(2, "bo", "census"),
                            RefusalAt(3, "ana", "visits"), other})
                  .ok());
  const auto times = [](const AuditPage& page) {
    std::vector<int64_t> found;
    for (const AuditRecord& record : page.records) found.push_back(record.time_us);
    return found;
  };
  EXPECT_THAT(times(Must(store->ListBudgetRefusals("census", "", {}, 10))), ElementsAre(2, 1));
  EXPECT_THAT(times(Must(store->ListBudgetRefusals("census", "ana", {}, 10))), ElementsAre(1));
  const AuditPage first = Must(store->ListBudgetRefusals("census", "", {}, 1));
  ASSERT_TRUE(first.next.has_value());
  EXPECT_THAT(times(Must(store->ListBudgetRefusals("census", "", *first.next, 1))), ElementsAre(1));
}

TEST_P(AuditStoreTest, APageOfARareMethodEndsEarlyAndTheNextOneGoesOn) {
  const auto store = OpenAudit();
  AuditRecord rare = CallAt(1);
  rare.method = "OwnerService/Evaluate";
  std::vector<AuditRecord> records = {rare};
  for (int64_t i = 0; i < AuditStore::kMostLookedAt; ++i) records.push_back(CallAt(2 + i));
  ASSERT_TRUE(store->Append(records).ok());
  const AuditFilter filter{.method = rare.method};
  const AuditPage first = Must(store->List(filter, {}, 10));
  EXPECT_THAT(first.records, IsEmpty());
  ASSERT_TRUE(first.next.has_value());
  const AuditPage second = Must(store->List(filter, *first.next, 10));
  EXPECT_THAT(second.records, SizeIs(1));
  EXPECT_EQ(second.next, std::nullopt);
}

TEST_P(AuditStoreTest, IsNeverChangedByTheStore) {
  const auto store = OpenAudit();
  AuditRecord old = CompleteRecord();
  old.time_us = DaysAgo(31);
  ASSERT_TRUE(store->Append({old, CallAt(DaysAgo(29))}).ok());
  for (const char* const change :
       {"DELETE FROM audit", "UPDATE audit SET status = 0",
        "UPDATE audit SET decision = 'ALLOWED' WHERE id = 1",
        "UPDATE audit SET principal = 'eve' WHERE id = 1", "UPDATE audit SET principal = '' WHERE id = 1",
        "UPDATE audit SET principal = '', credential_id = '', request_id = '', id = 7 WHERE id = 1",
        "UPDATE audit SET principal = '', credential_id = '', request_id = '', reason = '' WHERE id = 1",
        "UPDATE audit SET principal = '', credential_id = '', request_id = '' WHERE id = 2"}) {
    EXPECT_FALSE(TryInAudit(change).ok()) << change;
  }
  // The same statement changes what may be changed, so it is the rule that refuses the others.
  EXPECT_TRUE(
      TryInAudit("UPDATE audit SET principal = '', credential_id = '', request_id = '' WHERE id = 1").ok());
}

TEST_P(AuditStoreTest, NamesAreRemovedAfterTheirTimeAndNothingElseIs) {
  const auto store = OpenAudit();
  AuditRecord old = CompleteRecord();
  old.time_us = DaysAgo(401);
  AuditRecord young = CompleteRecord();
  young.time_us = DaysAgo(399);
  ASSERT_TRUE(store->Append({old, young}).ok());
  EXPECT_EQ(Must(store->RemoveNames(DaysAgo(400), 100)), 1);
  EXPECT_EQ(Must(store->RemoveNames(DaysAgo(400), 100)), 0);
  old.id = 1;
  old.principal = old.credential_id = old.request_id = "";
  young.id = 2;
  EXPECT_THAT(Must(store->ReadAfter(0, 10)), ElementsAre(old, young));
}

TEST_P(AuditStoreTest, NamesAreRemovedInBoundedSteps) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append({CallAt(1), CallAt(2), CallAt(3)}).ok());
  EXPECT_EQ(Must(store->RemoveNames(DaysAgo(400), 2)), 2);
  EXPECT_EQ(Must(store->RemoveNames(DaysAgo(400), 2)), 1);
}

TEST_P(AuditStoreTest, NamesInRecentRecordsAreNotRemoved) {
  const auto store = OpenAudit();
  ASSERT_TRUE(store->Append({CallAt(DaysAgo(29))}).ok());
  EXPECT_FALSE(store->RemoveNames(DaysAgo(0), 100).ok());
  EXPECT_EQ(Must(store->ReadAfter(0, 10)).at(0).principal, "ana");
}

// A follower of the ids would miss a record that is committed after one with a greater id.
TEST_P(AuditStoreTest, IdsGrowInTheOrderOfCommitsOfAllServers) {
  constexpr int kServers = 3;
  constexpr int kBatches = 20;
  std::vector<std::unique_ptr<AuditStore>> stores;
  for (int i = 0; i < kServers; ++i) stores.push_back(OpenAudit());
  std::vector<std::thread> servers;
  for (const auto& store : stores) {
    servers.emplace_back([&store] {
      for (int i = 0; i < kBatches; ++i) EXPECT_TRUE(store->Append({CallAt(1), CallAt(2)}).ok());
    });
  }
  const auto follower = OpenAudit();
  int64_t last = 0;
  while (last < int64_t{2} * kServers * kBatches && !HasFailure()) {
    for (const AuditRecord& record : Must(follower->ReadAfter(last, 7))) {
      ASSERT_EQ(record.id, last + 1);
      last = record.id;
    }
  }
  for (std::thread& server : servers) server.join();
}

TEST_P(AuditStoreTest, AStoreThatIsAwayAtFirstIsOpenedWhenItIsBack) {
  OpenAudit();
  bool is_away = true;
  AuditStore store([&]() -> absl::StatusOr<std::unique_ptr<ledger::sql::Database>> {
    if (is_away) return absl::UnavailableError("away");
    return OpenStoreOf(audit_url());
  });
  EXPECT_EQ(store.Append({CallAt(1)}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store.NewestId().status().code(), absl::StatusCode::kUnavailable);
  is_away = false;
  EXPECT_TRUE(store.Append({CallAt(1)}).ok());
  EXPECT_EQ(Must(store.NewestId()), 1);
}

TEST_P(AuditStoreTest, ItsWordsAreThoseThatTheSchemaAllows) {
  std::vector<AuditRecord> records;
  for (const RecordKind kind : {RecordKind::kCall, RecordKind::kGap, RecordKind::kRefusals,
                                RecordKind::kStarted, RecordKind::kStopped}) {
    records.push_back({.kind = kind});
  }
  for (const IdentityKind identity :
       {IdentityKind::kOidc, IdentityKind::kCertificate, IdentityKind::kApiToken}) {
    records.push_back({.identity = identity});
  }
  for (const PeerClass peer :
       {PeerClass::kLocal, PeerClass::kEdge, PeerClass::kMutualTls, PeerClass::kLoopback}) {
    records.push_back({.peer = peer});
  }
  EXPECT_TRUE(OpenAudit()->Append(records).ok());
}

TEST_P(AuditStoreTest, LiesBesideALedgerInAFileAndWithinOneInPostgres) {
  const auto store = AuditStore::Open(url(), "/dev/null/audit.db");
  EXPECT_FALSE(store.ok());
  EXPECT_THAT(store.status().message(), HasSubstr(is_sqlite() ? "/dev/null/audit.db" : "audit.path"));
  if (!is_sqlite()) return;
  const std::string ledger = url().substr(std::string("sqlite:").size());
  EXPECT_THAT(AuditStore::Open(url(), ledger).status().message(), HasSubstr("another file than the ledger"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, AuditStoreTest, ::testing::ValuesIn(ledger::LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::audit
