// The audit from outside: what a client can find out over a real socket about the noise, and about failures
// after the data was touched.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "client/request_id.h"
#include "curator/v1/query.grpc.pb.h"
#include "dp/noise/discrete_distributions.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "tests/statistical/binomial.h"
#include "tests/statistical/frequencies.h"
#include "tests/testing/seeded_bits.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;
using statistics::CheckFrequencies;
using statistics::kFalseAlarm;

// One three-way marginal of 64^3 cells. All records lie in its first cell, so that each answer shows 262,143
// draws of noise bare.
constexpr int64_t kSide = 64;
constexpr int64_t kKnownEmpty = kSide * kSide * kSide - 1;

v1::CreateDatasetRequest SparseDataset() {
  v1::CreateDatasetRequest dataset = NewDataset("sparse", v1::RULE_ZCDP, "1000", "1e-9");
  dataset.mutable_schema()->clear_attributes();
  for (const char* name : {"a", "b", "c"}) {
    v1::Attribute* attribute = dataset.mutable_schema()->add_attributes();
    attribute->set_name(name);
    attribute->mutable_coded()->set_size(kSide);
  }
  return dataset;
}

v1::Spend EpsilonSpend(const std::string& epsilon) {
  v1::Spend spend;
  spend.set_epsilon(epsilon);
  return spend;
}

v1::Spend RhoSpend(const std::string& rho) {
  v1::Spend spend;
  spend.set_rho(rho);
  return spend;
}

v1::AnswerWorkloadRequest Question(const std::string& dataset, int k, const v1::Spend& spend) {
  v1::AnswerWorkloadRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset(dataset);
  *request.mutable_workload() = AllMarginals(k);
  *request.mutable_spend() = spend;
  return request;
}

using LogProbability = std::function<double(int64_t)>;
double LaplaceLaw(int64_t x) {
  return dp::DiscreteLaplaceLogProbability({4, 1}, x);
}  // epsilon 1/4, one marginal
double GaussianLaw(int64_t x) {
  return dp::DiscreteGaussianLogProbability({8, 1}, x);
}  // rho 1/16

// Each value up to 8, each interval around 0 and each tail up to 40, with the probabilities of the law.
std::vector<statistics::Event> EventsOf(const LogProbability& law) {
  std::vector<statistics::Event> events;
  std::vector<double> at_least(402, 0.0);
  for (int64_t x = 400; x >= 0; --x)
    at_least[static_cast<size_t>(x)] = at_least[static_cast<size_t>(x) + 1] + std::exp(law(x));
  for (int64_t x = -8; x <= 8; ++x) events.push_back({x, x, std::exp(law(x))});
  for (int64_t x = 1; x <= 40; ++x) {
    const double tail = at_least[static_cast<size_t>(x)];
    events.push_back({x, statistics::Event::kNoLimit, tail});
    events.push_back({-statistics::Event::kNoLimit, -x, tail});
    events.push_back({1 - x, x - 1, 1 - 2 * tail});
  }
  return events;
}

class BlackBox : public ::testing::Test {
 protected:
  BlackBox() : server_(Backend::kSqlite), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, SparseDataset(), "a,b,c\n0,0,0\n0,0,0\n0,0,0\n");
  }

  // The noise of `requests` answers, as the client sees it in the cells that are empty.
  std::vector<int64_t> NoiseOf(const v1::Spend& spend, int requests) const {
    std::vector<int64_t> noise;
    for (int i = 0; i < requests; ++i) {
      const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Question("sparse", 3, spend));
      EXPECT_TRUE(answer.ok()) << answer.status();
      if (!answer.ok()) return {};
      const std::vector<int64_t>& counts = answer->marginals[0].counts;
      noise.insert(noise.end(), counts.begin() + 1, counts.end());
    }
    EXPECT_EQ(noise.size(), static_cast<size_t>(requests * kKnownEmpty));
    return noise;
  }

  TestServer server_;
  Client owner_;
};

TEST_F(BlackBox, LaplaceNoiseOverTheWireFollowsTheExactLaw) {
  const auto verdict = CheckFrequencies(NoiseOf(EpsilonSpend("0.25"), 1), EventsOf(LaplaceLaw));
  EXPECT_GT(verdict.p_value, kFalseAlarm) << verdict.worst;
}

