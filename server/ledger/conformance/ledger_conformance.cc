#include "ledger/conformance/ledger_conformance.h"

#include <atomic>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "ledger/inspect_ledger.h"
#include "ledger/sql/sql_ledger.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::ledger {
namespace {

namespace fs = std::filesystem;
using testing::PostgresCluster;

constexpr char kSqlite[] = "sqlite";

}  // namespace

std::function<std::string(size_t)> SeededEntropy(uint64_t seed) {
  auto counter = std::make_shared<std::atomic<uint64_t>>(0);
  return [seed, counter](size_t bytes) {
    std::string random;
    while (random.size() < bytes)
      random += Sha256(absl::StrCat("entropy ", seed, " ", counter->fetch_add(1)));
    random.resize(bytes);
    return random;
  };
}

std::vector<std::string> LedgerBackendNames() {
  std::vector<std::string> names;
  for (const LedgerBackend& backend : LedgerBackends()) names.emplace_back(backend.name);
  return names;
}

const LedgerBackend& LedgerConformance::backend() const {
  const std::vector<LedgerBackend>& all = LedgerBackends();
  size_t i = 0;
  while (all[i].name != GetParam()) ++i;
  return all[i];
}

void LedgerConformance::SetUp() {
  RenewLedger();
}

void LedgerConformance::RenewLedger() {
  if (!place_.empty()) fs::remove_all(place_);
  place_ = absl::StrCat(folder_, "/", ++ledgers_);
  fs::create_directory(place_);
  anchor_dir_ = absl::StrCat(place_, "/anchor");
  url_ = GetParam() == kSqlite ? absl::StrCat("sqlite:", place_, "/ledger.db")
                               : PostgresCluster::Shared().CreatePreparedDatabase(
                                     [](const std::string& url) { return MigrateLedger(url).status(); });
}

void LedgerConformance::StartWithoutSchema() {
  if (GetParam() != kSqlite) url_ = PostgresCluster::Shared().CreateDatabase();
}

absl::StatusOr<std::unique_ptr<Ledger>> LedgerConformance::TryOpen() {
  return TryOpenCopy(url_);
}

absl::StatusOr<std::unique_ptr<Ledger>> LedgerConformance::TryOpenCopy(const std::string& url) {
  return OpenStoredLedger({.url = url,
                           .anchor_dir = anchor_dir_,
                           .entropy = SeededEntropy(NextSeed()),
                           .accept_missing_anchor = accepts_missing_anchor_});
}

std::unique_ptr<Ledger> LedgerConformance::Open() {
  absl::StatusOr<std::unique_ptr<Ledger>> ledger = TryOpen();
  if (!ledger.ok()) {
    ADD_FAILURE() << ledger.status();
    std::abort();
  }
  return *std::move(ledger);
}

std::string LedgerConformance::CopyDatabase() {
  if (GetParam() != kSqlite) return PostgresCluster::Shared().CopyDatabase(url_);
  const std::string copy = absl::StrCat(place_, "/copy.db");
  // The last connection to close has folded the write-ahead log into the file.
  fs::copy_file(absl::StrCat(place_, "/ledger.db"), copy);
  return absl::StrCat("sqlite:", copy);
}

void LedgerConformance::Tamper(const std::string& script) {
  const std::string unguard = GetParam() == kSqlite
                                  ? "DROP TRIGGER IF EXISTS entries_are_never_updated; "
                                    "DROP TRIGGER IF EXISTS entries_are_never_deleted; "
                                    "DROP TRIGGER IF EXISTS charges_are_never_deleted; "
                                    "DROP TRIGGER IF EXISTS charges_are_never_changed; "
                                    "DROP TRIGGER IF EXISTS counters_are_never_deleted; "
                                    "PRAGMA ignore_check_constraints = ON; "
                                  : "ALTER TABLE entries DISABLE TRIGGER ALL; "
                                    "ALTER TABLE charges DISABLE TRIGGER ALL; "
                                    "ALTER TABLE account_counters DISABLE TRIGGER ALL; "
                                    // Not a guard.
                                    "DO $$ BEGIN IF EXISTS (SELECT FROM pg_trigger WHERE tgname = "
                                    "'counters_leave_points') THEN ALTER TABLE account_counters ENABLE "
                                    "TRIGGER counters_leave_points, ENABLE TRIGGER "
                                    "counters_begin_with_a_point; END IF; END $$; "
                                    "ALTER TABLE account_counters DROP CONSTRAINT IF EXISTS within_limit; ";
  const absl::Status done = TryInStore(absl::StrCat(unguard, script));
  ASSERT_TRUE(done.ok()) << done;
}

