// Ledgers that earlier programs left are brought up to date, keep all they promised, and are charged further.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"
#include "ledger/inspect_ledger.h"
#include "ledger/pseudonyms/pseudonym.h"
#include "ledger/sql/migrations.h"
#include "tests/testing/nightly.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

constexpr char kLedger[] = "87a70719-8392-4205-9013-9cb043717e3b";

std::string Contents(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_FALSE(content.str().empty()) << path;
  return content.str();
}

struct Dump {
  std::string backend;
  int version = 0;
};

class Upgrade : public ::testing::TestWithParam<Dump> {
 protected:
  void SetUp() override {
    url_ = GetParam().backend == "sqlite" ? absl::StrCat("sqlite:", scratch_.path(), "/ledger.db")
                                          : testing::PostgresCluster::Shared().CreateDatabase();
    fs::create_directory(anchor_dir());
    fs::copy_file(absl::StrCat(Named(), ".anchor"),
                  absl::StrCat(anchor_dir(), "/", kLedger, ".old-0.anchor"));
  }
  void Load(const std::string& dump) {
    if (GetParam().backend == "sqlite") {
      // Not through the ledger's store, which checks foreign keys while tables are still missing.
      sqlite3* file = nullptr;
      ASSERT_EQ(sqlite3_open(url_.substr(7).c_str(), &file), SQLITE_OK);
      EXPECT_EQ(sqlite3_exec(file, dump.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
          << sqlite3_errmsg(file);
      sqlite3_close(file);
      return;
    }
    const auto store = Must(OpenLedgerDatabase(url_));
    const sql::Outcome loaded =
        store->Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(dump); });
    ASSERT_TRUE(loaded.status.ok()) << loaded.status;
  }
  std::string Named() const {
    return absl::StrCat(CURATOR_DUMPS, "/", GetParam().backend, "_",
                        absl::Dec(GetParam().version, absl::kZeroPad4));
  }
  std::string DumpText() const { return Contents(absl::StrCat(Named(), ".sql")); }
  std::string anchor_dir() const { return absl::StrCat(scratch_.path(), "/anchor"); }
  std::unique_ptr<Ledger> Open() const {
    return Must(OpenLedger({.url = url_, .anchor_dir = anchor_dir(), .entropy = SeededEntropy(7)}));
  }

  const testing::ScratchFolder scratch_;
  std::string url_;
};

TEST_P(Upgrade, KeepsAllThatWasPromisedAndIsChargedFurther) {
  Load(DumpText());
  auto ledger = Open();
  const Dataset census = Must(ledger->GetDataset("census"));
  for (const Dataset& dataset : Must(ledger->ListDatasets())) {
    EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty()) << dataset.name;
  }
  const Account account = Must(ledger->ListAccounts(census.id)).at(0);
  EXPECT_THAT(account.counters,
              ElementsAre(CounterBalance{.counter = "rho", .limit = 120, .spent = 31, .held = 1},
                          CounterBalance{.counter = "releases", .limit = 50, .spent = 6, .held = 1}));
  EXPECT_THAT(Must(ledger->ListReleases(census.id)).releases, SizeIs(3));
  EXPECT_THAT(Must(ledger->FindReleases(census.id, "", {std::string(kUnknownMeasure)}, 10)), SizeIs(3));
  const Charge stored = Must(ledger->FindCharge(TestPrincipal("ana"), "stored 1"));
  EXPECT_EQ(Must(ledger->GetRelease(stored.release_id)).payload, "answer \x01 1");
  const Charge kept = Must(ledger->FindCharge(TestPrincipal("ana"), "kept"));
  EXPECT_EQ(Must(ledger->CancelReserved(kept.id, "not needed", TestPrincipal("ana"))).state,
            ChargeState::kCancelled);

  const ChargeRequest fresh{.dataset_id = Must(ledger->GetDataset("census-2")).id,
                            .dataset_version = 1,
                            .principal = TestPrincipal("zoe"),
                            .request_id = "after the upgrade",
                            .fingerprint = "fingerprint",
                            .kind = "workload",
                            .event = "event",
                            .label = {},
                            .sealed_key = "key",
                            .postings = {{account.id, "rho", 89}, {account.id, "releases", 1}}};
  EXPECT_TRUE(Must(ledger->Store(Must(ledger->Begin(fresh)), "newest answer")).payload == "newest answer");
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
  EXPECT_TRUE(Must(InspectLedger(url_, anchor_dir())).ok());
}

