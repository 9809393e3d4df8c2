// Synthesis over a real socket: charged first, done in the background, stored, sampled for free.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

class Synthesis : public ::testing::TestWithParam<Backend> {
 protected:
  Synthesis() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "3"), SmallCsv(8000));
  }

  static v1::CreateSynthesisRequest Mwem(const std::string& epsilon) {
    v1::CreateSynthesisRequest request;
    request.set_dataset("census");
    request.set_request_id(*client::NewRequestId());
    request.mutable_spec()->set_method("mwem");
    request.mutable_spec()->mutable_spend()->set_epsilon(epsilon);
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

  std::string Sample(const std::string& release, int64_t rows) const {
    v1::SampleModelRequest request;
    request.set_release_id(release);
    request.set_rows(rows);
    std::string csv;
    const absl::Status status = owner_.SampleModel(request, [&](std::string_view bytes) {
      csv.append(bytes);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return csv;
  }

  std::string Spent() const { return owner_.GetBudget("census")->accounts(0).counters(0).spent(); }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Synthesis, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Synthesis, CostsWhatItsEstimateSaidAndNoMoreThanItOffered) {
  const v1::CreateSynthesisRequest request = Mwem("0.7654321");
  v1::EstimateSynthesisRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_spec() = request.spec();
  const absl::StatusOr<v1::EstimateSynthesisResponse> forecast = owner_.EstimateSynthesis(estimate);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_FALSE(forecast->schedule().empty());
  ReleaseOf(request);
  EXPECT_EQ(Spent(), forecast->costs(0).amount());
  EXPECT_LE(std::stod(Spent()), 0.7654321);
}

TEST_P(Synthesis, ARepeatedRequestFindsTheSameReleaseForFreeAlsoAfterARestart) {
  const v1::CreateSynthesisRequest request = Mwem("1");
  const std::string release = ReleaseOf(request);
  const std::string sample = Sample(release, 500);
  const std::string spent = Spent();
  server_.Restart();
  const Client owner = server_.ClientFor("owner");
  const absl::StatusOr<v1::Operation> again = owner.CreateSynthesis(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->state(), v1::Operation::DONE);
  EXPECT_EQ(again->release_id(), release);
  EXPECT_EQ(owner.GetBudget("census")->accounts(0).counters(0).spent(), spent);
  v1::CreateSynthesisRequest other = request;
  other.mutable_spec()->mutable_spend()->set_epsilon("0.5");
  EXPECT_EQ(owner.CreateSynthesis(other).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_P(Synthesis, SamplesLieInTheDomainAndAreTheSameBytesEachTime) {
  const std::string release = ReleaseOf(Mwem("1"));
  const std::string sample = Sample(release, 300);
  EXPECT_EQ(sample, Sample(release, 300));
  EXPECT_TRUE(sample.starts_with("sex,age,region\n"));
  EXPECT_EQ(std::count(sample.begin(), sample.end(), '\n'), 301);
  // What the server samples it accepts again, every row of it.
  std::istringstream csv(sample);
  const absl::StatusOr<v1::CheckSchemaResponse> check =
      owner_.CheckSchema(SmallSchema(), csv, Client::Compression::kNone);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->import().rows_accepted(), 300);
  EXPECT_EQ(check->import().rows_rejected(), 0);
}

TEST_P(Synthesis, AModelAnswersMarginalsForFree) {
  const std::string release = ReleaseOf(Mwem("2"));
  const std::string spent = Spent();
  v1::QueryModelRequest query;
  query.set_release_id(release);
  *query.mutable_workload() = AllMarginals(1);
  const absl::StatusOr<Answer> answer = owner_.QueryModel(query);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->marginals.size(), 3u);
  EXPECT_NEAR(answer->marginals[0].estimates[0], 4000, 400);  // half of 8,000 records, noise of a few dozen
  EXPECT_EQ(Spent(), spent);
}

TEST_P(Synthesis, AModelSaysWhatNoiseIsInItsMarginalsWhereItsMethodKnowsThat) {
  v1::CreateSynthesisRequest request = Mwem("1");
  request.mutable_spec()->set_method("priview");
  (*request.mutable_spec()->mutable_settings())["estimator"] = "ripple";
  v1::QueryModelRequest query;
  query.set_release_id(ReleaseOf(request));
  *query.mutable_workload() = AllMarginals(1);
  query.mutable_workload()->add_query_sets()->mutable_prefixes()->set_attribute("age");
  const Answer answer = owner_.QueryModel(query).value();
  ASSERT_EQ(answer.marginals.size(), 3u);
  const Marginal& sex = answer.marginals[0];
  ASSERT_EQ(sex.standard_deviations.size(), sex.size());
  EXPECT_GT(sex.standard_deviations[0], 0.1);
  EXPECT_LT(std::abs(sex.estimates[0] - 4000), 6 * sex.standard_deviations[0]);
  EXPECT_TRUE(sex.confidence_half_widths.empty());
  // Errors of sums are not known, nor is anything to the other method.
  EXPECT_TRUE(answer.query_sets[0].standard_deviations.empty());
  query.set_release_id(ReleaseOf(Mwem("0.5")));
  EXPECT_TRUE(owner_.QueryModel(query)->marginals[0].standard_deviations.empty());
}

TEST_P(Synthesis, AModelSaysNothingOfTheNoiseInMarginalsThatItRebuilds) {
  v1::CreateSynthesisRequest request = Mwem("1");
  request.mutable_spec()->set_method("priview");
  (*request.mutable_spec()->mutable_settings())["views"] = "sex,age;age,region";
  v1::QueryModelRequest query;
  query.set_release_id(ReleaseOf(request));
  *query.mutable_workload() = AllMarginals(2);
  const Answer answer = owner_.QueryModel(query).value();
  ASSERT_EQ(answer.marginals.size(), 3u);
  EXPECT_FALSE(answer.marginals[0].standard_deviations.empty());  // sex, age
  EXPECT_TRUE(answer.marginals[1].standard_deviations.empty());   // sex, region
  EXPECT_FALSE(answer.marginals[2].standard_deviations.empty());  // age, region
}

TEST_P(Synthesis, ADomainTooLargeIsRefusedBeforeTheChargeWithTheNumbers) {
  v1::CreateDatasetRequest wide = NewDataset("wide", v1::RULE_PURE, "1");
  for (int i = 0; i < 10; ++i) {
    v1::Attribute* attribute = wide.mutable_schema()->add_attributes();
    attribute->set_name("code" + std::to_string(i));
    attribute->mutable_coded()->set_size(100);
  }
  ASSERT_TRUE(owner_.CreateDataset(wide).ok());
  v1::SealDatasetRequest seal;
  seal.set_dataset("wide");
  seal.set_accept_no_records(true);
  ASSERT_TRUE(owner_.SealDataset(seal).ok());
  v1::CreateSynthesisRequest request = Mwem("1");
  request.set_dataset("wide");
  (*request.mutable_spec()->mutable_settings())["form"] = "dense";
  const absl::Status refused = owner_.CreateSynthesis(request).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("cells"), std::string_view::npos) << refused;
  EXPECT_EQ(owner_.GetBudget("wide")->accounts(0).counters(0).spent(), "0");
}

TEST_P(Synthesis, ACancelledOperationGivesNoReleaseAndItsChargeStands) {
  const Client other_owner = server_.ClientFor("other");
  v1::CreateDatasetRequest dataset = LargeDataset();
  dataset.set_name("large");
  MakeSealed(other_owner, dataset, LargeCsv());
  v1::CreateSynthesisRequest request = LongSynthesis();
  request.set_dataset("large");
  const absl::StatusOr<v1::Operation> started = other_owner.CreateSynthesis(request);
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_EQ(AwaitBegun(other_owner, started->id()), v1::Operation::RUNNING);
  const std::string spent = other_owner.GetBudget("large")->accounts(0).counters(0).spent();
  EXPECT_NE(spent, "0");
  EXPECT_EQ(owner_.CancelOperation(started->id()).status().code(), absl::StatusCode::kNotFound);

  const absl::StatusOr<v1::Operation> ended = other_owner.CancelOperation(started->id());
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state(), v1::Operation::FAILED);
  EXPECT_EQ(other_owner.CreateSynthesis(request).status().code(), absl::StatusCode::kFailedPrecondition)
      << "a cancelled draw is never repeated";
  EXPECT_EQ(other_owner.ListReleases("large")->releases_size(), 0);
  EXPECT_EQ(other_owner.GetBudget("large")->accounts(0).counters(0).spent(), spent);
}

