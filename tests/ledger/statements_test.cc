// How many transactions, statements and rows one request of each kind needs, on a dataset that was used
// before, on both stores. The numbers are the same after 10 releases and after 200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "service/charges/accountant.h"
#include "service/testing/fixture.h"
#include "service/workloads/workloads.h"
#include "tests/ledger/counting_database.h"

namespace curator::ledger {

void PrintTo(const StoreCounts& counts, std::ostream* out) {
  *out << "{" << counts.reads << ", " << counts.writes << ", " << counts.statements << ", "
       << counts.rows_read << ", " << counts.rows_written << "}";
}

}  // namespace curator::ledger

namespace curator::service {
namespace {

using ledger::StoreCounts;

ledger::CountingDatabase* counted_store = nullptr;  // of the test that runs

std::unique_ptr<ledger::Ledger> OpenWithCountedStore(const std::string& folder) {
  return ledger::OpenCountedLedger(::testing::WithParamInterface<std::string>::GetParam(), folder,
                                   counted_store);
}

class Statements : public ServiceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  Statements() : ServiceTest(&OpenWithCountedStore) {}

  void SetUp() override {
    const DatasetView census = MakeSealed(People("census", 1'000'000));
    for (const char* grantee : {"bob", "rita", "fred"}) {
      ASSERT_TRUE(
          ledger_
              ->SetGrant(census.record.id,
                         {.grantee = grantee, .roles = ledger::kGrantedAnalyst | ledger::kGrantedService},
                         TestPrincipal("owner"))
              .ok());
    }
  }

