// Mutants of the ledger, each with one of its defences taken away. Where two defences guard the same thing,
// the other one holds alone; with both gone the check of the invariants, or the model, must notice. The
// mutant that skips the sync is in power_loss_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/invariants.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"
#include "tests/ledger/mutant_database.h"
#include "tests/ledger/simulation.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Finds that every cost fits, and adds it without a condition.
const std::vector<Mutation> kAdmitsEverything = {
    {"c.held, c.limit_value,", "c.held, c.limit_value + 1000000,"},
    {"CASE WHEN $3 <= limit_value - held - $4 - spent THEN spent + $3 END", "spent + $3"}};
// Never finds the charge that a key has made.
const std::vector<Mutation> kForgetsKeys = {
    {"c.principal = $1 AND c.request_id = $2", "c.principal = $1 AND c.request_id = $2 AND 1 = 0"}};
// Leaves a charge STARTED when its release is stored, and does not find the release.
const std::vector<Mutation> kNeverEndsCharges = {
    {"DELETE FROM open_charges WHERE", "UPDATE open_charges SET state = state WHERE"},
    {"INSERT INTO endings", ""},
    {"LEFT JOIN releases r ON r.charge_id = c.id WHERE", "LEFT JOIN releases r ON 1 = 0 WHERE"}};
// Lets stale attempts keep their token.
const std::vector<Mutation> kNeverRenewsTokens = {
    {"attempt_token = $7,", "attempt_token = CASE WHEN $7 = '' THEN $7 ELSE attempt_token END,"}};

// Believes that the chain still ends where it remembers.
const std::vector<Mutation> kBelievesItsMemory = {
    {"AND seq = $5 AND hash = $6 AND", "AND seq >= $5 AND (hash = $6 OR hash <> $6) AND"}};
// Repairs a restored backup and leaves the draws that it has as started, with their keys.
const std::vector<Mutation> kLeavesStartedDraws = {{"o.charge_id IS NOT NULL AND", "o.state = 'NONE' AND"}};
// Charges on in a guess after a newer program has changed the schema.
const std::vector<Mutation> kIgnoresUpgrades = {
    {"(SELECT MAX(m.version) FROM schema_migrations m) = $4 AND", "CAST($4 AS BIGINT) > 0 AND"}};

// A store that takes one ending of its COMMIT for another.
class MistakenEnding final : public sql::Database {
 public:
  MistakenEnding(std::unique_ptr<sql::Database> real, sql::Ending ending, sql::Ending taken_for, int& applied)
      : real_(std::move(real)), ending_(ending), taken_for_(taken_for), applied_(applied) {}

  const sql::Dialect& dialect() const override { return real_->dialect(); }
  sql::Outcome Read(const sql::Body& body) override { return real_->Read(body); }
  sql::Outcome Write(const sql::Body& body) override {
    bool has_come_to_commit = false;
    sql::Outcome outcome = real_->Write([&](sql::Transaction& transaction) {
      absl::Status status = body(transaction);
      has_come_to_commit = status.ok();
      return status;
    });
    if (!has_come_to_commit || outcome.ending != ending_) return outcome;
    ++applied_;
    const bool is_done = taken_for_ == sql::Ending::kDone;
    return {taken_for_, is_done ? absl::OkStatus() : outcome.status};
  }

 private:
  const std::unique_ptr<sql::Database> real_;
  const sql::Ending ending_;
  const sql::Ending taken_for_;
  int& applied_;
};