TEST_F(BlackBox, GaussianNoiseOverTheWireFollowsTheExactLaw) {
  const auto verdict = CheckFrequencies(NoiseOf(RhoSpend("0.0625"), 4), EventsOf(GaussianLaw));
  EXPECT_GT(verdict.p_value, kFalseAlarm) << verdict.worst;
}

template <typename Distribution>
std::vector<int64_t> DrawHere(dp::Rational parameter, int requests) {
  std::vector<int64_t> noise(static_cast<size_t>(requests * kKnownEmpty));
  seeded::SeededBits bits(31);
  Distribution::Create(parameter).value().Fill(bits, noise);
  return noise;
}

TEST(BlackBoxCanary, LaplaceNoiseScaledDownByATwentiethIsCaughtWithAsManyDraws) {
  EXPECT_LT(CheckFrequencies(DrawHere<dp::DiscreteLaplace>({380, 100}, 1), EventsOf(LaplaceLaw)).p_value,
            kFalseAlarm);
}

TEST(BlackBoxCanary, GaussianNoiseScaledDownByATwentiethIsCaughtWithAsManyDraws) {
  const auto noise = DrawHere<dp::DiscreteGaussian>({8 * 95 * 95, 100 * 100}, 4);
  EXPECT_LT(CheckFrequencies(noise, EventsOf(GaussianLaw)).p_value, kFalseAlarm);
}

// How often two answers agree in a cell, if their noise is independent: sum of P(x)^2 of the cells.
double AgreementPValue(const std::vector<int64_t>& one, const std::vector<int64_t>& other) {
  double agreement = 0;
  for (int64_t x = -400; x <= 400; ++x) agreement += std::exp(2 * LaplaceLaw(x));
  uint64_t agreements = 0;
  for (size_t i = 0; i < one.size(); ++i) agreements += one[i] == other[i] ? 1 : 0;
  return statistics::BinomialPValue(one.size(), agreements, agreement);
}

TEST_F(BlackBox, TwoRequestsShareNoNoise) {
  const v1::Spend spend = EpsilonSpend("0.25");
  EXPECT_GT(AgreementPValue(NoiseOf(spend, 1), NoiseOf(spend, 1)), kFalseAlarm);
}

TEST(BlackBoxCanary, TwoRequestsThatShareOneDrawInFiftyAreCaught) {
  std::vector<int64_t> both = DrawHere<dp::DiscreteLaplace>({4, 1}, 2);
  const auto middle = both.begin() + kKnownEmpty;
  const std::vector<int64_t> one(both.begin(), middle);
  std::vector<int64_t> other(middle, both.end());
  EXPECT_GT(AgreementPValue(one, other), kFalseAlarm);
  for (size_t i = 0; i < other.size(); i += 50) other[i] = one[i];
  EXPECT_LT(AgreementPValue(one, other), kFalseAlarm);
}

// Everything that a failed call tells its client.
struct Failure {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string message;
  std::string details;
  std::multimap<std::string, std::string> trailers;

  bool operator==(const Failure&) const = default;
};

class Poisoned : public ::testing::TestWithParam<Backend> {
 protected:
  using Poison = std::function<void(const fs::path& snapshot)>;

  Poisoned() : server_(GetParam()), owner_(server_.ClientFor("owner")) {}

  // A sealed dataset whose records on disk are damaged before anybody asks.
  void MakePoisoned(const std::string& name, const Poison& poison) const {
    const std::vector<fs::path> before = Snapshots();
    MakeSealed(owner_, NewDataset(name, v1::RULE_PURE, "3"), SmallCsv(80));
    for (const fs::path& snapshot : Snapshots()) {
      if (std::find(before.begin(), before.end(), snapshot) == before.end()) poison(snapshot);
    }
  }

