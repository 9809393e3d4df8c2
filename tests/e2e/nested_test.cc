// Records that lie in groups, from their schema to what their owner may see of them, over a real socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "client/request_id.h"
#include "tests/testing/nested_table.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;

absl::StatusOr<v1::ImportRecordsResponse> Import(const Client& owner, const std::string& csv,
                                                 const std::string& request_id = "") {
  v1::ImportRecordsRequest::Header header;
  header.set_dataset("pupils");
  header.set_request_id(request_id);
  std::istringstream bytes(csv);
  return owner.ImportRecords(header, bytes);
}

absl::StatusOr<v1::SealDatasetResponse> Seal(const Client& owner) {
  v1::SealDatasetRequest request;
  request.set_dataset("pupils");
  return owner.SealDataset(request);
}

absl::StatusOr<v1::RiskResponse> Risk(const Client& client, const std::string& dataset = "pupils") {
  v1::RiskRequest request;
  request.set_dataset(dataset);
  return client.RiskReport(request);
}

class Nested : public ::testing::TestWithParam<Backend> {
 protected:
  Nested() : server_(GetParam()), owner_(server_.ClientFor("owner")) {}

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Nested, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Nested, ASchemaIsShownAsItWasDeclaredAlsoAfterARestart) {
  const v1::CreateDatasetRequest request = PupilDataset(PupilUnit::kPupil, "5");
  ASSERT_TRUE(owner_.CreateDataset(request).ok());
  server_.Restart();
  const absl::StatusOr<v1::Dataset> shown = server_.ClientFor("owner").GetDataset("pupils");
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(shown->schema().SerializeAsString(), request.schema().SerializeAsString());
}

TEST_P(Nested, GroupsAreKeptOverSeveralImportsAndRestarts) {
  ASSERT_TRUE(owner_.CreateDataset(PupilDataset(PupilUnit::kPupil, "5")).ok());
  ASSERT_TRUE(Import(owner_, "school,sex,score\nA,F,10\nB,M,20\nA,M,30\n").ok());
  server_.Restart();
  const Client owner = server_.ClientFor("owner");
  const absl::StatusOr<v1::ImportRecordsResponse> second =
      Import(owner, "score,school,sex\n40,B,F\n50,C,F\n-5,A,F\n60,,F\ntall,A,F\n");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->rows_accepted(), 3);
  EXPECT_EQ(second->rows_rejected(), 2) << "without a group, and without a number";
  EXPECT_EQ(second->responses_clamped(), 1);
  ASSERT_TRUE(Seal(owner).ok());
  server_.Restart();
  const absl::StatusOr<v1::RiskResponse> risk = Risk(server_.ClientFor("owner"));
  ASSERT_TRUE(risk.ok()) << risk.status();
  EXPECT_EQ(risk->groups(), 3);
  EXPECT_EQ(risk->records(), 6);
}

TEST_P(Nested, AllAnswersSayWhomTheyProtect) {
  for (const PupilUnit unit : {PupilUnit::kPupil, PupilUnit::kSchool}) {
    v1::CreateDatasetRequest request = PupilDataset(unit, "5");
    request.set_name(unit == PupilUnit::kPupil ? "by-pupil" : "by-school");
    MakeSealed(owner_, request, PupilCsv(3, 4, 1));
    const std::string expected = unit == PupilUnit::kPupil
                                     ? "one record, added or removed"
                                     : "one group with all its records (column school, any "
                                       "number of them), added or removed";
    EXPECT_EQ(owner_.GetBudget(request.name())->protects(), expected);
    v1::EstimateCostRequest estimate;
    estimate.set_dataset(request.name());
    estimate.mutable_event()->mutable_pure()->set_epsilon("0.1");
    const absl::StatusOr<v1::EstimateCostResponse> cost = owner_.EstimateCost(estimate);
    ASSERT_TRUE(cost.ok()) << cost.status();
    EXPECT_EQ(cost->protects(), expected);
  }
}