class Mutants : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    auto ledger = Open();
    dataset_ = MakeDataset(*ledger, "census", 10);
    account_ = FirstAccount(*ledger, dataset_);
  }
  void TearDown() override { EXPECT_GT(applied_, 0) << "the mutation has found nothing to change"; }

  std::unique_ptr<Ledger> OpenMutant(const std::vector<Mutation>& mutations) {
    auto store = std::make_unique<MutantDatabase>(OpenStore(), mutations, applied_);
    return Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed())));
  }
  // The acknowledgements of a ledger that takes one ending for another, each of whose charges is struck at
  // another step.
  struct Struck {
    std::vector<Acknowledged> reported;
    int refusals = 0;
  };
  Struck StrikeEachStep(Fault fault, sql::Ending ending, sql::Ending taken_for) {
    auto fragile = std::make_unique<FaultyDatabase>(OpenStore(), FaultyDatabase::Calls::kAsTheyCome);
    FaultyDatabase& store = *fragile;
    auto ledger = Must(sql::SqlLedger::Open(
        std::make_unique<MistakenEnding>(std::move(fragile), ending, taken_for, applied_), anchor_dir(),
        SeededEntropy(NextSeed())));
    Struck struck;
    constexpr int kCharges = 60;  // enough that both guesses and others come to their commit
    constexpr int kStepsOfACharge = 12;
    for (int i = 0; i < kCharges; ++i) {
      store.Arm(fault, i % kStepsOfACharge);
      const ChargeRequest request = Request(absl::StrCat("struck ", i), 0);
      if (ledger->Begin(request).ok()) {
        struck.reported.push_back({request.principal.name(), request.request_id, ChargeState::kStarted, ""});
      } else {
        ++struck.refusals;
      }
    }
    return struck;
  }
  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    return RequestOf(dataset_, request_id, account_, cost);
  }
  // Takes a constraint out of the schema: by its name on PostgreSQL, by its words on SQLite, which may keep
  // an index for it.
  struct Constraint {
    std::string table;
    std::string name;
    std::string words;
    std::string index;
  };
  void Drop(const Constraint& constraint) {
    const std::string script =
        GetParam() == "sqlite"
            ? absl::StrCat("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '",
                           constraint.words, "', '') WHERE name = '", constraint.table,
                           "'; DELETE FROM sqlite_schema WHERE name = '", constraint.index, "'")
            : absl::StrCat("ALTER TABLE ", constraint.table, " DROP CONSTRAINT ", constraint.name);
    ASSERT_TRUE(TryInStore(script).ok());
  }

  Dataset dataset_;
  int64_t account_ = 0;
  int applied_ = 0;
};

TEST_P(Mutants, AnAdmissionThatLiesIsStoppedByTheCheck) {
  auto mutant = OpenMutant(kAdmitsEverything);
  EXPECT_TRUE(mutant->Begin(Request("fits", 8)).ok());
  EXPECT_FALSE(mutant->Begin(Request("does not fit", 4)).ok());
  EXPECT_THAT(ViolationsIn(*OpenStore()), ElementsAre());
}

TEST_P(Mutants, AnAdmissionThatLiesWithoutTheCheckIsCaught) {
  Drop({"account_counters", "within_limit", " AND spent <= limit_value - held", ""});
  auto mutant = OpenMutant(kAdmitsEverything);
  EXPECT_TRUE(mutant->Begin(Request("fits", 8)).ok());
  EXPECT_TRUE(mutant->Begin(Request("does not fit", 4)).ok());
  EXPECT_THAT(ViolationsIn(*OpenStore()), Contains(HasSubstr("spent 12 and held 0 of 10")));
  EXPECT_THAT(Must(mutant->Verify(dataset_.id)).findings, Not(ElementsAre()));
}

TEST_P(Mutants, AKeyThatIsForgottenIsStoppedByTheUniqueIndex) {
  auto mutant = OpenMutant(kForgetsKeys);
  EXPECT_TRUE(mutant->Begin(Request("again", 2)).ok());
  EXPECT_FALSE(mutant->Begin(Request("again", 2)).ok());
  EXPECT_EQ(BalanceOf(*mutant, dataset_).spent, 2);
  EXPECT_THAT(ViolationsIn(*OpenStore()), ElementsAre());
}

