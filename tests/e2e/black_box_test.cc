// Layer 3 of the audit, from outside: what a client can find out over a real socket about the noise of a live
// server.
//
// A marginal with hundreds of thousands of cells gives as many draws in one request. Two datasets are
// neighbours in each of their cells: one has no record, the other one record in every cell. The server's keys
// are always fresh, so every check here holds with all but probability kFalseAlarm, and each canary is caught
// with all but less.
#include "tests/statistical/black_box.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/request_id.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/noise_spec.h"
#include "dp/noise/testing/log_probability.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/binomial.h"
#include "tests/statistical/frequencies.h"
#include "tests/testing/seeded_bits.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using statistics::AuditSeed;
using statistics::AuditSize;
using statistics::CheckFrequencies;
using statistics::DeltaLowerBound;
using statistics::DeltaOfCount;
using statistics::kFalseAlarm;
using statistics::LowerBound;
using statistics::PairOfSamples;
using statistics::PureLossLowerBound;

constexpr int64_t kSide = 64;
constexpr int64_t kCells = kSide * kSide * kSide;

v1::CreateDatasetRequest CubeDataset(const std::string& name) {
  v1::CreateDatasetRequest dataset = NewDataset(name, v1::RULE_ZCDP, "100000", "1e-9");
  dataset.mutable_schema()->clear_attributes();
  for (const char* attribute_name : {"a", "b", "c"}) {
    v1::Attribute* attribute = dataset.mutable_schema()->add_attributes();
    attribute->set_name(attribute_name);
    attribute->mutable_coded()->set_size(kSide);
  }
  return dataset;
}

std::string OneRecordInEveryCell() {
  std::string csv = "a,b,c\n";
  for (int64_t cell = 0; cell < kCells; ++cell) {
    csv += std::to_string(cell / (kSide * kSide)) + ',' + std::to_string(cell / kSide % kSide) + ',' +
           std::to_string(cell % kSide) + '\n';
  }
  return csv;
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

class OverTheWire : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<TestServer>(Backend::kSqlite);
    const Client owner = server_->ClientFor("owner");
    MakeSealed(owner, CubeDataset("empty"), "a,b,c\n");
    MakeSealed(owner, CubeDataset("full"), OneRecordInEveryCell());
  }
  static void TearDownTestSuite() { server_.reset(); }

  // All cells of `requests` answers about the whole domain.
  static std::vector<int64_t> CountsOf(const std::string& dataset, const v1::Spend& spend, size_t requests) {
    const Client owner = server_->ClientFor("owner");
    std::vector<int64_t> counts;
    for (size_t i = 0; i < requests; ++i) {
      v1::AnswerWorkloadRequest request;
      request.set_request_id(*client::NewRequestId());
      request.set_dataset(dataset);
      *request.mutable_workload() = AllMarginals(3);
      *request.mutable_spend() = spend;
      const absl::StatusOr<Answer> answer = owner.AnswerWorkload(request);
      EXPECT_TRUE(answer.ok()) << answer.status();
      if (!answer.ok()) return {};
      const std::vector<int64_t>& cells = answer->marginals[0].counts;
      counts.insert(counts.end(), cells.begin(), cells.end());
    }
    EXPECT_EQ(counts.size(), requests * kCells);
    return counts;
  }

  static PairOfSamples Neighbours(const v1::Spend& spend, size_t requests) {
    return {CountsOf("empty", spend, requests), CountsOf("full", spend, requests)};
  }

  static std::unique_ptr<TestServer> server_;
};
std::unique_ptr<TestServer> OverTheWire::server_;

using LogProbability = std::function<double(int64_t)>;
LogProbability LaplaceLaw(dp::Rational scale) {
  return [scale](int64_t x) { return dp::DiscreteLaplaceLogProbability(scale, x); };
}
LogProbability GaussianLaw(dp::Rational sigma_squared) {
  return [sigma_squared](int64_t x) { return dp::DiscreteGaussianLogProbability(sigma_squared, x); };
}

// Epsilon 2 for one marginal is scale 1/2, rho 1 is sigma^2 1/2: small noise, because there a scale that is a
// little wrong shows with the fewest draws.
TEST_F(OverTheWire, ALaplaceCountKeepsTheEpsilonThatWasPaidAndNoLess) {
  const PairOfSamples samples = Neighbours(EpsilonSpend("2"), AuditSize(2));
  const LowerBound bound = PureLossLowerBound(samples);
  EXPECT_LE(bound.value, 2) << bound.event;
}

