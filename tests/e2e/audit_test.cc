// The audit of a whole server: which calls it has, what it never has, and that no call waits for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "client/client.h"
#include "ledger/open_ledger.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Property;
using ::testing::SizeIs;

class AuditedServer : public ::testing::TestWithParam<Backend> {
 protected:
  Client As(const std::string& name) const { return server_.ClientFor(name); }

  // Reads records after one until `is_last`, however long the server takes to write it.
  std::vector<v1::AuditRecord> RecordsUntil(const std::function<bool(const v1::AuditRecord&)>& is_last,
                                            int64_t after_id = 0) const {
    std::vector<v1::AuditRecord> records;
    const absl::Status ended = As("ulla").WatchAudit(after_id, [&](const v1::AuditRecord& record) {
      records.push_back(record);
      return is_last(record) ? absl::CancelledError("enough") : absl::OkStatus();
    });
    EXPECT_TRUE(ended.ok()) << ended;
    return records;
  }
  // Of all calls so far: what a call that comes after them leaves is the last one.
  std::vector<v1::AuditRecord> RecordsOfAll(const std::string& mark) const {
    EXPECT_TRUE(absl::IsNotFound(As("mark").GetDataset(mark).status()));
    return RecordsUntil([&](const v1::AuditRecord& record) { return record.dataset() == mark; });
  }
  // Runs SQL in the database of the audit.
  void InStore(const std::string& script) const {
    const auto store = ledger::OpenLedgerDatabase(
        absl::StrReplaceAll(server_.options().ledger, {{"ledger.db", "audit.db"}}));
    ASSERT_TRUE(store.ok()) << store.status();
    const absl::Status done =
        (*store)
            ->Write([&](ledger::sql::Transaction& transaction) { return transaction.ExecuteScript(script); })
            .status;
    ASSERT_TRUE(done.ok()) << done;
  }

  TestServer server_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Ledgers, AuditedServer, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

v1::AuditRecord CallIn(const std::vector<v1::AuditRecord>& records, const std::string& method) {
  for (const v1::AuditRecord& record : records) {
    if (record.method() == method) return record;
  }
  ADD_FAILURE() << "no record of " << method;
  return {};
}

TEST_P(AuditedServer, RecordsWhoAskedForWhatAndHowItEnded) {
  EXPECT_TRUE(absl::IsNotFound(As("ana").GetBudget("census").status()));
  EXPECT_TRUE(As("olga").ListDatasets().ok());
  const std::vector<v1::AuditRecord> records = RecordsOfAll("mark 1");
  const v1::AuditRecord refused = CallIn(records, "BudgetService/GetBudget");
  EXPECT_EQ(refused.principal(), "ana");
  EXPECT_EQ(refused.dataset(), "census");
  EXPECT_EQ(refused.decision(), v1::AuditRecord::REFUSED);
  EXPECT_EQ(refused.status(), "NOT_FOUND");
  EXPECT_EQ(refused.reason(), "NOT_FOUND");
  EXPECT_EQ(refused.peer(), "loopback");
  const v1::AuditRecord allowed = CallIn(records, "DatasetService/ListDatasets");
  EXPECT_EQ(allowed.principal(), "olga");
  EXPECT_EQ(allowed.decision(), v1::AuditRecord::ALLOWED);
  EXPECT_EQ(allowed.status(), "OK");
  EXPECT_EQ(records.front().kind(), v1::AuditRecord::STARTED);
}

TEST_P(AuditedServer, RecordsARefusalOfSomebodyWhoDidNotSayWho) {
  const Client nobody({.server = server_.address()});
  EXPECT_TRUE(absl::IsUnauthenticated(nobody.GetBudget("census").status()));
  const v1::AuditRecord record = CallIn(RecordsOfAll("mark 2"), "BudgetService/GetBudget");
  EXPECT_EQ(record.principal(), "");
  EXPECT_EQ(record.decision(), v1::AuditRecord::REFUSED);
  EXPECT_EQ(record.status(), "UNAUTHENTICATED");
}

TEST_P(AuditedServer, ChargesThatDidNotFitAreListedToTheOwnerAndToThePrincipalWhoAsked) {
  MakeSealed(As("olga"), NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(50));
  for (const char* const analyst : {"ana", "bo"}) Grant(As("olga"), "census", analyst, {v1::ANALYST});
  v1::AnswerWorkloadRequest question;
  question.set_dataset("census");
  *question.mutable_workload() = AllMarginals(1);
  question.mutable_spend()->set_epsilon("3");
  ASSERT_TRUE(absl::IsResourceExhausted(As("ana").AnswerWorkload(question).status()));
  RecordsOfAll("mark refusals");
  const v1::ListRefusalsResponse seen = As("olga").ListRefusals("census").value();
  ASSERT_EQ(seen.refusals_size(), 1);
  EXPECT_EQ(seen.refusals(0).principal(), "ana");
  EXPECT_EQ(seen.refusals(0).method(), "QueryService/AnswerWorkload");
  ASSERT_EQ(seen.refusals(0).accounts_size(), 1);
  EXPECT_EQ(seen.refusals(0).accounts(0).account(), "dataset/census");
  EXPECT_EQ(seen.refusals(0).accounts(0).asked(), "3");
  EXPECT_EQ(seen.refusals(0).accounts(0).remaining(), "1");
  EXPECT_EQ(As("ana").ListRefusals("census")->refusals_size(), 1);
  EXPECT_EQ(As("bo").ListRefusals("census")->refusals_size(), 0) << "another's";
  EXPECT_TRUE(absl::IsNotFound(As("mark").ListRefusals("census").status()));
}

TEST_P(AuditedServer, LeavesOutWhatAnybodyMayAsk) {
  EXPECT_TRUE(As("ana").GetVersion().ok());
  EXPECT_TRUE(As("ana").ListSynthesizers().ok());
  EXPECT_THAT(RecordsOfAll("mark 3"),
              Not(Contains(Property(&v1::AuditRecord::method, HasSubstr("GetVersion")))));
}

// What a client wrote for people, and why it was refused in words.
TEST_P(AuditedServer, HasNoWordOfAQuestionOrOfAnError) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset("census");
  request.mutable_workload()->add_query_sets()->mutable_marginals()->add_sets()->add_names(
      "the attribute of ana");
  EXPECT_FALSE(As("ana").AnswerWorkload(request).ok());
  std::string all;
  for (const v1::AuditRecord& record : RecordsOfAll("mark 4")) all += record.DebugString();
  EXPECT_THAT(all, HasSubstr("AnswerWorkload")) << "which is the control";
  EXPECT_THAT(all, Not(HasSubstr("of ana")));
  EXPECT_THAT(all, Not(HasSubstr("that you may see")));
}