std::unique_ptr<sql::Database> LedgerConformance::OpenStoreOf(const std::string& url) {
  return Must(backend().open(url));
}

absl::Status LedgerConformance::TryInStore(const std::string& statement) {
  absl::StatusOr<std::unique_ptr<sql::Database>> store = backend().open(url_);
  if (!store.ok()) return store.status();
  return (*store)
      ->Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(statement); })
      .status;
}

int64_t LedgerConformance::AskStore(const std::string& query) {
  absl::StatusOr<std::unique_ptr<sql::Database>> store = backend().open(url_);
  EXPECT_TRUE(store.ok()) << store.status();
  int64_t answer = -1;
  const sql::Outcome outcome = (*store)->Read([&](sql::Transaction& transaction) -> absl::Status {
    absl::StatusOr<std::vector<sql::Row>> rows = transaction.Execute(query, {});
    if (!rows.ok()) return rows.status();
    answer = rows->at(0).Integer(0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return answer;
}

DatasetSpec LedgerConformance::SpecOf(const std::string& name, int64_t limit) {
  return {.request_id = absl::StrCat("create ", name),
          .name = name,
          .owner = TestPrincipal("olga"),
          .schema = std::string("schema\0bytes", 12),
          .schema_hash = Sha256(std::string("schema\0bytes", 12)),
          .neighbour_relation = "ADD_REMOVE",
          .privacy_unit = "RECORD",
          .accounts = {{.scope_type = ScopeType::kDataset,
                        .rule = "rule bytes",
                        .rule_name = "ZCDP",
                        .limits = {{"rho", limit}}}}};
}

Dataset LedgerConformance::MakeDataset(Ledger& ledger, const std::string& name, int64_t limit) {
  const Dataset created = Must(ledger.CreateDataset(SpecOf(name, limit)));
  return Must(ledger.SealDataset(created.id, absl::StrCat("content of ", name), TestPrincipal("olga")));
}

int64_t LedgerConformance::FirstAccount(Ledger& ledger, const Dataset& dataset) {
  return Must(ledger.ListAccounts(dataset.id)).at(0).id;
}

CounterBalance LedgerConformance::BalanceOf(Ledger& ledger, const Dataset& dataset) {
  return Must(ledger.ListAccounts(dataset.id)).at(0).counters.at(0);
}

ChargeRequest LedgerConformance::RequestOf(const Dataset& dataset, const std::string& request_id,
                                           int64_t account_id, int64_t cost) {
  return {.dataset_id = dataset.id,
          .dataset_version = dataset.version,
          .refusal_rules_hash = dataset.refusal_rules_hash,
          .principal = TestPrincipal("ana"),
          .request_id = request_id,
          .fingerprint = Sha256(absl::StrCat(request_id, " costs ", cost)),
          .kind = "workload",
          .event = std::string("event\0bytes", 11),
          .label = "all 2-way marginals",
          .sealed_key = absl::StrCat("sealed key of ", request_id),
          .postings = {{account_id, "rho", cost}}};
}

absl::StatusOr<Dataset> LedgerConformance::SetRules(Ledger& ledger, const Dataset& dataset,
                                                    const std::string& rules, const std::string& request_id) {
  return ledger.SetRefusalRules({.request_id = request_id,
                                 .dataset_id = dataset.id,
                                 .asked = rules,
                                 .edit = [&](std::string_view) -> absl::StatusOr<EditedRules> {
                                   return EditedRules{rules, "set by a test"};
                                 },
                                 .actor = TestPrincipal("olga")});
}

}  // namespace curator::ledger
