// Public data over a real socket: made public once, for nobody's budget, and what a synthesis starts from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>

#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;

// The column is also a measure, of which no prior and no model knows.
v1::CreateDatasetRequest WithMeasure(v1::CreateDatasetRequest request, const std::string& column) {
  v1::Measure& measure = *request.mutable_schema()->add_measures();
  measure.set_name(column);
  measure.set_high(50);
  measure.set_resolution(0.5);
  return request;
}

v1::CreateDatasetRequest PublicDataset(const std::string& name, const std::string& measure = "age") {
  v1::CreateDatasetRequest request;
  request.set_name(name);
  *request.mutable_schema() = SmallSchema();
  request.set_public_(true);
  return WithMeasure(request, measure);
}

// Like SmallCsv(), with columns in another order and more women.
std::string OpenCsv() {
  std::ostringstream csv;
  csv << "region,sex,age\n";
  for (int i = 0; i < 1200; ++i)
    csv << i / 20 % 4 << ',' << (i % 3 == 0 ? "Male" : "Female") << ',' << (i / 2 % 10) * 10 + 3 << '\n';
  return csv.str();
}

class Prior : public ::testing::TestWithParam<Backend> {
 protected:
  Prior() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, WithMeasure(NewDataset("census", v1::RULE_PURE, "3"), "region"), SmallCsv(8000));
    MakeSealed(owner_, PublicDataset("open"), OpenCsv());
    Publish(owner_, server_.ClientFor("vera"), "open");
  }

  static v1::CreateSynthesisRequest From(const std::string& prior) {
    v1::CreateSynthesisRequest request;
    request.set_dataset("census");
    request.set_request_id(*client::NewRequestId());
    request.mutable_spec()->set_method("prior");
    request.mutable_spec()->mutable_spend()->set_epsilon("1");
    (*request.mutable_spec()->mutable_settings())["prior"] = prior;
    return request;
  }

  std::string ReleaseOf(const v1::CreateSynthesisRequest& request) const {
    const absl::StatusOr<v1::Operation> started = owner_.CreateSynthesis(request);
    EXPECT_TRUE(started.ok()) << started.status();
    if (!started.ok()) return "";
    const absl::StatusOr<v1::Operation> done = owner_.WaitOperation(started->id(), std::chrono::minutes(2));
    EXPECT_TRUE(done.ok()) << done.status();
    EXPECT_EQ(done->state(), v1::Operation::DONE) << done->DebugString();
    return done->release_id();
  }

  double MenIn(const std::string& release) const {
    v1::QueryModelRequest query;
    query.set_release_id(release);
    *query.mutable_workload() = AllMarginals(1);
    return owner_.QueryModel(query)->marginals[0].estimates[1];
  }

  absl::Status Refusal(const Client& client, const v1::CreateSynthesisRequest& request) const {
    return client.CreateSynthesis(request).status();
  }

  std::string Spent() const { return owner_.GetBudget("census")->accounts(0).counters(0).spent(); }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Prior, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Prior, APublicDatasetIsCorrectedByNoisyMarginals) {
  const std::string release = ReleaseOf(From("open"));
  EXPECT_NEAR(MenIn(release), 4000, 150);  // the prior says a third of 8,000
  EXPECT_EQ(Spent(), "1");
  EXPECT_EQ(owner_.GetBudget("open").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(owner_.GetDataset("open")->public_());
}

TEST_P(Prior, ARepeatedRequestFindsTheSameReleaseAfterARestart) {
  const v1::CreateSynthesisRequest request = From("open");
  const std::string release = ReleaseOf(request);
  server_.Restart();
  const Client owner = server_.ClientFor("owner");
  const absl::StatusOr<v1::Operation> again = owner.CreateSynthesis(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->release_id(), release);
}

// The owner alone must not decide that records have no protection.
TEST_P(Prior, APublicDatasetIsNoPriorUntilAnotherPersonHasPublishedIt) {
  MakeSealed(owner_, PublicDataset("early"), OpenCsv());
  Grant(owner_, "early", "vera", {v1::GRANTED_APPROVER});
  EXPECT_TRUE(owner_.GetDataset("early")->awaits_publication());
  EXPECT_EQ(Refusal(owner_, From("early")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Refusal(owner_, From("early")).message()), HasSubstr("curator dataset publish"));
  v1::PublishDatasetRequest publish;
  publish.set_dataset("early");
  EXPECT_EQ(owner_.PublishDataset(publish).status().code(), absl::StatusCode::kPermissionDenied);
  const Client vera = server_.ClientFor("vera");
  EXPECT_EQ(vera.ListInbox()->items(0).dataset(), "early");
  EXPECT_TRUE(vera.ListInbox()->items(0).publication());
  ASSERT_TRUE(vera.PublishDataset(publish).ok());
  ASSERT_TRUE(vera.PublishDataset(publish).ok()) << "repeating it changes nothing";
  EXPECT_TRUE(vera.ListInbox()->items().empty());
  EXPECT_FALSE(owner_.GetDataset("early")->awaits_publication());
  EXPECT_NE(ReleaseOf(From("early")), "");
  EXPECT_TRUE(owner_.VerifyLedger("early")->ok());
}

// Access cannot be taken away again; a dataset that is archived can still be a prior.
TEST_P(Prior, ARepeatedRequestFindsTheSameReleaseAfterItsPriorWasArchived) {
  const v1::CreateSynthesisRequest request = From("open");
  const std::string release = ReleaseOf(request);
  v1::ArchiveDatasetRequest archive;
  archive.set_dataset("open");
  ASSERT_TRUE(owner_.ArchiveDataset(archive).ok());
  const absl::StatusOr<v1::Operation> again = owner_.CreateSynthesis(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->release_id(), release);
  EXPECT_EQ(Spent(), "1");
}

// The name that a request gives for its prior is not all that makes it the same request.
TEST_P(Prior, AnotherPriorIsAnotherRequest) {
  MakeSealed(owner_, PublicDataset("open2"), SmallCsv(500));
  Publish(owner_, server_.ClientFor("vera"), "open2");
  v1::CreateSynthesisRequest request = From("open");
  ReleaseOf(request);
  (*request.mutable_spec()->mutable_settings())["prior"] = "open2";
  EXPECT_EQ(Refusal(owner_, request).code(), absl::StatusCode::kAlreadyExists);
}

TEST_P(Prior, AnEarlierReleaseIsAPriorToo) {
  const std::string first = ReleaseOf(From("open"));
  const std::string second = ReleaseOf(From(first));
  EXPECT_NEAR(MenIn(second), 4000, 150);
  EXPECT_EQ(Spent(), "2");
}

TEST_P(Prior, RegionsAndGroupsAreChargedOnceAndKeptApart) {
  v1::CreateSynthesisRequest request = From("open");
  (*request.mutable_spec()->mutable_settings())["region"] = "region";
  (*request.mutable_spec()->mutable_settings())["group"] = "sex";
  v1::EstimateSynthesisRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_spec() = request.spec();
  const absl::StatusOr<v1::EstimateSynthesisResponse> forecast = owner_.EstimateSynthesis(estimate);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_EQ(forecast->costs(0).amount(), "1");
  EXPECT_NEAR(MenIn(ReleaseOf(request)), 4000, 400);
  EXPECT_EQ(Spent(), "1");
}

TEST_P(Prior, WhatCannotBeAPriorIsRefusedAndNothingIsCharged) {
  ASSERT_TRUE(owner_.CreateDataset(PublicDataset("unsealed")).ok());
  v1::CreateDatasetRequest other_bins = PublicDataset("other-bins");
  other_bins.mutable_schema()->mutable_attributes(1)->mutable_integer()->set_bin_width(20);
  MakeSealed(owner_, other_bins, OpenCsv());
  v1::CreateDatasetRequest narrow = PublicDataset("narrow");
  narrow.mutable_schema()->mutable_attributes()->RemoveLast();
  MakeSealed(owner_, narrow, OpenCsv());
  MakeSealed(owner_, PublicDataset("nobody"), "sex,age,region\n");
  for (const char* const name : {"other-bins", "narrow", "nobody"})
    Publish(owner_, server_.ClientFor("vera"), name);
  const std::pair<std::string, std::string> refusals[] = {{"", "name a public dataset"},
                                                          {"census", "is private"},
                                                          {"nothing", "no public dataset"},
                                                          {"unsealed", "not sealed"},
                                                          {"other-bins", "\"age\" has other bins"},
                                                          {"narrow", "no attribute \"region\""},
                                                          {"nobody", "has no records"},
                                                          {*client::NewRequestId(), "no public dataset"}};
  for (const auto& [prior, words] : refusals) {
    const absl::Status refused = Refusal(owner_, From(prior));
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << prior << refused;
    EXPECT_NE(refused.message().find(words), std::string_view::npos) << refused;
    EXPECT_NE(refused.message().find("settings.prior"), std::string_view::npos) << refused;
  }
  EXPECT_EQ(Spent(), "0");
}

TEST_P(Prior, IsThereOnlyForThoseWhoMaySeeIt) {
  const Client analyst = server_.ClientFor("ana");
  Grant(owner_, "census", "ana");
  const absl::Status refused = Refusal(analyst, From("open"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
  EXPECT_EQ(Refusal(analyst, From(ReleaseOf(From("open")))).code(), absl::StatusCode::kInvalidArgument);
  Grant(owner_, "open", "ana");
  EXPECT_TRUE(analyst.CreateSynthesis(From("open")).ok());
}

TEST_P(Prior, WhatIsPrivateCannotBeMadePublic) {
  EXPECT_EQ(owner_.CreateDataset(PublicDataset("census")).status().code(), absl::StatusCode::kAlreadyExists);
  v1::CreateDatasetRequest successor = PublicDataset("census2");
  successor.set_successor_of("census");
  EXPECT_EQ(owner_.CreateDataset(successor).status().code(), absl::StatusCode::kInvalidArgument);
  // Nor by the way round: the same records under another name.
  ASSERT_TRUE(owner_.CreateDataset(PublicDataset("copy", "region")).ok());
  v1::ImportRecordsRequest::Header header;
  header.set_dataset("copy");
  std::istringstream csv(SmallCsv(8000));
  ASSERT_TRUE(owner_.ImportRecords(header, csv).ok());
  v1::SealDatasetRequest seal;
  seal.set_dataset("copy");
  const absl::Status refused = owner_.SealDataset(seal).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_NE(refused.message().find("census"), std::string_view::npos) << refused;
  EXPECT_EQ(Refusal(owner_, From("copy")).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(Prior, APublicDatasetIsNotAsked) {
  v1::CreateSynthesisRequest request = From("open");
  request.set_dataset("open");
  EXPECT_EQ(Refusal(owner_, request).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace curator::testing
