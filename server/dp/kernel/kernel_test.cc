#include "dp/kernel/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/testing/no_bits.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
const NoiseSpec kLaplace{Mechanism::kDiscreteLaplace, {2, 1}};
const NoiseSpec kGaussian{Mechanism::kDiscreteGaussian, {5, 1}};

SealedTableHandle SmallTable(const Domain& domain) {
  std::vector<std::vector<uint32_t>> rows;
  for (uint32_t i = 0; i < 600; ++i) rows.push_back({i % 2, i % 3});
  return SealRows(domain, rows).value();
}

std::vector<CountedEvent> ScheduleOf(const NoiseSpec& noise, const UnitBound& unit, int64_t marginals,
                                     int64_t times) {
  return {{NoiseEvent(noise, MarginalsSensitivity(unit, marginals).value()), times}};
}

const std::vector<AttributeSet> kThreeSets = {{0}, {1}, {0, 1}};
const std::vector<int64_t> kTruth = {300, 300, 200, 200, 200, 100, 100, 100, 100, 100, 100};
constexpr int kReleases = 3000;

using Releases = std::vector<std::vector<int64_t>>;  // all cells of kThreeSets, one release after another

Releases DrawReleases(const NoiseSpec& noise) {
  const Domain domain = CodedDomain({2, 3});
  seeded::SeededBits bits(1);
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter(ScheduleOf(noise, kRecord, 3, kReleases)), bits);
  Releases releases;
  for (int i = 0; i < kReleases; ++i) {
    std::vector<int64_t> flat;
    const auto counts = kernel.NoisyCounts(kThreeSets, noise).value();
    for (const auto& marginal : counts) {
      flat.insert(flat.end(), marginal.begin(), marginal.end());
    }
    releases.push_back(std::move(flat));
  }
  return releases;
}

// The cells whose mean squared error is not the variance of `noise`. An estimate of a variance from 3,000
// draws of kurtosis at most 6 has a relative deviation of 0.041; 0.29 are seven of them.
std::vector<size_t> CellsOfWrongSpread(const Releases& releases, const NoiseSpec& noise) {
  const double variance = std::pow(ForecastError(noise).standard_deviation, 2);
  std::vector<size_t> wrong;
  for (size_t cell = 0; cell < kTruth.size(); ++cell) {
    double squares = 0;
    for (const auto& release : releases)
      squares += std::pow(static_cast<double>(release[cell] - kTruth[cell]), 2);
    if (std::abs(squares / static_cast<double>(releases.size()) / variance - 1) > 0.29) wrong.push_back(cell);
  }
  return wrong;
}

TEST(NoisyCounts, AddsNoiseOfTheStatedSpreadToEveryCell) {
  EXPECT_THAT(CellsOfWrongSpread(DrawReleases(kLaplace), kLaplace), IsEmpty());
  EXPECT_THAT(CellsOfWrongSpread(DrawReleases(kGaussian), kGaussian), IsEmpty());
}

TEST(NoisyCountsCanary, OneCellWithoutNoiseIsCaught) {
  Releases releases = DrawReleases(kLaplace);
  for (auto& release : releases) release[4] = kTruth[4];
  EXPECT_THAT(CellsOfWrongSpread(releases, kLaplace), ElementsAre(4));
}

TEST(NoisyCounts, DrawsNoiseForEachMarginalAnew) {
  // Cells of {0} minus the matching sums of {0, 1}: independent noise makes the difference vary four times as
  // much as one cell.
  const Releases releases = DrawReleases(kGaussian);
  double squares = 0;
  for (const auto& release : releases) {
    squares += std::pow(static_cast<double>(release[0] - release[5] - release[6] - release[7]), 2);
  }
  const double variance = std::pow(ForecastError(kGaussian).standard_deviation, 2);
  EXPECT_NEAR(squares / kReleases / variance, 4, 4 * 0.29);
}

