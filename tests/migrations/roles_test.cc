// Each PostgreSQL role can do what it is for, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/inspect_ledger.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::ledger {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kHourUs = int64_t{3600} * 1'000'000;

class Roles : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    StartWithoutSchema();
    ASSERT_FALSE(Must(MigrateLedger(url())).empty());
    for (const std::string role : {"application", "auditor"}) {
      const absl::Status made = TryInStore(absl::StrCat(
          "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'test_", role,
          "') THEN CREATE ROLE test_", role, " LOGIN IN ROLE curator_", role, "; END IF; END $$"));
      ASSERT_TRUE(made.ok()) << made;
    }
  }
  std::string UrlAs(const std::string& role) const {
    return absl::StrReplaceAll(url(), {{"postgres@", absl::StrCat("test_", role, "@")}});
  }
  static absl::Status Try(const std::string& url, const std::string& statement) {
    const auto store = OpenLedgerDatabase(url);
    if (!store.ok()) return store.status();
    return (*store)
        ->Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(statement); })
        .status;
  }
  static void ExpectForbidden(const std::string& url, const std::string& statement) {
    EXPECT_EQ(Try(url, statement).code(), absl::StatusCode::kFailedPrecondition) << statement;
  }
};

TEST_P(Roles, AServerWorksAsTheApplication) {
  auto ledger = Must(
      OpenLedger({.url = UrlAs("application"), .anchor_dir = anchor_dir(), .entropy = SeededEntropy(1)}));
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  ASSERT_TRUE(ledger->SetGrant(dataset.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  EXPECT_EQ(
      Must(ledger->Store(Must(ledger->Begin(RequestOf(dataset, "stored", account, 5))), "answer")).payload,
      "answer");
  Must(ledger->Begin(RequestOf(dataset, "twice", account, 1)));
  ASSERT_TRUE(
      ledger->Forfeit(Must(ledger->Begin(RequestOf(dataset, "twice", account, 1))), "cancelled").ok());
  const std::vector<Charge> reserved = Must(ledger->Reserve(
      {RequestOf(dataset, "one", account, 3), RequestOf(dataset, "other", account, 2)}, kHourUs));
  Must(ledger->ExtendReserved(reserved[0].id, 2 * kHourUs, TestPrincipal("ana")));
  Must(ledger->StartReserved(reserved[0].id, {{account, "rho", 1}}, TestPrincipal("ana")));
  Must(ledger->CommitReserved(reserved[0].id, TestPrincipal("ana")));
  Must(ledger->CancelReserved(reserved[1].id, "not needed", TestPrincipal("ana")));
  const LimitProposal proposal = Must(ledger->ProposeLimit({.request_id = "raise",
                                                            .account_id = account,
                                                            .counter = "rho",
                                                            .new_limit = 200,
                                                            .reason = "a further year",
                                                            .proposed_by = TestPrincipal("olga")}));
  Must(ledger->ApproveLimit(proposal.id, TestPrincipal("petra")));
  Must(ledger->CreateAccount({.request_id = "group",
                              .dataset_id = dataset.id,
                              .account = {.scope_type = ScopeType::kAnalystGroup,
                                          .scope_key = "students",
                                          .rule = "rule bytes",
                                          .rule_name = "ZCDP",
                                          .limits = {{"rho", 9}},
                                          .members = {"bob"}},
                              .actor = TestPrincipal("olga")}));
  ASSERT_TRUE(ledger->ArchiveDataset(dataset.id, TestPrincipal("olga")).ok());
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
}

TEST_P(Roles, AServerDrawsFromTheQueueAsTheApplication) {
  auto ledger = Must(
      OpenLedger({.url = UrlAs("application"), .anchor_dir = anchor_dir(), .entropy = SeededEntropy(1)}));
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  ASSERT_TRUE(ledger->SetGrant(dataset.id, {.grantee = "ana"}, TestPrincipal("olga")).ok());
  ChargeRequest request = RequestOf(dataset, "queued", account, 5);
  request.draw_identity = Sha256("what is drawn");
  request.sealed_key.clear();
  const Charge queued = Must(ledger->Queue(request, kHourUs));
  Must(ledger->StartQueued(queued.id, "sealed key", "attempt"));
  const Attempt taken_over = Must(ledger->TakeOver(queued.id));
  const Release release = Must(ledger->Store(taken_over, "answer", {"measure"}));
  EXPECT_STATUS_IS(absl::StatusCode::kOk,
                   ledger->ShareRelease(release.id, "bob", {"measure"}, TestPrincipal("ana")));
  std::vector<ChargeRequest> many;
  for (int i = 0; i < 260; ++i) many.push_back(RequestOf(dataset, absl::StrCat("r", i), account, 0));
  Must(ledger->Reserve(many, kHourUs));
  Must(ledger->CountEvents(dataset.id, "", 10));
  EXPECT_STATUS_IS(absl::StatusCode::kOk, ledger->AdvanceCounts().status());
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM event_counts_upto WHERE counted_seq > 260"), 1);
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
}

TEST_P(Roles, AServerAddsPartsAndRepairsAsTheApplication) {
  const auto open = [&](const std::string& url) {
    return Must(OpenLedger({.url = url, .anchor_dir = anchor_dir(), .entropy = SeededEntropy(1)}));
  };
  auto ledger = open(UrlAs("application"));
  const auto part_of = [](const std::string& name, int64_t bin) {
    return PartSpec{.bins = {bin},
                    .account = {.scope_type = ScopeType::kPart,
                                .scope_key = name,
                                .rule = "rule bytes",
                                .rule_name = "ZCDP",
                                .limits = {{"rho", 10}}}};
  };
  DatasetSpec spec = SpecOf("census", 0);
  spec.accounts.clear();
  spec.partition_attribute = "year";
  spec.parts = {part_of("early", 0)};
  const Dataset dataset = Must(ledger->CreateDataset(spec));
  Must(ledger->SealPart(dataset.id, "early", "content", TestPrincipal("olga")));
  ledger.reset();
  const std::string backup = CopyDatabase();
  ledger = open(UrlAs("application"));
  Must(ledger->AddPart({.request_id = "add",
                        .dataset_id = dataset.id,
                        .part = part_of("late", 1),
                        .actor = TestPrincipal("olga")}));
  ledger.reset();
  ledger = open(absl::StrReplaceAll(backup, {{"postgres@", "test_application@"}}));
  const RepairReport report = Must(ledger->RaiseToAnchor(
      {.dataset_id = dataset.id, .reason = "the disk failed", .actor = TestPrincipal("olga")}));
  EXPECT_TRUE(report.still_read_only.ok()) << report.still_read_only;
}

TEST_P(Roles, TheApplicationCannotRewriteWhatHappened) {
  const std::string application = UrlAs("application");
  for (const char* statement : {"UPDATE entries SET actor = 'mallory'",
                                "DELETE FROM entries",
                                "TRUNCATE entries",
                                "DELETE FROM charges",
                                "UPDATE charges SET principal = 'mallory'",
                                "UPDATE charges SET fingerprint = ''",
                                "UPDATE charges SET postings = '[]'",
                                "UPDATE endings SET state = 'CANCELLED'",
                                "DELETE FROM endings",
                                "DROP VIEW postings",
                                "UPDATE releases SET payload = ''",
                                "DELETE FROM releases",
                                "DELETE FROM account_counters",
                                "DELETE FROM chain_heads",
                                "DELETE FROM limit_proposals",
                                "UPDATE limit_proposals SET new_limit = 9",
                                "UPDATE datasets SET owner = 'mallory'",
                                "UPDATE accounts SET rule = ''",
                                "DELETE FROM account_members",
                                "UPDATE audit SET decision = 'ALLOWED'",
                                "DELETE FROM audit",
                                "TRUNCATE audit",
                                "UPDATE schema_migrations SET sha256 = ''",
                                "DELETE FROM schema_migrations",
                                "UPDATE ledger_identity SET ledger_uuid = ''",
                                "ALTER TABLE entries DISABLE TRIGGER ALL",
                                "ALTER TABLE account_counters DROP CONSTRAINT within_limit",
                                "DROP TABLE entries",
                                "CREATE TABLE mine (x BIGINT)"}) {
    ExpectForbidden(application, statement);
  }
}

// The audit's store alone writes more than what it inserts.
TEST_P(Roles, TheApplicationRemovesOldNamesFromTheAudit) {
  const std::string application = UrlAs("application");
  const std::string insert =
      "INSERT INTO audit VALUES (1, 'CALL', 1, 's', 'ana', '', '', '', 'm', '', 'ALLOWED', 0, '', '', 0, 0)";
  ASSERT_TRUE(Try(application, insert).ok());
  EXPECT_TRUE(Try(application, "UPDATE audit SET principal = '', credential_id = '', request_id = ''").ok());
  EXPECT_FALSE(Try(application, "UPDATE audit SET principal = 'mallory'").ok());
}

TEST_P(Roles, TheAuditorReadsEverythingAndWritesNothing) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  Must(ledger->Begin(RequestOf(dataset, "r", FirstAccount(*ledger, dataset), 5)));
  const std::string auditor = UrlAs("auditor");
  EXPECT_TRUE(Must(InspectLedger(auditor, anchor_dir())).ok());
  const std::string every_table =
      "(SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace";
  EXPECT_EQ(AskStore(absl::StrCat("SELECT COUNT(*) FROM ", every_table,
                                  " AND NOT has_table_privilege('curator_auditor', c.oid, 'SELECT')) t")),
            0);
  EXPECT_EQ(AskStore(absl::StrCat(
                "SELECT COUNT(*) FROM ", every_table,
                " AND has_table_privilege('curator_auditor', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, "
                "REFERENCES, TRIGGER')) t")),
            0);
  for (const char* statement :
       {"UPDATE account_counters SET spent = 0", "DELETE FROM entries",
        "INSERT INTO grants VALUES ('d', 'mallory', 'mallory', 0)", "CREATE TABLE mine (x BIGINT)"}) {
    ExpectForbidden(auditor, statement);
  }
}

TEST_P(Roles, AServerWorksAsTheApplicationInASchemaOfItsOwn) {
  ASSERT_TRUE(TryInStore("CREATE SCHEMA books").ok());
  const std::string books = "?options=-csearch_path%3Dbooks";
  ASSERT_FALSE(Must(MigrateLedger(absl::StrCat(url(), books))).empty());
  ASSERT_EQ(AskStore("SELECT COUNT(*) FROM books.schema_migrations WHERE version = 1"), 1);
  auto ledger = Must(OpenLedger({.url = absl::StrCat(UrlAs("application"), books),
                                 .anchor_dir = anchor_dir(),
                                 .entropy = SeededEntropy(1)}));
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const ChargeRequest request = RequestOf(dataset, "stored", FirstAccount(*ledger, dataset), 5);
  EXPECT_EQ(Must(ledger->Store(Must(ledger->Begin(request)), "answer")).payload, "answer");
  ledger.reset();
  EXPECT_TRUE(Must(InspectLedger(absl::StrCat(UrlAs("auditor"), books), anchor_dir())).ok());
}

// Roles that were made by hand after the migrations get everything from one script.
TEST_P(Roles, TheScriptGrantsExactlyWhatTheMigrationsGrant) {
  const std::string rights =
      "SELECT grantee, table_name AS what, column_name AS part, privilege_type AS may "
      "FROM information_schema.column_privileges WHERE grantee LIKE 'curator\\_%' AND table_schema = "
      "'public' "
      "UNION SELECT grantee, table_name, '', privilege_type FROM information_schema.role_table_grants "
      "WHERE grantee LIKE 'curator\\_%' AND table_schema = 'public' "
      "UNION SELECT grantee, object_name, object_type, privilege_type FROM "
      "information_schema.usage_privileges "
      "WHERE grantee LIKE 'curator\\_%' AND object_schema = 'public'";
  ASSERT_TRUE(TryInStore(absl::StrCat("CREATE SCHEMA kept; CREATE TABLE kept.rights AS ", rights)).ok());
  const auto missing = [&] {
    return AskStore(absl::StrCat("SELECT COUNT(*) FROM (TABLE kept.rights EXCEPT (", rights, ")) AS m"));
  };
  const auto added = [&] {
    return AskStore(absl::StrCat("SELECT COUNT(*) FROM ((", rights, ") EXCEPT TABLE kept.rights) AS a"));
  };
  ASSERT_TRUE(TryInStore("DROP OWNED BY curator_application, curator_auditor").ok());
  EXPECT_GT(missing(), 100);
  std::ostringstream script;
  script << std::ifstream(CURATOR_ROLES_SCRIPT).rdbuf();
  const absl::Status granted = TryInStore(script.str());
  ASSERT_TRUE(granted.ok()) << granted;
  EXPECT_EQ(missing(), 0);
  EXPECT_EQ(added(), 0);
  // Without this the comparison could be of nothing.
  ASSERT_TRUE(TryInStore("REVOKE INSERT ON release_shares FROM curator_application").ok());
  EXPECT_GT(missing(), 0);
}

TEST_P(Roles, TheScriptSaysWhenThereIsNoLedger) {
  std::ostringstream script;
  script << "SET LOCAL search_path = pg_temp; " << std::ifstream(CURATOR_ROLES_SCRIPT).rdbuf();
  const absl::Status refused = TryInStore(script.str());
  EXPECT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("run curatord migrate first"));
}