TEST_P(Mutants, AKeyThatIsForgottenWithoutTheUniqueIndexIsCaught) {
  Drop({"charges", "charges_principal_request_id_key", ",\n  UNIQUE (principal, request_id)",
        "sqlite_autoindex_charges_2"});
  auto mutant = OpenMutant(kForgetsKeys);
  EXPECT_TRUE(mutant->Begin(Request("again", 2)).ok());
  EXPECT_TRUE(mutant->Begin(Request("again", 2)).ok());
  EXPECT_THAT(ViolationsIn(*OpenStore()), Contains("several charges under one key: again"));
}

// What RepairConformance.AStartedChargeIsForfeitedAndItsKeyErased excludes.
TEST_P(Mutants, ARepairThatLeavesStartedDrawsGivesTheKeyOfAnAnswerToAnotherDraw) {
  auto ledger = Open();
  const Attempt answered = Must(ledger->Begin(Request("answered", 2)));
  ledger.reset();
  const std::string backup = CopyDatabase();
  Must(Open()->Store(answered, "the answer"));
  auto store = std::make_unique<MutantDatabase>(OpenStoreOf(backup), kLeavesStartedDraws, applied_);
  auto mutant = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed())));
  Must(mutant->RaiseToAnchor({.dataset_id = dataset_.id,
                              .reason = "the disk failed",
                              .actor = TestPrincipal("petra"),
                              .proposed_by = "olga",
                              .receipts = {}}));
  const Attempt again = Must(mutant->Begin(Request("answered", 2)));
  EXPECT_FALSE(again.release.has_value());
  EXPECT_EQ(again.sealed_key, answered.sealed_key);
}

TEST_P(Mutants, ALostConnectionThatIsTakenForARefusalIsCaughtByTheClient) {
  EXPECT_EQ(StrikeEachStep(Fault::kLost, sql::Ending::kUnknown, sql::Ending::kUnknown).refusals, 0);
  EXPECT_GT(StrikeEachStep(Fault::kLost, sql::Ending::kUnknown, sql::Ending::kFailed).refusals, 0);
}

TEST_P(Mutants, ALostConnectionThatIsTakenForACommitIsCaught) {
  const Struck sound = StrikeEachStep(Fault::kLost, sql::Ending::kUnknown, sql::Ending::kUnknown);
  EXPECT_THAT(ViolationsIn(*OpenStore(), sound.reported), ElementsAre());
  SetUp();
  const Struck mutant = StrikeEachStep(Fault::kLost, sql::Ending::kUnknown, sql::Ending::kDone);
  EXPECT_THAT(ViolationsIn(*OpenStore(), mutant.reported), Contains(StartsWith("lost: struck ")));
}

TEST_P(Mutants, ALostTransactionThatIsTakenForACommitIsCaught) {
  const Struck mutant = StrikeEachStep(Fault::kConflict, sql::Ending::kConflict, sql::Ending::kDone);
  EXPECT_THAT(ViolationsIn(*OpenStore(), mutant.reported), Contains(StartsWith("lost: struck ")));
}

// Two servers whose anchors do not see each other, the other of which moves the chain but no balance.
TEST_P(Mutants, AMemoryThatIsBelievedIsStoppedByTheEntriesKey) {
  auto mutant = OpenMutant(kBelievesItsMemory);
  auto other = Must(sql::SqlLedger::Open(OpenStore(), absl::StrCat(anchor_dir(), "-of-the-other"),
                                         SeededEntropy(NextSeed())));
  EXPECT_TRUE(mutant->Begin(Request("learns", 1)).ok());
  EXPECT_TRUE(mutant->Begin(Request("guesses", 1)).ok());
  EXPECT_GT(applied_, 0) << "the second charge was no guess";
  EXPECT_TRUE(other->Begin(Request("meanwhile", 0)).ok());
  EXPECT_TRUE(Must(mutant->Begin(Request("guesses wrong", 1))).newly_charged);
  EXPECT_EQ(BalanceOf(*mutant, dataset_).spent, 3);
  EXPECT_THAT(ViolationsIn(*OpenStore()), ElementsAre());
}

