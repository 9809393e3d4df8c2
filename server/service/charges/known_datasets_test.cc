// What a request on a dataset that was used before reads, and that nothing outdated decides about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "service/accounts/accounts.h"
#include "service/charges/receipts.h"
#include "service/testing/fixture.h"
#include "service/testing/wrapped_ledger.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

class KnownDatasetTest : public ServiceTest {
 protected:
  KnownDatasetTest() : ServiceTest(&OpenLedgerThrough<CountedReads>) {}

  absl::StatusOr<WorkloadAnswer> Ask(const RequestId& request_id = NewRequestId(),
                                     std::vector<std::string> parts = {}) {
    const WorkloadRequest request{.principal = TestPrincipal("owner"),
                                  .dataset = DatasetName("census"),
                                  .queries = {{MarginalsQuery{.sets = {{"sex"}}}}},
                                  .spend = {.epsilon = EpsilonOf(100)},
                                  .parts = std::move(parts)};
    return AnswerWorkload(services_, request, {}, request_id, Intent::kDo);
  }
  // Until nothing has to be read any more.
  void Warm() {
    for (int i = 0; i < 2; ++i) {
      const auto answer = Ask();
      ASSERT_TRUE(answer.ok()) << answer.status();
    }
  }
  ledger::Account OpenAccountOf(const DatasetView& dataset, const std::string& analyst) {
    ledger::AccountSpec spec = AccountUnder({.kind = dp::RuleKind::kPure, .epsilon = EpsilonOf(1000)},
                                            ledger::ScopeType::kAnalyst, analyst)
                                   .value();
    return ledger_
        ->CreateAccount({.request_id = host::NewUuid(),
                         .dataset_id = dataset.record.id,
                         .account = std::move(spec),
                         .actor = TestPrincipal("owner")})
        .value();
  }
};

TEST_F(KnownDatasetTest, ANewRequestReadsNothing) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const int64_t before = CountedReads::count;
  const auto answer = Ask();
  EXPECT_EQ(CountedReads::count - before, 0);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->replayed);
  EXPECT_TRUE(answer->could_be_free_from.has_value());
}

TEST_F(KnownDatasetTest, ThePriceAndTheReceiptThatWereNotReadAreThoseOfTheLedger) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->price.counters.size(), 1U);
  const ledger::CounterBalance balance = ledger_->ListAccounts(census.record.id)->at(0).counters.at(0);
  const PricedCounter& priced = answer->price.counters.front();
  EXPECT_EQ(priced.remaining_before, balance.limit - balance.spent + priced.cost);
  ASSERT_TRUE(answer->receipt.has_value());
  const Receipt read = ReceiptOf(*ledger_, signer_, answer->release.charge_id).value();
  EXPECT_EQ(answer->receipt->statement, read.statement);
  EXPECT_EQ(answer->receipt->signature, read.signature);
  const ledger::Release stored = ledger_->GetRelease(answer->release.id).value();
  EXPECT_EQ(answer->release.payload_hash, stored.payload_hash);
  EXPECT_EQ(answer->release.number, stored.number);
}

TEST_F(KnownDatasetTest, ARepeatedRequestGetsItsReleaseAndIsNotChargedAgain) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const RequestId request_id = NewRequestId();
  const auto first = Ask(request_id);
  ASSERT_TRUE(first.ok()) << first.status();
  const int64_t spent = Spent(census);
  for (int i = 0; i < 2; ++i) {
    const auto again = Ask(request_id);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->replayed);
    EXPECT_EQ(again->release.id, first->release.id);
    EXPECT_EQ(again->receipt->statement, first->receipt->statement);
  }
  EXPECT_EQ(Spent(census), spent);
}

TEST_F(KnownDatasetTest, AnAccountThatWasOpenedSincePaysForTheNextRequest) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const ledger::Account opened = OpenAccountOf(census, "owner");
  const auto answer = Ask();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->price.counters.size(), 2U);
  EXPECT_GT(ledger_->GetAccounts({opened.id})->front().counters.front().spent, 0);
}

TEST_F(KnownDatasetTest, ADatasetThatWasArchivedSinceRefusesTheNextRequest) {
  const DatasetView census = MakeSealed(People("census"));
  Warm();
  const int64_t spent = Spent(census);
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  const auto answer = Ask();
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(answer.status().message()), ::testing::HasSubstr("is archived"));
  EXPECT_EQ(Spent(census), spent);
}

TEST_F(KnownDatasetTest, ADatasetThatWasSealedSinceAnswers) {
  Make(People("census"));
  EXPECT_EQ(Ask().status().code(), absl::StatusCode::kFailedPrecondition);
  FillAndSeal("census", PeopleCsv());
  EXPECT_TRUE(Ask().ok()) << "what was known of it was that it is not sealed";
}

TEST_F(KnownDatasetTest, APartThatWasAddedSinceIsAskedToo) {
  Make(DividedPeople("census"));
  FillAndSeal("census", PeopleCsv(2), "north");
  Warm();
  EXPECT_FALSE(Ask(NewRequestId(), {"south"}).ok());
  std::string south = "sex,age,region\n";
  FillAndSeal("census", south + "Female,3,2\n", "south");
  const auto answer = Ask(NewRequestId(), {"south"});
  EXPECT_TRUE(answer.ok()) << answer.status();
}

}  // namespace
}  // namespace curator::service