TEST_F(OverTheWire, AGaussianCountKeepsTheCurveThatWasPaid) {
  const PairOfSamples samples = Neighbours(RhoSpend("1"), AuditSize(2));
  for (const double epsilon : {0.0, 0.5, 1.0, 2.0}) {
    const LowerBound bound = DeltaLowerBound(samples, epsilon);
    EXPECT_LE(bound.value, DeltaOfCount(GaussianLaw({1, 2}), epsilon)) << epsilon << ": " << bound.event;
  }
}

// The same answers, audited against statements that are five percent better than the truth.
using OverTheWireCanary = OverTheWire;

TEST_F(OverTheWireCanary, AStatedEpsilonFivePercentTooSmallIsProved) {
  const PairOfSamples samples = Neighbours(EpsilonSpend("2"), AuditSize(2));
  EXPECT_GT(PureLossLowerBound(samples).value, 0.95 * 2);
}

TEST_F(OverTheWireCanary, AStatedSigmaFivePercentTooLargeIsProved) {
  const PairOfSamples samples = Neighbours(RhoSpend("1"), AuditSize(2));
  EXPECT_GT(DeltaLowerBound(samples, 0.5).value, DeltaOfCount(GaussianLaw({5000, 95 * 95}), 0.5));
}

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

// The noise of epsilon 1/4 and of rho 1/16 on one marginal.
constexpr dp::Rational kScale{4, 1};
constexpr dp::Rational kSigmaSquared{8, 1};

TEST_F(OverTheWire, LaplaceNoiseFollowsTheExactLaw) {
  const auto verdict =
      CheckFrequencies(CountsOf("empty", EpsilonSpend("0.25"), AuditSize(1)), EventsOf(LaplaceLaw(kScale)));
  EXPECT_GT(verdict.p_value, kFalseAlarm) << verdict.worst;
}

TEST_F(OverTheWire, GaussianNoiseFollowsTheExactLaw) {
  const auto verdict = CheckFrequencies(CountsOf("empty", RhoSpend("0.0625"), AuditSize(4)),
                                        EventsOf(GaussianLaw(kSigmaSquared)));
  EXPECT_GT(verdict.p_value, kFalseAlarm) << verdict.worst;
}

template <typename Distribution>
std::vector<int64_t> DrawHere(dp::Rational parameter, size_t requests) {
  std::vector<int64_t> noise(requests * kCells);
  seeded::SeededBits bits(AuditSeed(31));
  Distribution::Create(parameter).value().Fill(bits, noise);
  return noise;
}

TEST_F(OverTheWireCanary, LaplaceNoiseScaledDownByATwentiethIsCaughtWithAsManyDraws) {
  const auto noise = DrawHere<dp::DiscreteLaplace>({380, 100}, AuditSize(1));
  EXPECT_LT(CheckFrequencies(noise, EventsOf(LaplaceLaw(kScale))).p_value, kFalseAlarm);
}

TEST_F(OverTheWireCanary, GaussianNoiseScaledDownByATwentiethIsCaughtWithAsManyDraws) {
  const auto noise = DrawHere<dp::DiscreteGaussian>({8 * 95 * 95, 100 * 100}, AuditSize(4));
  EXPECT_LT(CheckFrequencies(noise, EventsOf(GaussianLaw(kSigmaSquared))).p_value, kFalseAlarm);
}

// How often two answers agree in a cell, if their noise is independent: sum of P(x)^2 of the cells.
double AgreementPValue(const std::vector<int64_t>& one, const std::vector<int64_t>& other) {
  double agreement = 0;
  for (int64_t x = -400; x <= 400; ++x) agreement += std::exp(2 * LaplaceLaw(kScale)(x));
  uint64_t agreements = 0;
  for (size_t i = 0; i < one.size(); ++i) agreements += one[i] == other[i] ? 1 : 0;
  return statistics::BinomialPValue(one.size(), agreements, agreement);
}

TEST_F(OverTheWire, TwoRequestsShareNoNoise) {
  const v1::Spend spend = EpsilonSpend("0.25");
  EXPECT_GT(AgreementPValue(CountsOf("empty", spend, 1), CountsOf("empty", spend, 1)), kFalseAlarm);
}

TEST_F(OverTheWireCanary, TwoRequestsThatShareOneDrawInFiftyAreCaught) {
  std::vector<int64_t> both = DrawHere<dp::DiscreteLaplace>(kScale, 2);
  const auto middle = both.begin() + kCells;
  const std::vector<int64_t> one(both.begin(), middle);
  std::vector<int64_t> other(middle, both.end());
  EXPECT_GT(AgreementPValue(one, other), kFalseAlarm);
  for (size_t i = 0; i < other.size(); i += 50) other[i] = one[i];
  EXPECT_LT(AgreementPValue(one, other), kFalseAlarm);
}

}  // namespace
}  // namespace curator::testing
