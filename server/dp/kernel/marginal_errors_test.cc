// NoisyErrors: what it draws, its meter, its refusals and its transcript; on all pairs of small neighbouring
// tables its exact loss is at most what the meter takes, and reaches it; broken variants are caught.
#include "dp/kernel/marginal_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/no_bits.h"
#include "dp/kernel/testing/small_units.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/testing/largest_change.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 2},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 2}};
const NoiseSpec kLaplace{Mechanism::kDiscreteLaplace, {6, 1}};
const NoiseSpec kGaussian{Mechanism::kDiscreteGaussian, {9, 2}};
// Not 0 once in 10^8 draws, and once in 10^21.
const std::vector<NoiseSpec> kVanishing = {{Mechanism::kDiscreteLaplace, {1, 20}},
                                           {Mechanism::kDiscreteGaussian, {1, 100}}};

const Domain& TwoByThree() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

SealedTableHandle FourRecords() {
  return SealRows(TwoByThree(), {{0, 0}, {0, 1}, {1, 1}, {1, 1}}).value();
}

// Two estimates of one marginal among them.
const std::vector<IntegerMarginal> kEstimates = {
    {{0, 1}, {1, 1, 0, 0, 2, 0}}, {{0}, {5, -1}}, {{1}, {0, 0, 7}}, {{0}, {2, 3}}};
const std::vector<int64_t> kTruth = {0, 3 + 3, 1 + 3 + 7, 0 + 1};

Meter Paying(const NoiseSpec& noise, const UnitBound& unit, int64_t times, int64_t candidates) {
  return Meter({{NoiseEvent(noise, ErrorsSensitivity(unit, candidates).value()), times}});
}

TEST(NoisyErrors, AreTheSumsOfTheAbsoluteErrorsPlusNoise) {
  for (const NoiseSpec& noise : kVanishing) {
    seeded::SeededBits bits(1);
    Kernel kernel(FourRecords(), TwoByThree(), kUnits[0], Paying(noise, kUnits[0], 1, 4), bits);
    EXPECT_EQ(kernel.NoisyErrors(kEstimates, noise).value(), kTruth);
  }
}

TEST(NoisyErrors, HaveNoiseOfTheirOwnOfTheStatedSpread) {
  constexpr int kDraws = 20'000;
  for (const NoiseSpec& noise : {kLaplace, kGaussian}) {
    seeded::SeededBits bits(2);
    Kernel kernel(FourRecords(), TwoByThree(), kUnits[0], Paying(noise, kUnits[0], kDraws, 4), bits);
    const double variance = std::pow(ForecastError(noise).standard_deviation, 2);
    std::vector<double> squares(kTruth.size());
    double of_difference = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::vector<int64_t> values = kernel.NoisyErrors(kEstimates, noise).value();
      ASSERT_EQ(values.size(), kTruth.size());
      for (size_t j = 0; j < values.size(); ++j)
        squares[j] += std::pow(static_cast<double>(values[j] - kTruth[j]), 2) / kDraws;
      of_difference +=
          std::pow(static_cast<double>(values[1] - kTruth[1] - values[3] + kTruth[3]), 2) / kDraws;
    }
    // An estimate of a variance from 20,000 draws of kurtosis at most 6 has a relative deviation of 0.016.
    for (const double squared : squares) EXPECT_NEAR(squared / variance, 1, 0.11);
    EXPECT_NEAR(of_difference / variance, 2, 0.22) << "noise shared by two errors of one marginal";
  }
}

// Marginals of more than 2^20 cells are counted by themselves.
TEST(NoisyErrors, OfManyCellsAreCountedPartByPart) {
  const Domain large = CodedDomain({1100, 1000});
  std::vector<IntegerMarginal> estimates = {{{0}, std::vector<int64_t>(1100)},
                                            {{0, 1}, std::vector<int64_t>(1'100'000)},
                                            {{0, 1}, std::vector<int64_t>(1'100'000)},
                                            {{1}, std::vector<int64_t>(1000)}};
  estimates[2].cells[7999] = -5;
  estimates[3].cells[20] = 2;
  seeded::SeededBits bits(3);
  Kernel kernel(SealRows(large, {{0, 3}, {7, 999}, {1099, 20}}).value(), large, kUnits[0],
                Paying(kVanishing[1], kUnits[0], 1, 4), bits);
  EXPECT_EQ(kernel.NoisyErrors(estimates, kVanishing[1]).value(), (std::vector<int64_t>{3, 3, 8, 3}));
}