TEST_P(Synthesis, ASynthesisThatOutlivesItsTimeLimitIsForfeited) {
  AppOptions options = server_.options();
  options.synthesis_timeout = absl::ZeroDuration();
  server_.RestartWith(options);
  const Client other_owner = server_.ClientFor("other");
  v1::CreateDatasetRequest dataset = LargeDataset();
  dataset.set_name("large");
  MakeSealed(other_owner, dataset, LargeCsv());
  v1::CreateSynthesisRequest request = LongSynthesis();
  request.set_dataset("large");
  const absl::StatusOr<v1::Operation> started = other_owner.CreateSynthesis(request);
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ(other_owner.WaitOperation(started->id(), std::chrono::minutes(2))->state(),
            v1::Operation::FAILED);
  EXPECT_NE(other_owner.GetBudget("large")->accounts(0).counters(0).spent(), "0");
  EXPECT_EQ(other_owner.CreateSynthesis(request).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(Synthesis, ARequestRepeatedWhileItRunsFindsTheRunningOperation) {
  const Client other_owner = server_.ClientFor("other");
  v1::CreateDatasetRequest dataset = LargeDataset();
  dataset.set_name("large");
  MakeSealed(other_owner, dataset, LargeCsv());
  v1::CreateSynthesisRequest request = LongSynthesis();
  request.set_dataset("large");
  const absl::StatusOr<v1::Operation> started = other_owner.CreateSynthesis(request);
  const absl::StatusOr<v1::Operation> again = other_owner.CreateSynthesis(request);
  ASSERT_TRUE(started.ok() && again.ok()) << started.status() << again.status();
  EXPECT_EQ(again->id(), started->id());
  EXPECT_EQ(AwaitBegun(other_owner, again->id()), v1::Operation::RUNNING);
  v1::CreateSynthesisRequest other = request;
  other.mutable_spec()->mutable_spend()->set_epsilon("1");
  EXPECT_EQ(other_owner.CreateSynthesis(other).status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(other_owner.CancelOperation(started->id()).ok());
}

}  // namespace
}  // namespace curator::testing