  static WorkloadRequest Question(const std::string& principal, int64_t epsilon = 1) {
    return {.principal = TestPrincipal(principal),
            .dataset = DatasetName("census"),
            .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
            .spend = {.epsilon = EpsilonOf(epsilon)}};
  }
  absl::Status Answer(const std::string& principal, const RequestId& id = NewRequestId(),
                      Intent intent = Intent::kDo) {
    return AnswerWorkload(services_, Question(principal), {}, id, intent).status();
  }
  absl::Status AnswerForNothing() {
    WorkloadRequest request = Question("fred");
    request.spend = {};
    request.prefer_free = true;
    return AnswerWorkload(services_, request, {}, NewRequestId(), Intent::kDo).status();
  }
  absl::Status AskForTooMuch() {
    const absl::Status refused =
        AnswerWorkload(services_, Question("bob", 2'000'000'000), {}, NewRequestId(), Intent::kDo).status();
    return absl::IsResourceExhausted(refused) ? absl::OkStatus() : absl::InternalError(refused.ToString());
  }
  absl::Status Reserve(const std::string& principal, const RequestId& id = NewRequestId()) {
    const ReservationRequest request{.request_id = id,
                                     .dataset = DatasetName("census"),
                                     .event = dp::Event{dp::PureEvent{EpsilonOf(1)}},
                                     .summary = "one count",
                                     .lifetime = absl::Hours(1)};
    const auto views = ReserveBudget(services_, TestPrincipal(principal), {request}, Intent::kDo);
    if (views.ok()) reserved_ = views->front().charge.id;
    return views.status();
  }

  StoreCounts CountsOf(const std::function<absl::Status()>& request) {
    counted_store->StartCounting();
    const absl::Status status = request();
    const StoreCounts counts = counted_store->StopCounting();
    EXPECT_TRUE(status.ok()) << status;
    return counts;
  }

  using Table = std::vector<std::pair<std::string, StoreCounts>>;
  // Rita repeats her requests, which the ledger then looks up first; Fred asks for free answers.
  Table CountEach() {
    const RequestId answered = NewRequestId();
    const RequestId reserved = NewRequestId();
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(Answer("bob").ok());
      EXPECT_TRUE(Answer("rita", answered).ok());
      EXPECT_TRUE(Reserve("bob").ok());
      EXPECT_TRUE(Reserve("rita", reserved).ok());
      EXPECT_TRUE(AnswerForNothing().ok());
      EXPECT_TRUE(EstimateWorkload(services_, Question("bob")).ok());
    }
    const Principal bob = TestPrincipal("bob");
    Table table;
    const auto count = [&](const char* name, const std::function<absl::Status()>& request) {
      table.emplace_back(name, CountsOf(request));
    };
    count("a new answer", [&] { return Answer("bob"); });
    count("the same again", [&] { return Answer("rita", answered); });
    count("a free answer", [&] { return AnswerForNothing(); });
    count("an estimate", [&] { return EstimateWorkload(services_, Question("bob")).status(); });
    count("validated only", [&] { return Answer("bob", NewRequestId(), Intent::kValidateOnly); });
    count("refused", [&] { return AskForTooMuch(); });
    count("reserved again", [&] { return Reserve("rita", reserved); });
    count("a new reservation", [&] { return Reserve("bob"); });
    count("its start", [&] { return StartCharge(services_, bob, reserved_, std::nullopt).status(); });
    count("its commit", [&] { return CommitBudget(services_, bob, reserved_).status(); });
    EXPECT_TRUE(Reserve("bob").ok());
    count("cancelled", [&] { return CancelReservation(services_, bob, reserved_, "").status(); });
    return table;
  }

  std::string reserved_;  // the last one
};

// Reads and writes are transactions; a read is one message to PostgreSQL. A new answer is its charge and its
// release, a refusal is decided from what is cached, then under locks, and compared with the dataset. The
// estimate reads the three releases that its reader has not used before. The start of a reservation looks
// whether its principal may still charge the dataset. PostgreSQL counts the rows of each
// table of a join.
TEST_P(Statements, OfEachKindAreAsManyAsTheTableSaysWhateverWasStoredBefore) {
  const bool is_sqlite = GetParam() == "sqlite";
  // {reads, writes, statements, rows read, rows written}
  const Table expected = {
      {"a new answer", {0, 2, 12, 0, 15}},
      {"the same again", {1, 0, 3, is_sqlite ? 3 : 7, 0}},
      {"a free answer", {1, 0, 5, is_sqlite ? 10 : 11, 0}},
      {"an estimate", {4, 0, 19, is_sqlite ? 30 : 42, 0}},
      {"validated only", {1, 0, 3, is_sqlite ? 2 : 3, 0}},
      {"refused", {1, 2, 7, is_sqlite ? 5 : 13, 0}},
      {"reserved again", {1, 0, 3, is_sqlite ? 3 : 6, 0}},
      {"a new reservation", {0, 1, 5, 0, 5}},
      {"its start", {4, 1, 13, is_sqlite ? 9 : 17, 4}},
      {"its commit", {3, 1, 11, is_sqlite ? 7 : 12, 4}},
      {"cancelled", {3, 1, 12, is_sqlite ? 7 : 12, 5}},
  };
  for (const int answers : {10, 190}) {
    for (int i = 0; i < answers; ++i) {
      for (const char* principal : {"bob", "rita", "fred"}) ASSERT_TRUE(Answer(principal).ok());
    }
    EXPECT_EQ(CountEach(), expected);
  }
}

TEST_P(Statements, AReadThatARequestDoesNotNeedIsCounted) {
  ASSERT_TRUE(Answer("bob").ok());
  ASSERT_TRUE(Answer("bob").ok());
  const StoreCounts usual = CountsOf([&] { return Answer("bob"); });
  const StoreCounts one_more = CountsOf([&] {
    const absl::Status read = ledger_->GetDataset("census", "").status();
    return read.ok() ? Answer("bob") : read;
  });
  EXPECT_EQ(one_more.reads, usual.reads + 1);
  EXPECT_GT(one_more.statements, usual.statements);
  EXPECT_GT(one_more.rows_read, usual.rows_read);
  EXPECT_EQ(one_more.rows_written, usual.rows_written);
}

INSTANTIATE_TEST_SUITE_P(Stores, Statements, ::testing::Values("sqlite", "postgres"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::service
