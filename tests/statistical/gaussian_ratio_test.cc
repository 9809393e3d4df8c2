// Layer 1 of the audit, discrete Gaussian counts: exact Renyi divergences of the kernel's draws on
// neighbouring tables stay below alpha rho, and the loss of each single draw stays below the largest that its
// distance from the counts allows. The price is the rho that the meter took.
#include <gtest/gtest.h>

#include "dp/accounting/rule.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/neighbours.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

using dp::AttributeSet;
using dp::Interval;
using dp::NeighbourRelation;
using dp::NoiseSpec;
using dp::UnitBound;

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplacedRecord{NeighbourRelation::kReplaceOne, 1};
const std::vector<UnitBound> kUnits = {
    kRecord, {NeighbourRelation::kAddRemove, 3}, kReplacedRecord, {NeighbourRelation::kReplaceOne, 5}};
const std::vector<AttributeSet> kOneSet = {{0, 1}};
const std::vector<AttributeSet> kFourSets = {{0}, {1}, {2}, {0, 1, 2}};

const dp::Domain& SmallDomain() {
  static const dp::Domain domain = dp::CodedDomain({3, 2, 2});
  return domain;
}

NoiseSpec Gaussian(dp::Rational sigma_squared) {
  return {dp::Mechanism::kDiscreteGaussian, dp::Reduced(sigma_squared)};
}

Interval RhoOf(const dp::Event& event) {
  const dp::RuleSpec zcdp{.kind = dp::RuleKind::kZcdp,
                          .epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne),
                          .delta = dp::Delta(1),
                          .order = {},
                          .delta_slack = {}};
  return Interval::Of(dp::Rho(dp::CostOf(zcdp, event).value()[0].amount));
}

dp::Event PriceFor(const UnitBound& unit, const std::vector<AttributeSet>& sets, const NoiseSpec& noise) {
  return dp::NoiseEvent(noise, dp::MarginalsSensitivity(unit, static_cast<int64_t>(sets.size())).value());
}

// What the kernel drew for `sets`, and the exact counts themselves as if no noise had come up.
std::vector<dp::CountsDraw> DrawsOf(const Neighbours& pair, const UnitBound& unit,
                                    const std::vector<AttributeSet>& sets, const NoiseSpec& noise) {
  constexpr int kTimes = 4;
  seeded::SeededBits bits(AuditSeed(21));
  dp::Kernel door(pair.table, SmallDomain(), unit, dp::Meter({{PriceFor(unit, sets, noise), kTimes}}), bits);
  dp::Transcript transcript;
  dp::RecordingQueries kernel(door, transcript);
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(kernel.NoisyCounts(sets, noise).ok());
  std::vector<dp::CountsDraw> draws;
  for (const dp::Draw& draw : transcript) draws.push_back(std::get<dp::CountsDraw>(draw));
  draws.push_back({sets, noise, dp::CountMarginals(*pair.table, SmallDomain(), sets).value()});
  return draws;
}

// |noise|^2 of a draw, its squared distance from the counts of the table.
Interval SquaredNoise(const dp::CountsDraw& draw, const dp::SealedTable& table) {
  const auto counts = dp::CountMarginals(table, SmallDomain(), draw.marginals).value();
  int64_t squares = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    for (size_t cell = 0; cell < counts[i].size(); ++cell) {
      const int64_t noise = draw.values[i][cell] - counts[i][cell];
      squares += noise * noise;
    }
  }
  return Interval(squares);
}

struct Finding {
  bool exceeds = false;
  bool reaches = false;
};

// ln P - ln P' = (|d|^2 + 2 z.d) / (2 sigma^2) for noise z and neighbours that differ by d. With
// rho = |d|^2 / (2 sigma^2) that is at most rho + |z| sqrt(2 rho) / sigma in magnitude (Cauchy-Schwarz).
Finding AuditLosses(const UnitBound& unit, const std::vector<AttributeSet>& sets, const NoiseSpec& noise,
                    const dp::Event& priced) {
  const Interval rho = RhoOf(priced);
  const Interval slope = Sqrt(Interval(2) * rho / Interval::Of(noise.parameter));
  Finding finding;
  for (const Neighbours& pair : NeighboursOf(SmallDomain(), unit, 12, 20)) {
    for (const dp::CountsDraw& draw : DrawsOf(pair, unit, sets, noise)) {
      const Interval loss = dp::LogProbability(draw, *pair.table, SmallDomain(), unit).value() -
                            dp::LogProbability(draw, *pair.neighbour, SmallDomain(), unit).value();
      const Interval bound = rho + slope * Sqrt(SquaredNoise(draw, *pair.table));
      if (loss.CertainlyAbove(bound) || (-loss).CertainlyAbove(bound)) finding.exceeds = true;
      if (!bound.CertainlyAbove(loss)) finding.reaches = true;
    }
  }
  return finding;
}