// Whom the earlier program knew has its name in entries that nobody can change; all others get pseudonyms.
TEST_P(Upgrade, KeepsTheNamesThatHistoriesHaveAndGivesNewPrincipalsPseudonyms) {
  Load(DumpText());
  auto ledger = Open();
  const Dataset census = Must(ledger->GetDataset("census"));
  for (const std::string& known : {std::string("ana"), census.owner}) {
    EXPECT_EQ(Must(ledger->PseudonymOf(known)), known);
    EXPECT_TRUE(Must(ledger->KnowsPrincipal(known)));
    EXPECT_EQ(ledger->ForgetName(known).code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_FALSE(Must(ledger->KnowsPrincipal("eve")));
  const std::string pseudonym = Must(ledger->PseudonymOf("eve"));
  EXPECT_TRUE(IsPseudonym(pseudonym));
  ASSERT_TRUE(ledger->SetGrant(census.id, {.grantee = "eve"}, TestPrincipal(census.owner)).ok());
  const Entry granted = Must(ledger->ListEntries(census.id, {})).back();
  EXPECT_EQ(granted.actor, census.owner);
  EXPECT_EQ(Must(ParseGrant(granted.payload)).grantee, pseudonym);
  ASSERT_TRUE(ledger->ForgetName(pseudonym).ok());
  EXPECT_THAT(Must(ledger->Verify(census.id)).findings, IsEmpty());
  EXPECT_EQ(Must(ledger->FindCharge(TestPrincipal("ana"), "stored 1")).principal, "ana");
}

// Names that stand in one table alone are kept, too: without the right to them an approver could approve what
// he had proposed under the former name.
TEST_P(Upgrade, KeepsEveryNameOfEveryTable) {
  Load(DumpText());
  auto ledger = Open();
  const auto store = Must(OpenLedgerDatabase(url_));
  for (const char* select :
       {"SELECT owner FROM datasets", "SELECT grantee FROM grants", "SELECT principal FROM charges",
        "SELECT scope_key FROM accounts WHERE scope_type = 'ANALYST'", "SELECT member FROM account_members",
        "SELECT grantee FROM release_shares", "SELECT proposed_by FROM limit_proposals",
        "SELECT approved_by FROM limit_proposals WHERE approved_by <> ''", "SELECT actor FROM entries"}) {
    const sql::Outcome read = store->Read([&](sql::Transaction& transaction) -> absl::Status {
      for (const sql::Row& row : Must(transaction.Execute(select, {}))) {
        EXPECT_EQ(Must(ledger->PseudonymOf(row.Text(0))), row.Text(0)) << select;
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(read.status.ok()) << read.status;
  }
}

// It was made before draws had identities: the request is found by what was stored then, and drawn from the
// key as it was.
TEST_P(Upgrade, AStartedChargeIsResumedByItsEarlierFingerprintAndNoOther) {
  Load(DumpText());
  auto ledger = Open();
  const Charge started = Must(ledger->FindCharge(TestPrincipal("ana"), "started"));
  EXPECT_EQ(started.draw_identity, "");
  ChargeRequest again{.dataset_id = started.dataset_id,
                      .dataset_version = started.dataset_version,
                      .principal = TestPrincipal("ana"),
                      .request_id = "started",
                      .fingerprint = "what the client sent",
                      .draw_identity = "what is drawn",
                      .kind = started.kind,
                      .event = started.event,
                      .label = started.label,
                      .sealed_key = "another key",
                      .postings = started.postings};
  EXPECT_EQ(ledger->Begin(again).status().code(), absl::StatusCode::kAlreadyExists);
  again.earlier_fingerprint = started.fingerprint;
  const Attempt resumed = Must(ledger->Begin(again));
  EXPECT_FALSE(resumed.newly_charged);
  EXPECT_EQ(resumed.sealed_key, "sealed key of started");
  EXPECT_EQ(Must(ledger->Store(resumed, "its answer")).payload, "its answer");
  EXPECT_THAT(Must(ledger->Verify(started.dataset_id)).findings, IsEmpty());
}

TEST_P(Upgrade, IsAnnouncedBeforeItIsDoneAndIsDoneOnce) {
  Load(DumpText());
  EXPECT_EQ(InspectLedger(url_, anchor_dir()).status().code(), absl::StatusCode::kFailedPrecondition);
  const std::vector<SchemaStep> pending = Must(PendingSteps(url_));
  ASSERT_FALSE(pending.empty());
  EXPECT_EQ(pending.front().version, GetParam().version + 1);
  EXPECT_THAT(Must(MigrateLedger(url_)), SizeIs(pending.size()));
  EXPECT_THAT(Must(MigrateLedger(url_)), IsEmpty());
  const Inspection inspection = Must(InspectLedger(url_, anchor_dir()));
  EXPECT_TRUE(inspection.ok());
  EXPECT_EQ(inspection.ledger_uuid, kLedger);
  EXPECT_THAT(inspection.datasets, SizeIs(3));
}

// Without these the test above could be looking at nothing.
TEST_P(Upgrade, TheCanaryDumpWithAnEditedReasonIsFound) {
  const std::string text = DumpText();
  const std::string edited = absl::StrReplaceAll(text, {{"changed my mind", "changed my mood"}});
  ASSERT_NE(edited, text);
  const std::string of_the_entry =
      absl::StrReplaceAll(text, {{"6368616E676564206D79206D696E64", "6368616E676564206D79206D6F6F64"},
                                 {"6368616e676564206d79206d696e64", "6368616e676564206d79206d6f6f64"}});
  ASSERT_NE(of_the_entry, text);
  Load(of_the_entry);
  const absl::Status unsound = MigrateLedger(url_).status();
  EXPECT_EQ(unsound.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(unsound.message()), HasSubstr("curatord check-ledger"));
  const Inspection inspection = Must(InspectLedger(url_, anchor_dir()));
  EXPECT_FALSE(inspection.ok());
  std::vector<std::string> findings;
  for (const InspectedDataset& dataset : inspection.datasets) {
    for (const std::string& finding : dataset.verification.findings) findings.push_back(finding);
  }
  EXPECT_THAT(findings, Contains(HasSubstr("was edited")));
}

TEST_P(Upgrade, TheCanaryDumpWhoseHeadsAreNotTheLastEntriesIsFound) {
  Load(DumpText());
  Must(MigrateLedger(url_));
  const auto store = Must(OpenLedgerDatabase(url_));
  ASSERT_TRUE(store
                  ->Write([](sql::Transaction& transaction) {
                    return transaction.ExecuteScript("UPDATE chain_heads SET seq = seq - 1");
                  })
                  .status.ok());
  const Inspection inspection = Must(InspectLedger(url_, anchor_dir()));
  EXPECT_FALSE(inspection.ok());
  for (const InspectedDataset& dataset : inspection.datasets) {
    EXPECT_THAT(dataset.verification.findings, Contains(HasSubstr("the stored head is not the last entry")));
  }
}

// Of the schema before the newest one, which every other test has.
constexpr int kNewestDump = 23;

TEST(UpgradeDumps, ThereIsOneOfEachEarlierSchema) {
  for (const std::string_view backend : {"sqlite", "postgres"}) {
    EXPECT_EQ(kNewestDump + 1, sql::NewestSchema({.name = backend}, sql::EmbeddedMigrations())) << backend;
  }
}

// At night every dump; else the first, every third after it, and the newest.
std::vector<Dump> EveryDump() {
  std::vector<Dump> dumps;
  const auto is_taken = [](int version) {
    return nightly::IsOn() || version % 3 == 1 || version == kNewestDump;
  };
  for (const std::string backend : {"sqlite", "postgres"}) {
    for (int version = 1; version <= kNewestDump; ++version) {
      if (is_taken(version)) dumps.push_back({backend, version});
    }
  }
  return dumps;
}

INSTANTIATE_TEST_SUITE_P(EveryDump, Upgrade, ::testing::ValuesIn(EveryDump()), [](const auto& test) {
  return absl::StrCat(test.param.backend, test.param.version);
});

}  // namespace
}  // namespace curator::ledger
