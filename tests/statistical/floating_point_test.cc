// The two ways in which floating-point numbers break a mechanism that is right on paper: exact counts that
// are rounded before noise is added, and noise whose low-order bits tell what it was added to (Mironov 2012,
// "On Significance of the Least Significant Bits for Differential Privacy").
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "dp/data/coded_columns.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/black_box.h"
#include "tests/statistical/exact_ratio.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

constexpr dp::UnitBound kRecord{dp::NeighbourRelation::kAddRemove, 1};
const dp::NoiseSpec kNoise{dp::Mechanism::kDiscreteLaplace, {1, 1}};
const dp::Event kPrice{dp::DiscreteLaplaceEvent{.scale = {1, 1}, .l1_sensitivity = 1, .linf_sensitivity = 1}};

const dp::Domain& TwoCells() {
  static const dp::Domain domain = dp::CodedDomain({2});
  return domain;
}

// That many records, all in the first cell.
dp::SealedTableHandle TableOf(int64_t records) {
  dp::CodedColumns columns({2});
  columns.AppendCodes(0, std::vector<std::byte>(static_cast<size_t>(records), std::byte{0}));
  dp::SealedTableBuilder builder(TwoCells());
  builder.SetColumns(std::move(columns), {});
  return std::move(builder).Build().value();
}

// What is added to noise, given the exact count.
using Centre = std::function<int64_t(int64_t count)>;

// A number of records that a float cannot hold, and one record more.
RatioAudit AuditManyRecords(const Centre& centre) {
  constexpr int64_t kRecords = (int64_t{1} << 24) + 1;
  const dp::SealedTableHandle table = TableOf(kRecords);
  const dp::SealedTableHandle neighbour = TableOf(kRecords + 1);
  seeded::SeededBits bits(AuditSeed(1));
  dp::Kernel kernel(table, TwoCells(), kRecord, dp::Meter({{kPrice, 1}}), bits);
  const int64_t drawn = kernel.NoisyRecordCount(kNoise).value();
  RatioAudit finding(PureLossOf(kPrice));
  for (const int64_t answer : {drawn, kRecords - 100, kRecords + 100}) {
    finding.Compare("2^24 + 1 records", dp::NoiseLogProbability(kNoise, answer, centre(table->rows())),
                    dp::NoiseLogProbability(kNoise, answer, centre(neighbour->rows())));
  }
  return finding;
}

int64_t Exact(int64_t count) {
  return count;
}
int64_t RoundedToFloat(int64_t count) {
  return static_cast<int64_t>(static_cast<float>(count));
}

TEST(FloatingPoint, AnExactCountOfManyRecordsLosesWhatWasPaid) {
  const RatioAudit finding = AuditManyRecords(Exact);
  EXPECT_FALSE(finding.exceeds()) << finding.worst();
  EXPECT_TRUE(finding.reaches());
}

TEST(FloatingPointCanary, ValuesRoundedToFloatBeforeNoiseAreCaught) {
  EXPECT_TRUE(AuditManyRecords(RoundedToFloat).exceeds());
}

// A textbook's Laplace noise of scale 1: the logarithm of one of 2^53 equally spaced numbers.
double NoiseOf(uint64_t uniform, bool negative) {
  const double magnitude = -std::log((static_cast<double>(uniform) + 0.5) * 0x1p-53);
  return negative ? -magnitude : magnitude;
}

// Whether `answer` can be `count` plus such noise at all.
bool IsReachable(double answer, double count) {
  const double noise = answer - count;
  const double uniform = std::exp(-std::fabs(noise)) * 0x1p53 - 0.5;
  const auto nearest = static_cast<int64_t>(uniform);
  for (int64_t candidate = nearest - 64; candidate <= nearest + 64; ++candidate) {
    if (candidate < 0 || candidate >= int64_t{1} << 53) continue;
    if (count + NoiseOf(static_cast<uint64_t>(candidate), noise < 0) == answer) return true;
  }
  return false;
}

// Of each answer, what an onlooker computes: from which of the two counts it can have come.
using Answers = std::function<std::vector<double>(double count, size_t size, uint64_t seed)>;

PairOfSamples Origins(const Answers& answers, size_t size, uint64_t seed) {
  const auto origin = [](const std::vector<double>& sample) {
    std::vector<int64_t> origins;
    for (const double answer : sample)
      origins.push_back((IsReachable(answer, 0) ? 1 : 0) + (IsReachable(answer, 1) ? 2 : 0));
    return origins;
  };
  return {origin(answers(0, size, seed)), origin(answers(1, size, seed + 1))};
}

std::vector<double> NaiveAnswers(double count, size_t size, uint64_t seed) {
  seeded::SeededBits bits(AuditSeed(seed));
  std::vector<uint64_t> words(size);
  bits.Fill(words);
  std::vector<double> answers;
  for (const uint64_t word : words) answers.push_back(count + NoiseOf(word >> 11, (word & 1) == 1));
  return answers;
}

std::vector<double> ExactAnswers(double count, size_t size, uint64_t seed) {
  seeded::SeededBits bits(AuditSeed(seed));
  std::vector<int64_t> noise(size);
  dp::DiscreteLaplace::Create(kNoise.parameter).value().Fill(bits, noise);
  std::vector<double> answers;
  for (const int64_t value : noise) answers.push_back(count + static_cast<double>(value));
  return answers;
}

TEST(FloatingPoint, TheLowOrderBitsOfAnExactAnswerTellNoMoreThanWasPaid) {
  const LowerBound bound = PureLossLowerBound(Origins(ExactAnswers, 5000, 11));
  EXPECT_LE(bound.value, 1) << bound.event;
}

TEST(FloatingPointCanary, ANaiveFloatingPointLaplaceIsProvedByItsLowOrderBits) {
  EXPECT_GT(PureLossLowerBound(Origins(NaiveAnswers, 5000, 21)).value, 1);
}

}  // namespace
}  // namespace curator::statistics