TEST(ExactGaussianRatio, NoDrawLosesMoreThanItsDistanceAllowsAndTheBoundIsReached) {
  for (const UnitBound& unit : kUnits) {
    for (const auto& sets : {kOneSet, kFourSets}) {
      const NoiseSpec noise = Gaussian({2, 1});  // prices are then not rounded
      const Finding finding = AuditLosses(unit, sets, noise, PriceFor(unit, sets, noise));
      EXPECT_FALSE(finding.exceeds);
      EXPECT_TRUE(finding.reaches) << "the price is higher than it need be";
    }
  }
}

TEST(ExactGaussianRatioCanary, RhoNotSplitOverTheMarginalsIsCaught) {
  const NoiseSpec noise = Gaussian({2, 1});
  EXPECT_TRUE(AuditLosses(kRecord, kFourSets, noise, PriceFor(kRecord, kOneSet, noise)).exceeds);
}

TEST(ExactGaussianRatioCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const NoiseSpec noise = Gaussian({2, 1});
  EXPECT_TRUE(AuditLosses(kReplacedRecord, kOneSet, noise, PriceFor(kRecord, kOneSet, noise)).exceeds);
}

TEST(ExactGaussianRatioCanary, SigmaScaledDownByATwentiethIsCaught) {
  const NoiseSpec drawn = Gaussian({2 * 95 * 95, 100 * 100});
  EXPECT_TRUE(AuditLosses(kRecord, kOneSet, drawn, PriceFor(kRecord, kOneSet, Gaussian({2, 1}))).exceeds);
}

// The answers to a question of two cells, each within `reach` of `centre`. A sum over them is at most the sum
// over all answers, so what exceeds a bound here truly exceeds it; at 8 sigma what is left out is below
// 1e-13.
std::vector<dp::CountsDraw> AllAnswers(const NoiseSpec& noise, int64_t centre, int64_t reach) {
  std::vector<dp::CountsDraw> answers;
  for (int64_t first = centre - reach; first <= centre + reach; ++first) {
    for (int64_t second = centre - reach; second <= centre + reach; ++second)
      answers.push_back({{{1}}, noise, {{first, second}}});
  }
  return answers;
}

// exp((alpha - 1) D_alpha) = sum over answers of P^alpha P'^(1 - alpha), against exp((alpha - 1) alpha rho).
Finding AuditRenyi(const UnitBound& unit, dp::Rational alpha, const NoiseSpec& noise,
                   const dp::Event& priced) {
  const Interval order = Interval::Of(alpha);
  const Interval bound = (order - Interval(1)) * order * RhoOf(priced);
  const Interval nearly(bound - Interval::Of(dp::Rational{1, 1'000'000'000}));
  Finding finding;
  for (const Neighbours& pair : NeighboursOf(SmallDomain(), unit, 0, 20)) {
    Interval sum(0);
    for (const dp::CountsDraw& answer : AllAnswers(noise, 3, 13)) {
      const Interval p = dp::LogProbability(answer, *pair.table, SmallDomain(), unit).value();
      const Interval q = dp::LogProbability(answer, *pair.neighbour, SmallDomain(), unit).value();
      sum = sum + Exp(order * p + (Interval(1) - order) * q);
    }
    if (Log(sum).CertainlyAbove(bound)) finding.exceeds = true;
    if (Log(sum).CertainlyAbove(nearly)) finding.reaches = true;
  }
  return finding;
}

const std::vector<AttributeSet> kTwoCells = {{1}};

TEST(ExactGaussianRenyi, DivergencesStayBelowAlphaRhoAndReachItAtWholeOrders) {
  for (const UnitBound& unit : {kRecord, kReplacedRecord}) {
    const NoiseSpec noise = Gaussian({1, 1});
    const dp::Event price = PriceFor(unit, kTwoCells, noise);
    for (const dp::Rational order : {dp::Rational{3, 2}, dp::Rational{2, 1}, dp::Rational{3, 1}}) {
      const Finding finding = AuditRenyi(unit, order, noise, price);
      EXPECT_FALSE(finding.exceeds);
      if (order.denominator == 1) {
        EXPECT_TRUE(finding.reaches);
      }
    }
  }
}

TEST(ExactGaussianRenyiCanary, SigmaScaledDownByATwentiethIsCaught) {
  const dp::Event price = PriceFor(kRecord, kTwoCells, Gaussian({1, 1}));
  EXPECT_TRUE(AuditRenyi(kRecord, {2, 1}, Gaussian({95 * 95, 100 * 100}), price).exceeds);
}

TEST(ExactGaussianRenyiCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const NoiseSpec noise = Gaussian({1, 1});
  EXPECT_TRUE(AuditRenyi(kReplacedRecord, {2, 1}, noise, PriceFor(kRecord, kTwoCells, noise)).exceeds);
}

}  // namespace
}  // namespace curator::statistics