TEST_P(Nested, TheOwnersRiskReportIsPrivateAndWrittenDownFirst) {
  MakeSealed(owner_, PupilDataset(PupilUnit::kPupil, "5"), PupilCsv(40, 25, 2));
  const std::string spent = owner_.GetBudget("pupils")->accounts(0).counters(0).spent();
  const absl::StatusOr<v1::RiskResponse> risk = Risk(owner_);
  ASSERT_TRUE(risk.ok()) << risk.status();
  EXPECT_EQ(risk->groups(), 40);
  EXPECT_EQ(risk->records(), 1000);
  EXPECT_THAT(risk->warning(), HasSubstr("PRIVATE"));
  ASSERT_EQ(risk->sensitivities_size(), 22);
  double none = 0;
  double weighted = 0;
  for (const v1::RiskResponse::Sensitivities& row : risk->sensitivities()) {
    EXPECT_LE(row.least(), row.first_quartile());
    EXPECT_LE(row.first_quartile(), row.median());
    EXPECT_LE(row.median(), row.third_quartile());
    EXPECT_LE(row.third_quartile(), row.largest());
    if (row.level() == "group" && row.weighting() == "none") none = row.median();
    if (row.level() == "group" && row.weighting() == "vector 0.1") weighted = row.median();
  }
  EXPECT_GT(none, 5 * weighted);
  std::vector<std::string> history;
  ASSERT_TRUE(owner_
                  .ListLedgerEntries("pupils", 0,
                                     [&](const v1::LedgerEntry& entry) {
                                       history.push_back(entry.kind() + ": " + entry.summary());
                                       return absl::OkStatus();
                                     })
                  .ok());
  EXPECT_THAT(history.back(), HasSubstr("OWNER_ACTION: report the risk of groups"));
  EXPECT_EQ(owner_.GetBudget("pupils")->accounts(0).counters(0).spent(), spent);

  Grant(owner_, "pupils", "ana");
  EXPECT_EQ(Risk(server_.ClientFor("ana")).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Risk(server_.ClientFor("eve")).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(Nested, ARiskReportNeedsNestedRecords) {
  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(10));
  const absl::Status flat = Risk(owner_, "census").status();
  EXPECT_EQ(flat.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(flat.message()), HasSubstr("no nesting"));
  MakeSealed(owner_, PupilDataset(PupilUnit::kSchool, "5"), "school,sex,score\n");
  EXPECT_EQ(Risk(owner_).status().code(), absl::StatusCode::kFailedPrecondition) << "no records";
}

TEST_P(Nested, GroupsOfOneAndASingleGroupHaveARisk) {
  MakeSealed(owner_, PupilDataset(PupilUnit::kSchool, "5"), "school,sex,score\nA,F,50\nB,F,60\n");
  EXPECT_EQ(Risk(owner_)->groups(), 2);
  v1::CreateDatasetRequest single = PupilDataset(PupilUnit::kPupil, "5");
  single.set_name("single");
  MakeSealed(owner_, single, "school,sex,score\nA,F,50\nA,F,50\nA,M,50\n");
  const absl::StatusOr<v1::RiskResponse> risk = Risk(owner_, "single");
  ASSERT_TRUE(risk.ok()) << risk.status();
  EXPECT_EQ(risk->groups(), 1);
}

TEST_P(Nested, WhatIsNotSupportedIsRefusedBeforeAnythingIsMade) {
  v1::CreateDatasetRequest parts = PupilDataset(PupilUnit::kPupil, "5");
  parts.mutable_partition()->set_attribute("sex");
  EXPECT_THAT(std::string(owner_.CreateDataset(parts).status().message()), HasSubstr("partition"));
  v1::CreateDatasetRequest persons = PupilDataset(PupilUnit::kPupil, "5");
  persons.mutable_schema()->mutable_unit()->mutable_person()->set_id_column("pid");
  persons.mutable_schema()->mutable_unit()->mutable_person()->set_max_records(2);
  EXPECT_THAT(std::string(owner_.CreateDataset(persons).status().message()), HasSubstr("schema.nesting"));
  v1::CreateDatasetRequest category = PupilDataset(PupilUnit::kPupil, "5");
  category.mutable_schema()->mutable_nesting()->set_response("sex");
  EXPECT_THAT(std::string(owner_.CreateDataset(category).status().message()),
              HasSubstr("schema.nesting.response"));
  EXPECT_EQ(owner_.ListDatasets()->datasets_size(), 0);

  ASSERT_TRUE(owner_.CreateDataset(PupilDataset(PupilUnit::kPupil, "5")).ok());
  const absl::Status without = Import(owner_, "class,sex,score\nA,F,10\n").status();
  EXPECT_EQ(without.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(without.message()), HasSubstr("\"school\""));
}

TEST_P(Nested, AnImportThatBreaksTheBoundOfAGroupIsRefusedWhole) {
  v1::CreateDatasetRequest request = PupilDataset(PupilUnit::kPupil, "5");
  request.mutable_schema()->mutable_nesting()->set_max_group_size(2);
  ASSERT_TRUE(owner_.CreateDataset(request).ok());
  ASSERT_TRUE(Import(owner_, "school,sex,score\nA,F,10\nB,M,20\n").ok());
  const absl::Status broken = Import(owner_, "school,sex,score\nC,F,1\nA,M,30\nA,F,10\n").status();
  EXPECT_EQ(broken.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(broken.message()), HasSubstr("max_group_size"));
  ASSERT_TRUE(Import(owner_, "school,sex,score\nA,M,30\n").ok());
  EXPECT_EQ(Seal(owner_)->records(), 3);
}

TEST_P(Nested, GroupsThatAreUnitsMayLieInSeveralParts) {
  v1::CreateDatasetRequest request = PupilDataset(PupilUnit::kSchool, "5");
  request.mutable_schema()->mutable_unit()->mutable_group()->set_max_records(10);
  request.mutable_partition()->set_attribute("sex");
  ASSERT_TRUE(owner_.CreateDataset(request).ok());
  for (const std::string part : {"F", "M"}) {
    v1::ImportRecordsRequest::Header header;
    header.set_dataset("pupils");
    header.set_part(part);
    std::istringstream csv("school,sex,score\nA," + part + ",10\nB," + part + ",20\nC-" + part + "," + part +
                           ",30\n");
    ASSERT_TRUE(owner_.ImportRecords(header, csv).ok());
    v1::SealDatasetRequest seal;
    seal.set_dataset("pupils");
    seal.set_part(part);
    ASSERT_TRUE(owner_.SealDataset(seal).ok());
  }
  const absl::StatusOr<v1::RiskResponse> risk = Risk(owner_);
  ASSERT_TRUE(risk.ok()) << risk.status();
  EXPECT_EQ(risk->groups(), 4) << "A, B and two others";
  EXPECT_EQ(risk->records(), 6);
}

std::vector<std::string> Arguments(const AppOptions& options) {
  return {"--listen=127.0.0.1:0", "--dev", "--ledger=" + options.ledger,
          "--data-dir=" + options.data_directory, "--drain-seconds=0"};
}

TEST_P(Nested, AKilledServerHasKeptTheGroupsOfFinishedImports) {
  const ScratchFolder directory;
  const AppOptions options = FreshOptions(GetParam(), directory.path());
  const std::string first = "school,sex,score\nA,F,10\nB,M,200\n";
  const std::string request_id = *client::NewRequestId();
  {
    ServerProcess server(Arguments(options));
    const std::optional<std::string> address = server.Address();
    ASSERT_TRUE(address.has_value()) << server.log();
    const Client owner({.server = *address, .principal = "owner"});
    ASSERT_TRUE(owner.CreateDataset(PupilDataset(PupilUnit::kPupil, "5")).ok());
    ASSERT_TRUE(Import(owner, first, request_id).ok());
    ASSERT_EQ(server.Stop(SIGKILL), -SIGKILL);
  }
  {
    ServerProcess server(Arguments(options));
    const std::optional<std::string> address = server.Address();
    ASSERT_TRUE(address.has_value()) << server.log();
    const Client owner({.server = *address, .principal = "owner"});
    const absl::StatusOr<v1::ImportRecordsResponse> repeated = Import(owner, first, request_id);
    ASSERT_TRUE(repeated.ok()) << repeated.status();
    EXPECT_EQ(repeated->responses_clamped(), 1) << "the report of the first time";
    ASSERT_TRUE(Import(owner, "school,sex,score\nB,F,30\nA,F,40\n").ok());
    EXPECT_EQ(Seal(owner)->records(), 4) << "the repeated import counts once";
    ASSERT_EQ(server.Stop(SIGKILL), -SIGKILL);
  }
  ServerProcess server(Arguments(options));
  const std::optional<std::string> address = server.Address();
  ASSERT_TRUE(address.has_value()) << server.log();
  const absl::StatusOr<v1::RiskResponse> risk = Risk(Client({.server = *address, .principal = "owner"}));
  ASSERT_TRUE(risk.ok()) << risk.status();
  EXPECT_EQ(risk->groups(), 2) << "groups of both imports are the same groups";
  EXPECT_EQ(risk->records(), 4);
}

}  // namespace
}  // namespace curator::testing
