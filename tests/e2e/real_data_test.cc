// Real input, end to end: the Adult census extract, raw text and numbers, through the schema in tests/data.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "client/client.h"
#include "client/request_id.h"
#include "tests/testing/shared_folder.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

constexpr char kAdult[] = "data/adult_uci/train.csv.gz";
constexpr int64_t kAdultRecords = 32561;  // PROVENANCE.md beside the file

v1::Schema AdultSchema() {
  std::ifstream file(CURATOR_TEST_DATA "/adult_schema.json");
  std::stringstream json;
  json << file.rdbuf();
  v1::Schema schema;
  const auto status = google::protobuf::util::JsonStringToMessage(json.str(), &schema);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return schema;
}

class RealData : public ::testing::TestWithParam<Backend> {
 protected:
  RealData() : server_(GetParam()), owner_(server_.ClientFor("owner")) {}

  void ImportAdult(v1::Rule rule, const std::string& epsilon, const std::string& delta) {
    v1::CreateDatasetRequest dataset = NewDataset("adult", rule, epsilon, delta);
    *dataset.mutable_schema() = AdultSchema();
    ASSERT_EQ(dataset.schema().attributes_size(), 15);
    const absl::StatusOr<v1::Dataset> created = owner_.CreateDataset(dataset);
    ASSERT_TRUE(created.ok()) << created.status();
    std::ifstream csv(shared::PathOf(kAdult), std::ios::binary);
    v1::ImportRecordsRequest::Header header;
    header.set_dataset("adult");
    header.set_gzip(true);
    const absl::StatusOr<v1::ImportRecordsResponse> imported = owner_.ImportRecords(header, csv);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_EQ(imported->rows_accepted(), kAdultRecords);
    EXPECT_EQ(imported->rows_rejected(), 0);
    v1::SealDatasetRequest seal;
    seal.set_dataset("adult");
    ASSERT_EQ(owner_.SealDataset(seal)->records(), kAdultRecords);
  }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, RealData, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(RealData, AllTwoWayMarginalsOfAdultUnderZcdp) {
  REQUIRE_SHARED(kAdult);
  ASSERT_NO_FATAL_FAILURE(ImportAdult(v1::RULE_ZCDP, "3", "1e-9"));
  v1::AnswerWorkloadRequest question;
  question.set_dataset("adult");
  *question.mutable_workload() = MeasuredMarginals(2);
  question.mutable_spend()->set_rho("0.1");
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->marginals.size(), 15u * 14 / 2);
  EXPECT_EQ(answer->header.costs(0).amount(), "0.1");
  for (const Marginal& marginal : answer->marginals) {
    // sigma^2 = 105 / (2 * 0.1); the sum of a marginal is the number of records up to sigma sqrt(cells). Ten
    // standard deviations: a false alarm is below 1e-20 for all 105.
    EXPECT_EQ(marginal.header.noise().sigma_squared(), "525");
    int64_t sum = 0;
    for (const int64_t count : marginal.counts) sum += count;
    EXPECT_NEAR(static_cast<double>(sum), kAdultRecords,
                10 * std::sqrt(525.0 * static_cast<double>(marginal.cells())));
  }
}

TEST_P(RealData, MwemOverTheTwoWayMarginalsOfSevenCategoricalAttributes) {
  REQUIRE_SHARED(kAdult);
  ASSERT_NO_FATAL_FAILURE(ImportAdult(v1::RULE_PURE, "2", ""));
  v1::CreateSynthesisRequest request;
  request.set_dataset("adult");
  request.mutable_spec()->set_method("mwem");
  request.mutable_spec()->mutable_spend()->set_epsilon("1");
  v1::AllKWay* pairs =
      request.mutable_spec()->mutable_workload()->add_query_sets()->mutable_marginals()->mutable_all_k_way();
  pairs->set_k(2);
  for (const char* name :
       {"workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"}) {
    pairs->add_attributes(name);
  }
  v1::EstimateSynthesisRequest estimate;
  estimate.set_dataset("adult");
  *estimate.mutable_spec() = request.spec();
  EXPECT_EQ(owner_.EstimateSynthesis(estimate)->model_cells(), 907200);

  const absl::StatusOr<v1::Operation> started = owner_.CreateSynthesis(request);
  ASSERT_TRUE(started.ok()) << started.status();
  const absl::StatusOr<v1::Operation> done = owner_.WaitOperation(started->id(), std::chrono::minutes(4));
  ASSERT_EQ(done->state(), v1::Operation::DONE) << done->DebugString();
  EXPECT_LE(std::stod(owner_.GetBudget("adult")->accounts(0).counters(0).spent()), 1.0);

  // Of all people in Adult's training table 21,790 are male (UCI): the model must know it roughly.
  v1::QueryModelRequest query;
  query.set_release_id(done->release_id());
  query.mutable_workload()->add_query_sets()->mutable_marginals()->add_sets()->add_names("sex");
  const absl::StatusOr<Answer> answer = owner_.QueryModel(query);
  ASSERT_TRUE(answer.ok()) << answer.status();
  const std::vector<double>& sexes = answer->marginals[0].estimates;
  EXPECT_NEAR(sexes[1] / (sexes[0] + sexes[1]), 21790.0 / 32561, 0.03);

  v1::SampleModelRequest sample;
  sample.set_release_id(done->release_id());
  int64_t lines = 0;
  ASSERT_TRUE(owner_
                  .SampleModel(sample,
                               [&](std::string_view csv) {
                                 lines += std::count(csv.begin(), csv.end(), '\n');
                                 return absl::OkStatus();
                               })
                  .ok());
  EXPECT_NEAR(static_cast<double>(lines), kAdultRecords, 1000) << "the model's own noisy number of records";
}

}  // namespace
}  // namespace curator::testing