TEST(NoisyCounts, IsRefusedBeforeAnyLookWhenNotOnTheSchedule) {
  const Domain domain = CodedDomain({2, 3});
  NoBits bits;
  const std::vector<AttributeSet> one = {{0}};
  const std::vector<AttributeSet> two = {{0}, {1}};
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter(ScheduleOf(kLaplace, kRecord, 1, 1)), bits);
  EXPECT_EQ(kernel.NoisyCounts(two, kLaplace).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(kernel.NoisyCounts(one, kGaussian).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(kernel.NoisyCounts(one, {Mechanism::kDiscreteLaplace, {1, 1}}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(NoisyCounts, IsRefusedOneDrawBeyondTheSchedule) {
  const Domain domain = CodedDomain({2, 3});
  seeded::SeededBits bits(2);
  const std::vector<AttributeSet> sets = {{0}};
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter(ScheduleOf(kLaplace, kRecord, 1, 2)), bits);
  EXPECT_TRUE(kernel.NoisyCounts(sets, kLaplace).ok());
  EXPECT_TRUE(kernel.NoisyCounts(sets, kLaplace).ok());
  EXPECT_EQ(kernel.NoisyCounts(sets, kLaplace).status().code(), absl::StatusCode::kFailedPrecondition);
}

// A schedule priced with the sensitivity of one relation must not pay for draws under the other.
TEST(KernelCanary, AddRemoveSensitivityUsedUnderReplacementIsRefused) {
  const Domain domain = CodedDomain({2, 3});
  NoBits bits;
  const std::vector<AttributeSet> sets = {{0}};
  Kernel kernel(SmallTable(domain), domain, {NeighbourRelation::kReplaceOne, 1},
                Meter(ScheduleOf(kLaplace, kRecord, 1, 1)), bits);
  EXPECT_FALSE(kernel.NoisyCounts(sets, kLaplace).ok());
}

TEST(KernelCanary, APersonsBoundForgottenIsRefused) {
  const Domain domain = CodedDomain({2, 3});
  NoBits bits;
  const std::vector<AttributeSet> sets = {{0}};
  Kernel kernel(SmallTable(domain), domain, {NeighbourRelation::kAddRemove, 2},
                Meter(ScheduleOf(kGaussian, kRecord, 1, 1)), bits);
  EXPECT_FALSE(kernel.NoisyCounts(sets, kGaussian).ok());
  EXPECT_FALSE(kernel.NoisyRecordCount(kGaussian).ok());
}

TEST(KernelCanary, EpsilonNotSplitOverTheMarginalsIsRefused) {
  const Domain domain = CodedDomain({2, 3});
  NoBits bits;
  const std::vector<AttributeSet> sets = {{0}, {1}};
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter(ScheduleOf(kLaplace, kRecord, 1, 100)), bits);
  EXPECT_FALSE(kernel.NoisyCounts(sets, kLaplace).ok());
}

TEST(NoisyRecordCount, IsNoisyUnderBothRelations) {
  const Domain domain = CodedDomain({2, 3});
  for (const auto relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    const UnitBound unit{relation, 3};
    seeded::SeededBits bits(3);
    const Event event = NoiseEvent(kLaplace, RecordCountSensitivity(unit).value());
    Kernel kernel(SmallTable(domain), domain, unit, Meter({{event, 100}}), bits);
    double squares = 0;
    for (int i = 0; i < 100; ++i)
      squares += std::pow(static_cast<double>(kernel.NoisyRecordCount(kLaplace).value() - 600), 2) / 100;
    EXPECT_GT(squares, 2);
    EXPECT_LT(squares, 30);
  }
}

CandidateFamily Estimate(AttributeSet set, std::vector<double> cells) {
  return {.group = {.attributes = std::move(set), .queries = EveryCell()}, .estimate = std::move(cells)};
}

TEST(SelectWorstMarginal, PrefersTheWorstAndHeedsPenalties) {
  const Domain domain = CodedDomain({2, 3});
  seeded::SeededBits bits(4);
  const Epsilon epsilon(kEpsilonUnitsPerOne);
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter({{{ExponentialMechanismEvent{epsilon}}, 2}}),
                bits);
  std::vector<CandidateFamily> candidates = {Estimate({0}, {300, 300}), Estimate({1}, {400, 100, 100})};
  EXPECT_EQ(kernel.SelectWorstCandidate(candidates, epsilon).value(), (FamilyChoice{1, 0}));
  candidates[1].penalty = 1000;
  EXPECT_EQ(kernel.SelectWorstCandidate(candidates, epsilon).value(), (FamilyChoice{0, 0}));
}

TEST(SelectWorstMarginal, FollowsTheExponentialMechanismsProbabilities) {
  const Domain domain = CodedDomain({2, 3});
  seeded::SeededBits bits(5);
  const Epsilon epsilon(kEpsilonUnitsPerOne / 2);
  constexpr int kTimes = 20000;
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter({{{ExponentialMechanismEvent{epsilon}}, kTimes}}),
                bits);
  // Errors 0 and 4: the odds are exp(0.5 * 4 / 2) = e.
  const std::vector<CandidateFamily> candidates = {Estimate({0}, {300, 300}), Estimate({1}, {202, 198, 200})};
  int second = 0;
  for (int i = 0; i < kTimes; ++i) second += kernel.SelectWorstCandidate(candidates, epsilon)->family == 1;
  const double expected = std::exp(1.0) / (1 + std::exp(1.0));
  // Seven standard deviations of a share of 20,000 draws; twice the epsilon would give 0.88.
  EXPECT_NEAR(static_cast<double>(second) / kTimes, expected, 7 * std::sqrt(0.2 / kTimes));
}

