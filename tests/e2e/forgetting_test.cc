// A principal is forgotten: its name is nowhere in the ledger any more, and what it did stands. On both
// ledgers, with two servers on one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "app_ledger.h"
#include "app_server_history.h"
#include "audit/audit_store.h"
#include "client/receipt.h"
#include "ledger/open_ledger.h"
#include "ledger/pseudonyms/pseudonym.h"
#include "tests/e2e/identity_server.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Olga owns "census"; anabella and bob have asked it one question each. Names differ from what the issuer
// calls them, which the server's history keeps.
class Forgetting : public Identities {
 protected:
  void SetUp() override {
    forget_after_ = absl::ZeroDuration();
    Identities::SetUp();
    EnrolAdministrator("ada");
    MakePrincipal("olga", "7f01");
    Bind(As("ada"), v1::RoleBinding::CREATOR, "olga");
    MakeSealed(As("7f01"), NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
    for (const auto& [name, subject] : {std::pair("anabella", "7f02"), std::pair("bob", "7f03")}) {
      MakePrincipal(name, subject);
      Grant(As("7f01"), "census", name);
      receipts_.push_back(Ask(As(subject)).receipt());
    }
  }

  void MakePrincipal(const std::string& name, const std::string& subject) {
    v1::CreatePrincipalRequest principal;
    principal.set_name(name);
    principal.set_kind(v1::PrincipalInfo::PERSON);
    ASSERT_TRUE(As("ada").CreatePrincipal(principal).ok());
    v1::LinkIdentityRequest link;
    link.set_principal(name);
    link.mutable_identity()->set_kind(v1::Identity::OIDC);
    link.mutable_identity()->set_issuer(kIssuer);
    link.mutable_identity()->set_subject(subject);
    const absl::StatusOr<v1::Credential> linked = As("ada").LinkIdentity(link);
    ASSERT_TRUE(linked.ok()) << linked.status();
    ASSERT_FALSE(linked->pending());
  }
  static v1::AnswerWorkloadRequest Question() {
    v1::AnswerWorkloadRequest question;
    question.set_dataset("census");
    *question.mutable_workload() = AllMarginals(1);
    question.mutable_spend()->set_epsilon("0.1");
    return question;
  }
  static v1::AnswerHeader Ask(const Client& client) {
    const absl::StatusOr<Answer> answer = client.AnswerWorkload(Question());
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->header : v1::AnswerHeader();
  }
  static absl::Status Read(const Client& client, const std::string& release_id) {
    v1::GetReleaseRequest request;
    request.set_release_id(release_id);
    return client.GetRelease(request).status();
  }
  absl::StatusOr<std::string> Forget(const std::string& name) const {
    v1::ForgetPrincipalRequest request;
    request.set_name(name);
    request.set_reason("asked for it");
    const absl::StatusOr<v1::ForgetPrincipalResponse> forgotten = As("ada").ForgetPrincipal(request);
    if (!forgotten.ok()) return forgotten.status();
    return forgotten->pseudonym();
  }
  std::vector<v1::LedgerEntry> Entries(const Client& client) const {
    std::vector<v1::LedgerEntry> entries;
    const absl::Status listed = client.ListLedgerEntries("census", 0, [&](const v1::LedgerEntry& entry) {
      entries.push_back(entry);
      return absl::OkStatus();
    });
    EXPECT_TRUE(listed.ok()) << listed;
    return entries;
  }
  // Whether the receipt's entry is in the history, with the hash that the receipt states.
  bool IsContained(const v1::Receipt& receipt) const {
    const auto key = As("ada").GetReceiptKey();
    const auto statement = client::CheckReceipt(receipt, key->public_key());
    EXPECT_TRUE(statement.ok()) << statement.status();
    for (const v1::LedgerEntry& entry : Entries(As("7f01"))) {
      if (entry.sequence() == statement->sequence) return client::HashOf(entry) == statement->entry_hash;
    }
    return false;
  }
  // Records of the audit are written behind the calls' backs, with what names its principal then.
  void AwaitAudited(const std::string& pseudonym) {
    const auto audit = audit::AuditStore::Open(options_.ledger, "").value();
    const audit::AuditFilter who{.principal = pseudonym, .method = "IdentityService/WhoAmI"};
    while (audit->List(who, {}, 1).value().records.empty()) std::this_thread::yield();
  }
  // In which tables a row has `word`, as text or as bytes.
  std::vector<std::string> TablesWith(const std::string& word) {
    const bool is_sqlite = GetParam() == Backend::kSqlite;
    const auto store = ledger::OpenLedgerDatabase(options_.ledger).value();
    std::vector<std::string> found;
    const auto outcome = store->Read([&](ledger::sql::Transaction& transaction) -> absl::Status {
      found.clear();
      const auto tables = transaction.Execute(
          is_sqlite ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
                    : "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'",
          {});
      if (!tables.ok()) return tables.status();
      for (const ledger::sql::Row& table : *tables) {
        const auto rows = transaction.Execute(Search(table.Text(0), word, is_sqlite), {});
        if (!rows.ok()) return rows.status();
        if (rows->at(0).Integer(0) > 0) found.push_back(table.Text(0));
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return found;
  }
  std::string Search(const std::string& table, const std::string& word, bool is_sqlite) {
    const std::string hex = absl::BytesToHexString(word);
    if (!is_sqlite) {
      return absl::StrCat("SELECT COUNT(*) FROM ", table, " AS each WHERE CAST(each AS TEXT) LIKE '%", word,
                          "%' OR CAST(each AS TEXT) LIKE '%", hex, "%'");
    }
    std::string condition = "0";
    const auto store = ledger::OpenLedgerDatabase(options_.ledger).value();
    const auto outcome = store->Read([&](ledger::sql::Transaction& transaction) -> absl::Status {
      const auto columns =
          transaction.Execute(absl::StrCat("SELECT name FROM pragma_table_info('", table, "')"), {});
      if (!columns.ok()) return columns.status();
      for (const ledger::sql::Row& column : *columns) {
        absl::StrAppend(&condition, " OR hex(", column.Text(0), ") LIKE '%", hex, "%'");
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return absl::StrCat("SELECT COUNT(*) FROM ", table, " WHERE ", condition);
  }

  std::vector<v1::Receipt> receipts_;  // anabella's, bob's
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Forgetting, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Forgetting, TheNameIsNowhereAndChargesReceiptsAndHistoriesStand) {
  EXPECT_THAT(TablesWith("anabella"), ::testing::ElementsAre("pseudonyms"));
  const std::string pseudonym = As("7f02").WhoAmI()->pseudonym();
  EXPECT_TRUE(ledger::IsPseudonym(pseudonym));
  EXPECT_THAT(receipts_[0].statement(), HasSubstr(absl::StrCat("\"principal\":\"", pseudonym, "\"")));
  AwaitAudited(pseudonym);
  Disable(As("ada"), "anabella");
  const absl::StatusOr<std::string> forgotten = Forget("anabella");
  ASSERT_TRUE(forgotten.ok()) << forgotten.status();
  EXPECT_EQ(*forgotten, pseudonym);
  EXPECT_THAT(TablesWith("anabella"), ::testing::IsEmpty());

  for (const bool is_started_again : {false, true}) {
    if (is_started_again) {
      first_.reset();
      first_ = Start("first");
    }
    const Client olga = As("7f01");
    EXPECT_TRUE(olga.VerifyLedger("census")->ok());
    EXPECT_EQ(olga.GetBudget("census")->accounts(0).counters(0).spent(), "0.2");
    for (const v1::Receipt& receipt : receipts_) EXPECT_TRUE(IsContained(receipt));
    std::vector<std::string> actors;
    for (const v1::LedgerEntry& entry : Entries(olga)) {
      actors.push_back(entry.actor_name());
      EXPECT_THAT(entry.summary(), Not(HasSubstr("anabella")));
    }
    EXPECT_THAT(actors, Contains(pseudonym));
    EXPECT_THAT(actors, Contains("bob"));
    EXPECT_THAT(actors, Contains("olga"));
    EXPECT_EQ(ReasonOf(As("7f02").WhoAmI().status()), "UNKNOWN_PRINCIPAL");
    EXPECT_TRUE(absl::IsNotFound(As("ada").GetPrincipal("anabella").status()));
  }
}

TEST_P(Forgetting, TheNameMayBeAnothersWhoHasNoneOfTheRightsAndChargesOfTheFirst) {
  const std::string release = Ask(As("7f02")).release_id();
  Disable(As("ada"), "anabella");
  ASSERT_TRUE(Forget("anabella").ok());
  MakePrincipal("anabella", "7f99");
  const Client another = As("7f99");
  EXPECT_TRUE(absl::IsNotFound(another.GetDataset("census").status()));
  EXPECT_TRUE(absl::IsNotFound(another.AnswerWorkload(Question()).status()));
  EXPECT_TRUE(absl::IsNotFound(Read(another, release)));
  Grant(As("7f01"), "census", "anabella");
  EXPECT_TRUE(absl::IsNotFound(Read(another, release)));
  for (const v1::LedgerEntry& entry : Entries(another)) EXPECT_TRUE(entry.charge_id().empty()) << "not hers";
  EXPECT_TRUE(another.AnswerWorkload(Question()).ok());
}

TEST_P(Forgetting, AnotherServerForgetsTheNameWithinTwoSeconds) {
  const std::unique_ptr<App> second = Start("second");
  const Client olga = With(issuer_.TokenOf("7f01"), second.get());
  const auto names_anabella = [&] {
    for (const v1::LedgerEntry& entry : Entries(olga)) {
      if (entry.actor_name() == "anabella") return true;
    }
    return false;
  };
  ASSERT_TRUE(names_anabella());
  Disable(As("ada"), "anabella");
  ASSERT_TRUE(Forget("anabella").ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (names_anabella() && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_FALSE(names_anabella());
}

TEST_P(Forgetting, WhoIsActiveOrOwnsADatasetIsNotForgotten) {
  EXPECT_THAT(std::string(Forget("anabella").status().message()), HasSubstr("is not disabled"));
  Disable(As("ada"), "olga");
  EXPECT_THAT(std::string(Forget("olga").status().message()), HasSubstr("not archived"));
  EXPECT_TRUE(absl::IsNotFound(Forget("nobody").status()));
  EXPECT_THAT(TablesWith("anabella"), ::testing::ElementsAre("pseudonyms"));
}

TEST_P(Forgetting, ProgramsOnTheServersHostShowNamesWhereThereAreAny) {
  Disable(As("ada"), "anabella");
  const std::string pseudonym = Forget("anabella").value();
  first_.reset();
  std::ostringstream history;
  std::ostringstream check;
  const LedgerCommandOptions places{.ledger = options_.ledger, .data_directory = options_.data_directory};
  EXPECT_EQ(RunServerHistory(places, history, history), 0) << history.str();
  EXPECT_THAT(history.str(), HasSubstr("PRINCIPAL_FORGOTTEN"));
  EXPECT_THAT(history.str(), HasSubstr(pseudonym));
  EXPECT_THAT(history.str(), HasSubstr("bob (PERSON)"));
  EXPECT_THAT(history.str(), Not(HasSubstr("anabella")));
  EXPECT_EQ(RunCheckLedger(places, check, check), 0) << check.str();
}

}  // namespace
}  // namespace curator::testing