  std::vector<fs::path> Snapshots() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(server_.options().data_directory)) {
      if (entry.path().filename() == "snapshot") found.push_back(entry.path());
    }
    return found;
  }

  Failure AnswerFails(const v1::AnswerWorkloadRequest& question) const {
    const auto channel = grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials());
    const auto stub = v1::QueryService::NewStub(channel);
    grpc::ClientContext context;
    context.AddMetadata("curator-principal", "owner");
    const auto stream = stub->AnswerWorkload(&context, question);
    v1::AnswerChunk chunk;
    EXPECT_FALSE(stream->Read(&chunk)) << "nothing may be answered";
    const grpc::Status status = stream->Finish();
    Failure failure{status.error_code(), status.error_message(), status.error_details(), {}};
    for (const auto& [key, value] : context.GetServerTrailingMetadata())
      failure.trailers.emplace(std::string(key.data(), key.size()), std::string(value.data(), value.size()));
    return failure;
  }

  std::string SynthesisFails(const std::string& dataset) const {
    v1::CreateSynthesisRequest request;
    request.set_dataset(dataset);
    request.set_request_id(*client::NewRequestId());
    request.mutable_spec()->set_method("mwem");
    request.mutable_spec()->mutable_spend()->set_epsilon("1");
    const absl::StatusOr<v1::Operation> started = owner_.CreateSynthesis(request);
    EXPECT_TRUE(started.ok()) << started.status();
    if (!started.ok()) return "";
    const absl::StatusOr<v1::Operation> ended = owner_.WaitOperation(started->id(), std::chrono::minutes(2));
    EXPECT_EQ(ended->state(), v1::Operation::FAILED);
    EXPECT_EQ(ended->release_id(), "");
    return ended->error();
  }

  std::string Spent(const std::string& dataset) const {
    return owner_.GetBudget(dataset)->accounts(0).counters(0).spent();
  }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Poisoned, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

// Flips a bit at `share` of the file.
void FlipAt(const fs::path& path, double share) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(share * static_cast<double>(fs::file_size(path) - 1));
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 1));
}

TEST_P(Poisoned, EveryFailureAfterTheLookTellsTheSameAndItsChargeStands) {
  const std::vector<std::pair<std::string, Poison>> poisons = {
      {"beginning", [](const fs::path& path) { FlipAt(path, 0); }},
      {"record", [](const fs::path& path) { FlipAt(path, 0.7); }},
      {"another-record", [](const fs::path& path) { FlipAt(path, 0.8); }},
      {"end", [](const fs::path& path) { FlipAt(path, 1); }},
      {"shortened", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }},
      {"removed", [](const fs::path& path) { fs::remove(path); }},
  };
  std::vector<Failure> failures;
  std::vector<Failure> repeated;
  std::vector<std::string> operation_errors;
  for (const auto& [name, poison] : poisons) {
    MakePoisoned(name, poison);
    const v1::AnswerWorkloadRequest question = Question(name, 2, EpsilonSpend("0.25"));
    failures.push_back(AnswerFails(question));
    EXPECT_EQ(Spent(name), "0.25") << name << ": the charge stands";
    repeated.push_back(AnswerFails(question));
    EXPECT_EQ(Spent(name), "0.25") << name << ": and is made once";
    operation_errors.push_back(SynthesisFails(name));
    EXPECT_GT(std::stod(Spent(name)), 1.2) << name;
    EXPECT_EQ(owner_.ListReleases(name)->releases_size(), 0);
    EXPECT_TRUE(owner_.VerifyLedger(name)->ok());
  }
  EXPECT_EQ(failures[0].code, grpc::StatusCode::INTERNAL);
  EXPECT_EQ(repeated[0].code, grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(operation_errors[0], "");
  for (size_t i = 1; i < poisons.size(); ++i) {
    EXPECT_EQ(failures[i], failures[0]) << poisons[i].first << ": " << failures[i].message;
    EXPECT_EQ(repeated[i], repeated[0]) << poisons[i].first << ": " << repeated[i].message;
    EXPECT_EQ(operation_errors[i], operation_errors[0]) << poisons[i].first;
  }
}

TEST_P(Poisoned, WhatIsWrongBeforeTheLookIsToldAndTheComparisonSeesIt) {
  MakePoisoned("record", [](const fs::path& path) { FlipAt(path, 0.7); });
  const Failure opaque = AnswerFails(Question("record", 2, EpsilonSpend("0.25")));
  const Failure unknown = AnswerFails(Question("no-such-dataset", 2, EpsilonSpend("0.25")));
  const Failure too_dear = AnswerFails(Question("record", 2, EpsilonSpend("2.875")));
  EXPECT_NE(unknown, opaque);
  EXPECT_NE(too_dear, opaque);
  EXPECT_NE(too_dear.trailers, opaque.trailers) << "the full account is named in a trailer";
  EXPECT_EQ(Spent("record"), "0.25");
}

}  // namespace
}  // namespace curator::testing
