// Equal records under two names: what their owner learns, and that another owner learns nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "north": regions 0 and 1, "south": regions 2 and 3.
v1::CreateDatasetRequest Divided(const std::string& name) {
  v1::CreateDatasetRequest request = NewDataset(name, v1::RULE_PURE, "1");
  request.mutable_partition()->set_attribute("region");
  for (const auto& [part, regions] : {std::pair{"north", "0..1"}, {"south", "2..3"}}) {
    v1::Part* added = request.mutable_partition()->add_parts();
    added->set_name(part);
    added->add_labels(regions);
  }
  return request;
}

void Import(const Client& owner, const std::string& dataset, const std::string& part,
            const std::string& csv) {
  v1::ImportRecordsRequest::Header header;
  header.set_dataset(dataset);
  header.set_part(part);
  std::istringstream bytes(csv);
  const absl::StatusOr<v1::ImportRecordsResponse> imported = owner.ImportRecords(header, bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
}

absl::StatusOr<v1::SealDatasetResponse> Seal(const Client& owner, const std::string& dataset,
                                             const std::string& part = "") {
  v1::SealDatasetRequest seal;
  seal.set_dataset(dataset);
  seal.set_part(part);
  seal.set_accept_no_records(true);
  return owner.SealDataset(seal);
}

// "SEALED: SUMMARY" of each entry of the owner's history.
std::vector<std::string> HistoryOf(const Client& owner, const std::string& dataset) {
  std::vector<std::string> history;
  const absl::Status listed = owner.ListLedgerEntries(dataset, 0, [&](const v1::LedgerEntry& entry) {
    history.push_back(entry.kind() + ": " + entry.summary());
    return absl::OkStatus();
  });
  EXPECT_TRUE(listed.ok()) << listed;
  return history;
}

class EqualContent : public ::testing::TestWithParam<Backend> {
 protected:
  EqualContent()
      : server_(GetParam()), alice_(server_.ClientFor("alice")), mallory_(server_.ClientFor("mallory")) {}

  TestServer server_;
  Client alice_;
  Client mallory_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, EqualContent, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(EqualContent, AGuessOfAnotherOwnersTableIsNotConfirmed) {
  MakeSealed(alice_, NewDataset("clinic", v1::RULE_PURE, "1"), SmallCsv(41));
  MakeSealed(mallory_, NewDataset("wrong", v1::RULE_PURE, "1"), SmallCsv(40));
  MakeSealed(mallory_, NewDataset("right", v1::RULE_PURE, "1"), SmallCsv(41));
  EXPECT_EQ(HistoryOf(mallory_, "right"), HistoryOf(mallory_, "wrong"));
}

TEST_P(EqualContent, AGuessOfAnotherOwnersPartIsNotConfirmed) {
  ASSERT_TRUE(alice_.CreateDataset(Divided("clinic")).ok());
  Import(alice_, "clinic", "north", SmallCsv(7));
  ASSERT_TRUE(Seal(alice_, "clinic", "north").ok());
  MakeSealed(mallory_, NewDataset("wrong", v1::RULE_PURE, "1"), SmallCsv(6));
  MakeSealed(mallory_, NewDataset("right", v1::RULE_PURE, "1"), SmallCsv(7));
  EXPECT_EQ(HistoryOf(mallory_, "right"), HistoryOf(mallory_, "wrong"));
}

TEST_P(EqualContent, ThatAnotherOwnersPartIsEmptyIsNotFoundOut) {
  ASSERT_TRUE(alice_.CreateDataset(Divided("clinic")).ok());
  ASSERT_TRUE(Seal(alice_, "clinic", "south").ok());
  ASSERT_TRUE(mallory_.CreateDataset(NewDataset("guess", v1::RULE_PURE, "1")).ok());
  ASSERT_TRUE(Seal(mallory_, "guess").ok());
  EXPECT_THAT(HistoryOf(mallory_, "guess"), ElementsAre("DATASET_CREATED: ", "SEALED: "));
}

TEST_P(EqualContent, AFileThatIsImportedTwiceIsReportedToTheImporterAlone) {
  const auto import = [](const Client& owner, const std::string& dataset) {
    v1::ImportRecordsRequest::Header header;
    header.set_dataset(dataset);
    header.set_accept_same_file(true);
    std::istringstream bytes(SmallCsv(41));
    return owner.ImportRecords(header, bytes)->same_file_as();
  };
  ASSERT_TRUE(alice_.CreateDataset(NewDataset("clinic", v1::RULE_PURE, "1")).ok());
  ASSERT_TRUE(mallory_.CreateDataset(NewDataset("guess", v1::RULE_PURE, "1")).ok());
  ASSERT_TRUE(mallory_.CreateDataset(NewDataset("another", v1::RULE_PURE, "1")).ok());
  EXPECT_EQ(import(alice_, "clinic"), "");
  EXPECT_EQ(import(mallory_, "guess"), "") << "another owner's import";
  EXPECT_EQ(import(mallory_, "another"), "") << "another dataset's import";
  EXPECT_NE(import(mallory_, "guess"), "");
  ASSERT_TRUE(Seal(mallory_, "guess").ok());
  EXPECT_THAT(HistoryOf(mallory_, "guess"), ElementsAre("DATASET_CREATED: ", "SEALED: "));
}

TEST_P(EqualContent, TheSameRecordsUnderASecondBudgetAreSealedOnlyWhenTheOwnerAcceptsIt) {
  MakeSealed(alice_, NewDataset("clinic", v1::RULE_PURE, "1"), SmallCsv(41));
  ASSERT_TRUE(alice_.CreateDataset(NewDataset("again", v1::RULE_PURE, "1")).ok());
  Import(alice_, "again", "", SmallCsv(41));
  const absl::Status refused = Seal(alice_, "again").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_EQ(client::Reason(refused), "EQUAL_CONTENT");
  for (const char* words : {"\"clinic\"", "sum of both limits"})
    EXPECT_THAT(refused.message(), HasSubstr(words));
  EXPECT_EQ(alice_.GetDataset("again")->state(), v1::DATASET_STATE_CREATED);
  v1::SealDatasetRequest seal;
  seal.set_dataset("again");
  seal.set_accept_equal_content(true);
  EXPECT_TRUE(alice_.SealDataset(seal).ok());
  EXPECT_THAT(HistoryOf(alice_, "again"), ElementsAre("DATASET_CREATED: ", "SEALED: "));
}

TEST_P(EqualContent, APartThatAnotherDatasetOfTheOwnerHoldsIsSealedOnlyWhenTheOwnerAcceptsIt) {
  MakeSealed(alice_, NewDataset("clinic", v1::RULE_PURE, "1"), SmallCsv(7));
  ASSERT_TRUE(alice_.CreateDataset(Divided("again")).ok());
  Import(alice_, "again", "north", SmallCsv(7));
  const absl::Status refused = Seal(alice_, "again", "north").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("\"clinic\""));
}

TEST_P(EqualContent, ASuccessorMayHoldTheSameRecords) {
  MakeSealed(alice_, NewDataset("clinic", v1::RULE_PURE, "1"), SmallCsv(41));
  v1::CreateDatasetRequest successor = NewDataset("clinic-2", v1::RULE_PURE, "1");
  successor.clear_limit();
  successor.set_successor_of("clinic");
  ASSERT_TRUE(alice_.CreateDataset(successor).ok());
  Import(alice_, "clinic-2", "", SmallCsv(41));
  EXPECT_TRUE(Seal(alice_, "clinic-2").ok()) << "one budget pays for both";
}

}  // namespace
}  // namespace curator::testing