TEST_P(AuditedServer, ListsNewestFirstInPages) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(As("ana").GetDataset("census").ok());
  RecordsOfAll("mark 5");
  v1::ListAuditRecordsRequest request;
  request.set_principal("ana");
  const auto whole = As("ulla").ListAuditRecords(request);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_THAT(whole->records(), SizeIs(5));
  EXPECT_GT(whole->records(0).id(), whole->records(4).id());
  const auto some = As("ulla").ListAuditRecords(request, 2);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->records(1).id(), whole->records(1).id());
  request.set_page_token("not a token");
  EXPECT_TRUE(absl::IsInvalidArgument(As("ulla").ListAuditRecords(request).status()));
}

TEST_P(AuditedServer, AWatchGoesOnAfterTheRecordThatItNames) {
  const std::vector<v1::AuditRecord> before = RecordsOfAll("mark 6");
  EXPECT_FALSE(As("ana").GetDataset("census").ok());
  const auto is_of_census = [](const v1::AuditRecord& record) { return record.dataset() == "census"; };
  const std::vector<v1::AuditRecord> after = RecordsUntil(is_of_census, before.back().id());
  ASSERT_FALSE(after.empty());
  EXPECT_EQ(after.front().id(), before.back().id() + 1);
}

TEST_P(AuditedServer, SaysWhenAServerStoppedAndStarted) {
  RecordsOfAll("mark 7");
  server_.Restart();
  std::vector<v1::AuditRecord::Kind> kinds;
  std::vector<std::string> servers;
  for (const v1::AuditRecord& record : RecordsOfAll("mark 8")) {
    if (record.kind() == v1::AuditRecord::CALL) continue;
    kinds.push_back(record.kind());
    servers.push_back(record.server());
  }
  EXPECT_THAT(kinds, ::testing::ElementsAre(v1::AuditRecord::STARTED, v1::AuditRecord::STOPPED,
                                            v1::AuditRecord::STARTED));
  EXPECT_EQ(servers[0], servers[1]);
  EXPECT_NE(servers[1], servers[2]);
}

TEST_P(AuditedServer, AnswersGoOnWithoutAnAuditAndWhatItLacksIsCounted) {
  constexpr int kCalls = 20;
  InStore("ALTER TABLE audit RENAME TO gone");
  for (int i = 0; i < kCalls; ++i) EXPECT_TRUE(As("ana").ListDatasets().ok());
  InStore("ALTER TABLE gone RENAME TO audit");
  int64_t accounted_for = 0;
  for (const v1::AuditRecord& record : RecordsOfAll("mark 9")) {
    accounted_for += record.method() == "DatasetService/ListDatasets" ? 1 : record.count();
  }
  EXPECT_GE(accounted_for, kCalls);
}

}  // namespace
}  // namespace curator::testing