// A table that a later step makes has to be granted, too.
TEST_P(Roles, EveryTableIsReadableAndInsertableForTheApplication) {
  EXPECT_EQ(
      AskStore(
          "SELECT COUNT(*) FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace "
          "AND NOT (has_table_privilege('curator_application', c.oid, 'SELECT') AND (c.relname = "
          "'schema_migrations' OR has_table_privilege('curator_application', c.oid, 'INSERT')))"),
      0);
  EXPECT_EQ(
      AskStore(
          "SELECT COUNT(*) FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace "
          "AND c.relname NOT IN ('open_charges', 'staged_releases', 'release_pieces', 'pseudonyms', "
          "'quota_use') AND has_table_privilege('curator_application', c.oid, 'DELETE, TRUNCATE, UPDATE')"),
      0);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM unnest(ARRAY['open_charges', 'staged_releases', "
                     "'release_pieces', 'pseudonyms', 'quota_use']) AS t (name) WHERE "
                     "has_table_privilege('curator_application', "
                     "t.name, 'TRUNCATE, UPDATE')"),
            0);
}

TEST_P(Roles, AServerThatMayNotMigrateSaysWhoMay) {
  const std::string fresh = testing::PostgresCluster::Shared().CreateDatabase();
  const absl::Status status =
      OpenLedger({.url = absl::StrReplaceAll(fresh, {{"postgres@", "test_application@"}}),
                  .anchor_dir = anchor_dir(),
                  .entropy = SeededEntropy(1)})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("curatord migrate"));
}

INSTANTIATE_TEST_SUITE_P(Postgres, Roles, ::testing::Values("postgres"));

}  // namespace
}  // namespace curator::ledger