TEST(SelectWorstMarginal, RefusesMalformedQuestionsBeforeTheDebit) {
  const Domain domain = CodedDomain({2, 3});
  const Epsilon epsilon(kEpsilonUnitsPerOne);
  seeded::SeededBits bits(6);
  Kernel kernel(SmallTable(domain), domain, kRecord, Meter({{{ExponentialMechanismEvent{epsilon}}, 1}}),
                bits);
  const std::vector<CandidateFamily> none;
  const std::vector<CandidateFamily> nan = {Estimate({0}, {std::nan(""), 1})};
  const std::vector<CandidateFamily> outside = {Estimate({2}, {1, 1})};
  const std::vector<CandidateFamily> good = {Estimate({0}, {1, 1})};
  EXPECT_EQ(kernel.SelectWorstCandidate(none, epsilon).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.SelectWorstCandidate(nan, epsilon).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.SelectWorstCandidate(outside, epsilon).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.SelectWorstCandidate(good, Epsilon(0)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(kernel.SelectWorstCandidate(good, epsilon).ok());
}

std::vector<CountedEvent> MixedSchedule(Epsilon epsilon) {
  std::vector<CountedEvent> schedule = ScheduleOf(kLaplace, kRecord, 1, 1);
  schedule.push_back({{ExponentialMechanismEvent{epsilon}}, 1});
  schedule.push_back({NoiseEvent(kLaplace, RecordCountSensitivity(kRecord).value()), 1});
  return schedule;
}

TEST(KernelTranscript, ReplaysTheSameAnswersWithoutATable) {
  const Domain domain = CodedDomain({2, 3});
  const Epsilon epsilon(kEpsilonUnitsPerOne);
  const std::vector<AttributeSet> sets = {{0, 1}};
  const std::vector<CandidateFamily> candidates = {Estimate({0}, {1, 1}), Estimate({1}, {2, 2, 2})};
  Transcript transcript;
  seeded::SeededBits bits(7);
  Kernel live(SmallTable(domain), domain, kRecord, Meter(MixedSchedule(epsilon)), bits);
  RecordingQueries recording(live, transcript);
  const auto counts = recording.NoisyCounts(sets, kLaplace).value();
  const auto selected = recording.SelectWorstCandidate(candidates, epsilon).value();
  const auto records = recording.NoisyRecordCount(kLaplace).value();

  ReplayingQueries replay(transcript, domain);
  EXPECT_EQ(replay.NoisyCounts(sets, kLaplace).value(), counts);
  EXPECT_EQ(replay.SelectWorstCandidate(candidates, epsilon).value(), selected);
  EXPECT_EQ(replay.NoisyRecordCount(kLaplace).value(), records);
}

TEST(KernelTranscript, RefusesToAnswerAnotherQuestion) {
  const Domain domain = CodedDomain({2, 3});
  const std::vector<AttributeSet> asked = {{0}};
  const std::vector<AttributeSet> other = {{1}};
  const Transcript transcript = {CountsDraw{asked, kLaplace, {{5, 5}}}};
  ReplayingQueries replay(transcript, domain);
  const auto refused = replay.NoisyCounts(other, kLaplace);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("another query"));
}

TEST(KernelTranscript, RefusesARecordCountWithOtherNoise) {
  ReplayingQueries replay({RecordCountDraw{kLaplace, 5}}, CodedDomain({2, 3}));
  const auto refused = replay.NoisyRecordCount(kGaussian);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("another query"));
}

TEST(Kernel, AnErrorSaysTheSameForEveryTable) {
  const Domain domain = CodedDomain({2, 3});
  NoBits bits;
  const std::vector<AttributeSet> sets = {{0}, {1}};
  Kernel full(SmallTable(domain), domain, kRecord, Meter({}), bits);
  Kernel empty(SealRows(domain, {}).value(), domain, kRecord, Meter({}), bits);
  EXPECT_EQ(full.NoisyCounts(sets, kLaplace).status(), empty.NoisyCounts(sets, kLaplace).status());
}

}  // namespace
}  // namespace curator::dp