TEST(NoisyErrors, AreRefusedBeforeAnyLookUnlessPaid) {
  const std::vector<IntegerMarginal> one = {kEstimates[1]};
  for (const UnitBound& unit : kUnits) {
    NoBits none;
    Kernel unpaid(FourRecords(), TwoByThree(), unit, Meter({}), none);
    EXPECT_EQ(unpaid.NoisyErrors(one, kLaplace).status().code(), absl::StatusCode::kFailedPrecondition);
    seeded::SeededBits bits(4);
    Kernel paid(FourRecords(), TwoByThree(), unit, Paying(kLaplace, unit, 1, 1), bits);
    EXPECT_TRUE(paid.NoisyErrors(one, kLaplace).ok());
    EXPECT_EQ(paid.NoisyErrors(one, kLaplace).status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST(NoisyErrorsCanary, OneErrorsPriceForTheWholeListIsRefused) {
  NoBits none;
  Kernel kernel(FourRecords(), TwoByThree(), kUnits[0], Paying(kLaplace, kUnits[0], 4, 1), none);
  EXPECT_EQ(kernel.NoisyErrors(kEstimates, kLaplace).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NoisyErrorsCanary, TheAddRemovePriceIsRefusedUnderReplacement) {
  NoBits none;
  Kernel kernel(FourRecords(), TwoByThree(), kUnits[2], Paying(kLaplace, kUnits[0], 4, 4), none);
  EXPECT_EQ(kernel.NoisyErrors(kEstimates, kLaplace).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NoisyErrors, OfMalformedCandidatesAreRefusedWithoutADebit) {
  seeded::SeededBits bits(5);
  Kernel kernel(FourRecords(), TwoByThree(), kUnits[0], Paying(kLaplace, kUnits[0], 1, 1), bits);
  const auto code = [&](const std::vector<IntegerMarginal>& candidates) {
    return kernel.NoisyErrors(candidates, kLaplace).status().code();
  };
  constexpr int64_t kMost = int64_t{1} << 50;
  EXPECT_EQ(code({}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{}, {}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{7}, {1, 1}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{1, 0}, {1, 1, 1, 1, 1, 1}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{0}, {1}}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{0}, {1, 1, 1}}}), absl::StatusCode::kInvalidArgument);
  for (const int64_t large : {kMost + 1, -kMost - 1, INT64_MAX, INT64_MIN})
    EXPECT_EQ(code({{{0}, {0, large}}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{{0}, {1, -kMost}}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code(std::vector<IntegerMarginal>((1 << 18) + 1, {{0}, {0, 0}})),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.NoisyErrors(kEstimates, {Mechanism::kDiscreteLaplace, {0, 1}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(kernel.NoisyErrors(std::vector<IntegerMarginal>{{{0}, {0, kMost}}}, kLaplace).ok());
}

TEST(NoisyErrors, AreReplayedFromTheirTranscript) {
  seeded::SeededBits bits(6);
  Kernel kernel(FourRecords(), TwoByThree(), kUnits[0], Paying(kGaussian, kUnits[0], 1, 4), bits);
  Transcript transcript;
  const auto values = RecordingQueries(kernel, transcript).NoisyErrors(kEstimates, kGaussian).value();
  ReplayingQueries replaying(transcript, TwoByThree());
  EXPECT_FALSE(replaying.NoisyErrors(std::span(kEstimates).first(3), kGaussian).ok());
  EXPECT_FALSE(replaying.NoisyErrors(kEstimates, kLaplace).ok());
  EXPECT_EQ(replaying.NoisyErrors(kEstimates, kGaussian).value(), values);
}

// On the tables of small_units.h. The first cells are above their estimates and the last ones below, so that
// a record that moves from the one to the other lowers an error twice.
const std::vector<IntegerMarginal> kExtreme = {
    {{kRegionColumn}, {-100, 100}}, {{kAgeColumn}, {-100, 0, 0, 0, 100}}, {{kRegionColumn}, {-50, 70}}};
const std::vector<std::vector<IntegerMarginal>> kLists = {
    {kExtreme[0]}, {kExtreme[1]}, {kExtreme[0], kExtreme[2]}, kExtreme};

// Tables of `others` and one more unit of up to `most` records that have the first or last code of both
// attributes; the first one has `others` alone.
std::vector<SealedTableHandle> CornerTables(const Units& others, int64_t most) {
  const std::vector<std::vector<uint32_t>> corners = {{0, 0, 0, 0}, {1, 4, 0, 0}, {0, 4, 0, 0}};
  std::vector<SealedTableHandle> tables;
  for (int64_t a = 0; a <= most; ++a) {
    for (int64_t b = 0; a + b <= most; ++b) {
      for (int64_t c = 0; a + b + c <= most; ++c) {
        UnitRecords unit(static_cast<size_t>(a), corners[0]);
        unit.insert(unit.end(), static_cast<size_t>(b), corners[1]);
        unit.insert(unit.end(), static_cast<size_t>(c), corners[2]);
        Units units = others;
        units.push_back(std::move(unit));
        tables.push_back(SealUnits(NumbersDomain(), units));
      }
    }
  }
  return tables;
}

const std::vector<Units> kOthers = {{}, {{{1, 4, 6, 1}}, {{0, 2, 5, 2}}}};

Sensitivity LargestMoveOfErrors(const UnitBound& unit, const std::vector<IntegerMarginal>& estimates) {
  Sensitivity largest;
  for (const Units& others : kOthers) {
    std::vector<std::vector<int64_t>> errors;
    for (const SealedTableHandle& table : CornerTables(others, unit.max_records))
      errors.push_back(ExactErrors(*table, NumbersDomain(), estimates).value());
    for (const auto& [one, other] : NeighboursAmong(errors.size(), unit.relation))
      largest = Largest(largest, ChangeBetween(errors[one], errors[other]));
  }
  return largest;
}

TEST(ExactErrors, MoveByTheirSensitivityInEveryNorm) {
  for (const UnitBound& unit : kUnits) {
    for (const std::vector<IntegerMarginal>& list : kLists)
      EXPECT_EQ(LargestMoveOfErrors(unit, list), ErrorsSensitivity(unit, std::ssize(list)).value());
  }
}

TEST(ExactErrors, OfAnyEstimateMoveByNoMore) {
  const std::vector<IntegerMarginal> estimates = {
      {{kRegionColumn}, {1, 1}}, {{kRegionColumn}, {0, 2}}, {{kAgeColumn}, {1, 0, 2, 0, 1}}};
  for (const UnitBound& unit : kUnits) {
    const Sensitivity allowed = ErrorsSensitivity(unit, 3).value();
    EXPECT_EQ(Largest(LargestMoveOfErrors(unit, estimates), allowed), allowed);
  }
}

struct LossFound {
  bool exceeds = false;
  bool reaches = false;

  void Compare(const Interval& loss, const Interval& price) {
    exceeds = exceeds || loss.CertainlyAbove(price) || (-loss).CertainlyAbove(price);
    reaches = reaches || !price.CertainlyAbove(Max(loss, -loss));
  }
};

// Laplace noise of scale `l1`, sold for an epsilon of 1, on every pair of neighbours: of errors far above and
// far below, where its loss is largest.
LossFound LossOfLaplace(const UnitBound& unit, const std::vector<IntegerMarginal>& list, int64_t l1) {
  LossFound found;
  for (const Units& others : kOthers) {
    const std::vector<SealedTableHandle> tables = CornerTables(others, unit.max_records);
    for (const int64_t far : {-(int64_t{1} << 40), int64_t{1} << 40}) {
      const ErrorsDraw draw{
          list, {Mechanism::kDiscreteLaplace, {l1, 1}}, std::vector<int64_t>(list.size(), far)};
      std::vector<Interval> logs;
      for (const SealedTableHandle& table : tables)
        logs.push_back(LogProbability(draw, *table, NumbersDomain(), unit).value());
      for (const auto& [one, other] : NeighboursAmong(tables.size(), unit.relation))
        found.Compare(logs[one] - logs[other], Interval::Of(kOne));
    }
  }
  return found;
}

// Gaussian noise of sigma^2 = 2, sold for rho = l2_squared / 4. The loss of noise z on neighbours that differ
// by d is (d^2 + 2 z.d) / (2 sigma^2), at most rho + |z| sqrt(2 rho) / sigma; z is taken along d, where it is
// largest.
LossFound LossOfGaussian(const UnitBound& unit, const std::vector<IntegerMarginal>& list,
                         int64_t l2_squared) {
  constexpr int64_t kSteps = 1000;
  const NoiseSpec noise{Mechanism::kDiscreteGaussian, {2, 1}};
  const Interval rho = Interval(l2_squared) / Interval(4);
  const std::vector<SealedTableHandle> tables = CornerTables({}, unit.max_records);
  LossFound found;
  for (const auto& [one, other] : NeighboursAmong(tables.size(), unit.relation)) {
    const std::vector<int64_t> here = ExactErrors(*tables[one], NumbersDomain(), list).value();
    const std::vector<int64_t> there = ExactErrors(*tables[other], NumbersDomain(), list).value();
    ErrorsDraw draw{list, noise, here};
    int64_t squared_noise = 0;
    for (size_t i = 0; i < here.size(); ++i) {
      const int64_t z = kSteps * (here[i] - there[i]);
      draw.values[i] += z;
      squared_noise += z * z;
    }
    const Interval loss = LogProbability(draw, *tables[one], NumbersDomain(), unit).value() -
                          LogProbability(draw, *tables[other], NumbersDomain(), unit).value();
    found.Compare(loss, rho + Sqrt(rho * Interval(squared_noise)));
  }
  return found;
}

TEST(ExactRatioOfErrors, LosesWhatTheMeterTakesAndReachesIt) {
  for (const UnitBound& unit : kUnits) {
    for (const std::vector<IntegerMarginal>& list : kLists) {
      const Sensitivity sensitivity = ErrorsSensitivity(unit, std::ssize(list)).value();
      const LossFound laplace = LossOfLaplace(unit, list, sensitivity.l1);
      EXPECT_FALSE(laplace.exceeds);
      EXPECT_TRUE(laplace.reaches) << "the price is higher than it need be";
      const LossFound gaussian = LossOfGaussian(unit, list, sensitivity.l2_squared);
      EXPECT_FALSE(gaussian.exceeds);
      EXPECT_TRUE(gaussian.reaches) << "the price is higher than it need be";
    }
  }
}

TEST(ExactRatioOfErrorsCanary, TheSensitivityOfOneErrorForTheWholeListIsCaught) {
  for (const UnitBound& unit : kUnits) {
    const Sensitivity broken = ErrorsSensitivity(unit, 1).value();
    EXPECT_TRUE(LossOfLaplace(unit, kExtreme, broken.l1).exceeds);
    EXPECT_TRUE(LossOfGaussian(unit, kExtreme, broken.l2_squared).exceeds);
  }
}

TEST(ExactRatioOfErrorsCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  for (const size_t i : {0, 1}) {
    for (const std::vector<IntegerMarginal>& list : kLists) {
      const Sensitivity broken = ErrorsSensitivity(kUnits[i], std::ssize(list)).value();
      EXPECT_TRUE(LossOfLaplace(kUnits[i + 2], list, broken.l1).exceeds);
      EXPECT_TRUE(LossOfGaussian(kUnits[i + 2], list, broken.l2_squared).exceeds);
    }
  }
}

// 2 m^2 is what the counts of a marginal move by in squared L2; its error moves by 2 m, (2 m)^2.
TEST(ExactRatioOfErrorsCanary, TheSquaredSensitivityOfCountsUsedForErrorsIsCaught) {
  for (const size_t i : {2, 3}) {
    const Sensitivity broken = MarginalsSensitivity(kUnits[i], 3).value();
    EXPECT_TRUE(LossOfGaussian(kUnits[i], kExtreme, broken.l2_squared).exceeds);
  }
}

TEST(ExactRatioOfErrorsCanary, TheRecordsOfAPersonForgottenAreCaught) {
  for (const size_t i : {0, 2})
    EXPECT_TRUE(LossOfLaplace(kUnits[i + 1], kExtreme, ErrorsSensitivity(kUnits[i], 3)->l1).exceeds);
}

}  // namespace
}  // namespace curator::dp