// The guard is in the statement: nothing else stops a guess of a server that runs on after an upgrade.
TEST_P(Mutants, AGuessThatIgnoresAnUpgradeChargesOn) {
  auto mutant = OpenMutant(kIgnoresUpgrades);
  EXPECT_TRUE(mutant->Begin(Request("learns", 1)).ok());
  EXPECT_TRUE(mutant->Begin(Request("guesses", 1)).ok());
  EXPECT_GT(applied_, 0) << "the second charge was no guess";
  ASSERT_TRUE(TryInStore("INSERT INTO schema_migrations (version, name, sha256, applied_at_us) VALUES "
                         "(9999, 'a later one', 'x', 0)")
                  .ok());
  EXPECT_TRUE(mutant->Begin(Request("guesses on", 1)).ok());
}

TEST_P(Mutants, AChargeThatNeverEndsIsStoppedFromASecondReleaseByTheUniqueIndex) {
  auto mutant = OpenMutant(kNeverEndsCharges);
  const Attempt attempt = Must(mutant->Begin(Request("drawn twice", 2)));
  EXPECT_TRUE(mutant->Store(attempt, "one draw").ok());
  EXPECT_FALSE(mutant->Store(attempt, "another draw").ok());
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), 1);
}

TEST_P(Mutants, ASecondReleaseWithoutTheUniqueIndexIsCaught) {
  Drop({"releases", "releases_charge_id_key", " UNIQUE", "sqlite_autoindex_releases_2"});
  // A release is listed for its reader once, which would stop the second too.
  std::vector<Mutation> mutations = kNeverEndsCharges;
  mutations.push_back({"INSERT INTO release_readers", ""});
  auto mutant = OpenMutant(mutations);
  const Attempt attempt = Must(mutant->Begin(Request("drawn twice", 2)));
  EXPECT_TRUE(mutant->Store(attempt, "one draw").ok());
  EXPECT_TRUE(mutant->Store(attempt, "another draw").ok());
  EXPECT_THAT(ViolationsIn(*OpenStore()), Contains(StartsWith("several releases of one charge")));
}

TEST_P(Mutants, ATokenThatIsIgnoredIsCaughtByTheModel) {
  Simulation simulation(
      [this] { return std::make_unique<MutantDatabase>(OpenStore(), kNeverRenewsTokens, applied_); },
      anchor_dir(), NextSeed());
  std::string wrong;
  for (uint64_t seed = 0; seed < 500 && wrong.empty(); ++seed) wrong = simulation.Run(seed);
  EXPECT_THAT(wrong, HasSubstr("answered")) << wrong;
}

TEST_P(Mutants, AnAnchorThatIsIgnoredLosesWhatWasAcknowledgedAndIsCaught) {
  const std::string backup = CopyDatabase();
  auto ledger = Open();
  const ChargeRequest request = Request("after the backup", 3);
  Must(ledger->Begin(request));
  const std::vector<Acknowledged> reported = {
      {request.principal.name(), request.request_id, ChargeState::kStarted, ""}};
  EXPECT_THAT(ViolationsIn(*OpenStore(), reported), ElementsAre());
  ledger.reset();
  EXPECT_STATUS_IS(absl::StatusCode::kDataLoss,
                   Must(TryOpenCopy(backup))->Begin(Request("spent again", 3)).status());
  std::filesystem::remove_all(anchor_dir());
  AcceptMissingAnchor();
  ++applied_;
  auto restored = Must(TryOpenCopy(backup));
  EXPECT_TRUE(restored->Begin(Request("spent again", 3)).ok());
  EXPECT_THAT(ViolationsIn(*OpenStoreOf(backup), reported),
              Contains("lost: after the backup, acknowledged as STARTED"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, Mutants, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
