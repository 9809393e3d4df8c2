#include "service/tables.h"

#include <filesystem>
#include <string>

#include "service/testing/fixture.h"
#include "service/workloads/workloads.h"

namespace curator::service {
namespace {

class TablesTest : public ServiceTest {
 protected:
  static RequestScope Whole(const DatasetView& dataset) {
    return {.version = dataset.record.version, .parts = dataset.record.parts, .accounts = {}};
  }

  // As after a restart: nothing is in memory.
  void Forget(const DatasetView& dataset) const {
    for (const records::SealedId& id : TablesOf(dataset, Whole(dataset)))
      store_->ready().Forget({id.dataset_id});
  }

  absl::StatusOr<std::optional<records::ReadyTable>> TableOf(const DatasetView& dataset,
                                                             const std::string& request_id) const {
    return TableFor(*ledger_, *store_, dataset, Whole(dataset), TestPrincipal("owner"), request_id);
  }

  static WorkloadRequest Question(const std::string& dataset) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName(dataset),
            .queries = {{MarginalsQuery{.sets = {{"sex"}}, .k = std::nullopt, .attributes = {}},
                         dp::Strategy::kAuto}},
            .spend = {.epsilon = EpsilonOf(100)}};
  }

  absl::StatusOr<WorkloadAnswer> Answer(const std::string& dataset, const RequestId& request_id) {
    return AnswerWorkload(services_, Question(dataset), {}, request_id, Intent::kDo);
  }

  void LoadAll() const {
    TableLoader loader(*ledger_, *store_, absl::Hours(1));
    loader.AwaitFirstPass(absl::Minutes(5));
  }
};

TEST_F(TablesTest, ASealedDatasetIsReady) {
  const DatasetView census = MakeSealed(People("census"));
  EXPECT_TRUE(TableOf(census, NewRequestId().text()).ok());
}

TEST_F(TablesTest, ARequestOnATableThatIsBeingReadIsUnavailableAndChargesNothingAndDoesNotLoadIt) {
  const DatasetView census = MakeSealed(People("census"));
  Forget(census);
  const RequestId request_id = NewRequestId();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(Answer("census", request_id).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Spent(census), 0);
  LoadAll();
  EXPECT_TRUE(Answer("census", request_id).ok()) << "the same request, once the loader has read the table";
}

TEST_F(TablesTest, ARequestOnADamagedTableIsRefusedAndChargesNothing) {
  const DatasetView census = MakeSealed(People("census"));
  Forget(census);
  std::filesystem::resize_file(folder_.path() + "/datasets/" + census.record.id + "/snapshot", 100);
  LoadAll();
  EXPECT_EQ(Answer("census", NewRequestId()).status(), records::UnreadableRecords());
  EXPECT_EQ(Spent(census), 0);
}

TEST_F(TablesTest, WhatIsStoredIsRepeatedWithoutTheTable) {
  const DatasetView census = MakeSealed(People("census"));
  const RequestId request_id = NewRequestId();
  const absl::StatusOr<WorkloadAnswer> first = Answer("census", request_id);
  ASSERT_TRUE(first.ok()) << first.status();
  Forget(census);
  const absl::StatusOr<WorkloadAnswer> again = Answer("census", request_id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->answer.values, first->answer.values);
}

TEST_F(TablesTest, AStartedChargeStaysAsItIsWhereTheTableIsNotReady) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string request_id = NewRequestId().text();
  const ledger::Attempt attempt = Started(census, "workload", request_id);
  Forget(census);
  const absl::Status refused = TableOf(census, request_id).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("is charged and not answered yet"));
  EXPECT_TRUE(ledger_->Store(attempt, "payload").ok()) << "its token has not been taken";
}

TEST_F(TablesTest, AStartedChargeOnAnArchivedDatasetLoadsItsTableAgain) {
  const DatasetView census = MakeSealed(People("census"));
  const std::string request_id = NewRequestId().text();
  Started(census, "workload", request_id);
  const DatasetView archived =
      ArchiveDataset({*ledger_}, *store_, TestPrincipal("owner"), DatasetName("census"), Intent::kDo).value();
  const auto table = TableOf(archived, request_id);
  ASSERT_TRUE(table.ok() && *table) << table.status();
  EXPECT_TRUE((*table)->Open().ok());
  EXPECT_EQ(TableOf(archived, NewRequestId().text()).status().code(), absl::StatusCode::kUnavailable)
      << "which is kept for that request alone";
}

TEST_F(TablesTest, TheLoaderReadsWhatIsSealedAndForgetsWhatIsArchived) {
  const DatasetView census = MakeSealed(People("census"));
  Make(People("unsealed"));
  Make(DividedPeople("districts"));
  FillAndSeal("districts", PeopleCsv(2), "north");
  const DatasetView districts =
      FindDataset({*ledger_}, Method::kAddPart, TestPrincipal("owner"), DatasetName("districts")).value();
  const records::SealedId north{StoredIdOf(districts.record, districts.record.parts[0]),
                                districts.record.parts[0].content_hash, true};
  Forget(census);
  store_->ready().Forget({north.dataset_id});
  LoadAll();
  EXPECT_TRUE(store_->ready().IsReady({census.record.id, census.record.content_hash}));
  EXPECT_TRUE(store_->ready().IsReady(north));
  ASSERT_TRUE(ledger_->ArchiveDataset(census.record.id, TestPrincipal("owner")).ok());
  LoadAll();
  EXPECT_FALSE(store_->ready().IsReady({census.record.id, census.record.content_hash}));
}

TEST_F(TablesTest, ADamagedTableThatIsRestoredIsReadyAfterTheNextPass) {
  const DatasetView census = MakeSealed(People("census"));
  Forget(census);
  const std::string snapshot = folder_.path() + "/datasets/" + census.record.id + "/snapshot";
  std::filesystem::rename(snapshot, snapshot + ".away");
  LoadAll();
  EXPECT_EQ(Answer("census", NewRequestId()).status(), records::UnreadableRecords());
  std::filesystem::rename(snapshot + ".away", snapshot);
  LoadAll();
  EXPECT_TRUE(Answer("census", NewRequestId()).ok());
}

}  // namespace
}  // namespace curator::service
