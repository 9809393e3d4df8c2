// Layer 1 of the audit: on neighbouring tables, the exact log-probabilities of what the kernel draws differ
// by no more than the price that its meter took. No false alarms: nothing here is estimated.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>

#include "dp/accounting/rule.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/likelihood.h"
#include "dp/workload/sensitivity.h"
#include "dp/workload/testing_domain.h"
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
const std::vector<AttributeSet> kOneSet = {{0, 2}};
const std::vector<AttributeSet> kFourSets = {{0}, {1}, {0, 1}, {0, 1, 2}};

const dp::Domain& SmallDomain() {
  static const dp::Domain domain = dp::CodedDomain({3, 2, 4});
  return domain;
}

// ln P(draw | table); none where the draw is impossible on that table.
using Likelihood = std::function<std::optional<Interval>(const dp::Draw&, const dp::SealedTable&)>;

Likelihood LikelihoodFor(const UnitBound& unit) {
  return [unit](const dp::Draw& draw, const dp::SealedTable& table) {
    return dp::LogProbability(draw, table, SmallDomain(), unit).value();
  };
}

// What an event costs under the pure rule, as a bound on |ln P - ln P'|.
Interval PureLossOf(const dp::Event& event) {
  const dp::RuleSpec pure{
      .kind = dp::RuleKind::kPure, .epsilon = dp::Epsilon(1), .delta = {}, .order = {}, .delta_slack = {}};
  return Interval::Of(dp::Epsilon(dp::CostOf(pure, event).value()[0].amount));
}

Interval Magnitude(const Interval& value) {
  return Max(value, -value);
}

// The loss of one draw on one pair: |ln P(draw | table) - ln P(draw | neighbour)|; none when infinite.
std::optional<Interval> LossOf(const dp::Draw& draw, const Neighbours& pair, const Likelihood& likelihood) {
  const std::optional<Interval> one = likelihood(draw, *pair.table);
  const std::optional<Interval> other = likelihood(draw, *pair.neighbour);
  if (!one || !other) return std::nullopt;
  return Magnitude(*one - *other);
}

// Draws of `sets` on the pair's table: what the kernel drew, and answers far above and far below the counts
// of the first and of the last cells, where the loss of Laplace noise is largest.
std::vector<dp::Draw> CountsDraws(const Neighbours& pair, const UnitBound& unit,
                                  const std::vector<AttributeSet>& sets, const NoiseSpec& noise) {
  constexpr int kTimes = 4;
  const auto sensitivity = dp::MarginalsSensitivity(unit, static_cast<int64_t>(sets.size())).value();
  seeded::SeededBits bits(sets.size());
  dp::Kernel kernel(pair.table, SmallDomain(), unit,
                    dp::Meter({{dp::NoiseEvent(noise, sensitivity), kTimes}}), bits);
  dp::Transcript transcript;
  kernel.RecordTo(transcript);
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(kernel.NoisyCounts(sets, noise).ok());
  constexpr int64_t kFar = int64_t{1} << 40;
  for (const int64_t first_half : {kFar, -kFar}) {
    for (const int64_t second_half : {kFar, -kFar}) {
      dp::CountsDraw far = std::get<dp::CountsDraw>(transcript[0]);
      for (auto& marginal : far.values) {
        for (size_t cell = 0; cell < marginal.size(); ++cell)
          marginal[cell] += 2 * cell < marginal.size() ? first_half : second_half;
      }
      transcript.emplace_back(std::move(far));
    }
  }
  return transcript;
}

struct Audit {
  UnitBound unit;  // the neighbours
  std::vector<AttributeSet> sets;
  NoiseSpec noise;  // as it is drawn
  dp::Event priced;
};

struct Finding {
  bool exceeds = false;  // some loss is above the price
  bool reaches = false;  // some loss is the price: it is not too high either
  std::string worst;     // the pair that exceeds
};

Finding AuditPureCounts(const Audit& audit, const Likelihood& likelihood) {
  const Interval price = PureLossOf(audit.priced);
  Finding finding;
  for (const Neighbours& pair : NeighboursOf(SmallDomain(), audit.unit, 12, 1)) {
    for (const dp::Draw& draw : CountsDraws(pair, audit.unit, audit.sets, audit.noise)) {
      const std::optional<Interval> loss = LossOf(draw, pair, likelihood);
      if (!loss || loss->CertainlyAbove(price)) {
        finding.exceeds = true;
        finding.worst = pair.what;
      } else if (!price.CertainlyAbove(*loss)) {
        finding.reaches = true;
      }
    }
  }
  return finding;
}

dp::Sensitivity SensitivityOf(const UnitBound& unit, const std::vector<AttributeSet>& sets) {
  return dp::MarginalsSensitivity(unit, static_cast<int64_t>(sets.size())).value();
}

// Epsilons whose noise scales are integers for every sensitivity here, so that prices are not rounded.
const std::vector<dp::Epsilon> kEpsilons = {dp::Epsilon(dp::kEpsilonUnitsPerOne / 8),
                                            dp::Epsilon(dp::kEpsilonUnitsPerOne),
                                            dp::Epsilon(dp::kEpsilonUnitsPerOne * 8)};

TEST(ExactRatio, NoisyCountsLoseWhatTheMeterTookAndReachIt) {
  for (const UnitBound& unit : kUnits) {
    for (const auto& sets : {kOneSet, kFourSets}) {
      for (const dp::Epsilon epsilon : kEpsilons) {
        const auto sensitivity = SensitivityOf(unit, sets);
        const NoiseSpec noise = dp::LaplaceNoiseFor(sensitivity, epsilon).value();
        const Finding finding =
            AuditPureCounts({unit, sets, noise, dp::NoiseEvent(noise, sensitivity)}, LikelihoodFor(unit));
        EXPECT_FALSE(finding.exceeds) << finding.worst;
        EXPECT_TRUE(finding.reaches) << "the price is higher than it need be";
      }
    }
  }
}

TEST(ExactRatio, NoisyRecordCountsLoseWhatTheMeterTookAndReachIt) {
  for (const UnitBound& unit : kUnits) {
    const auto sensitivity = dp::RecordCountSensitivity(unit).value();
    const NoiseSpec noise = dp::LaplaceNoiseFor(sensitivity, dp::Epsilon(dp::kEpsilonUnitsPerOne)).value();
    const dp::Event event = dp::NoiseEvent(noise, sensitivity);
    const Interval price = PureLossOf(event);
    bool reaches = false;
    for (const Neighbours& pair : NeighboursOf(SmallDomain(), unit, 12, 2)) {
      seeded::SeededBits bits(3);
      dp::Kernel kernel(pair.table, SmallDomain(), unit, dp::Meter({{event, 1}}), bits);
      dp::Transcript draws;
      kernel.RecordTo(draws);
      ASSERT_TRUE(kernel.NoisyRecordCount(noise).ok());
      draws.emplace_back(dp::RecordCountDraw{noise, 1'000'000});
      draws.emplace_back(dp::RecordCountDraw{noise, -1'000'000});
      for (const dp::Draw& draw : draws) {
        const std::optional<Interval> loss = LossOf(draw, pair, LikelihoodFor(unit));
        EXPECT_FALSE(loss->CertainlyAbove(price)) << pair.what;
        reaches = reaches || !price.CertainlyAbove(*loss);
      }
    }
    EXPECT_TRUE(reaches);
  }
}

// The broken variants of a noisy count: each is drawn, or priced, as the name says.

dp::Event LaplacePrice(const NoiseSpec& noise, int64_t l1) {
  return {dp::DiscreteLaplaceEvent{.scale = noise.parameter, .l1_sensitivity = l1, .linf_sensitivity = 1}};
}

NoiseSpec Laplace(dp::Rational scale) {
  return {dp::Mechanism::kDiscreteLaplace, dp::Reduced(scale)};
}

TEST(ExactRatioCanary, NoiseScaledDownByATwentiethIsCaught) {
  EXPECT_TRUE(AuditPureCounts({kRecord, kOneSet, Laplace({95, 100}), LaplacePrice(Laplace({1, 1}), 1)},
                              LikelihoodFor(kRecord))
                  .exceeds);
}

TEST(ExactRatioCanary, HalfTheNoiseScaleIsCaught) {
  EXPECT_TRUE(AuditPureCounts({kRecord, kOneSet, Laplace({1, 2}), LaplacePrice(Laplace({1, 1}), 1)},
                              LikelihoodFor(kRecord))
                  .exceeds);
}

TEST(ExactRatioCanary, EpsilonNotSplitOverTheMarginalsIsCaught) {
  const NoiseSpec noise = Laplace({1, 1});
  EXPECT_TRUE(
      AuditPureCounts({kRecord, kFourSets, noise, LaplacePrice(noise, 1)}, LikelihoodFor(kRecord)).exceeds);
}

TEST(ExactRatioCanary, L2SensitivityUsedForL1IsCaught) {
  const NoiseSpec noise = Laplace({1, 1});  // four marginals: L1 is 4, L2 is 2
  EXPECT_TRUE(
      AuditPureCounts({kRecord, kFourSets, noise, LaplacePrice(noise, 2)}, LikelihoodFor(kRecord)).exceeds);
}

TEST(ExactRatioCanary, AddRemoveSensitivityUsedUnderReplacementIsCaught) {
  const NoiseSpec noise = Laplace({1, 1});
  EXPECT_TRUE(AuditPureCounts(
                  {kReplacedRecord, kOneSet, noise, dp::NoiseEvent(noise, SensitivityOf(kRecord, kOneSet))},
                  LikelihoodFor(kReplacedRecord))
                  .exceeds);
}

TEST(ExactRatioCanary, APersonsBoundForgottenIsCaught) {
  const UnitBound person{NeighbourRelation::kAddRemove, 3};
  const NoiseSpec noise = Laplace({1, 1});
  EXPECT_TRUE(
      AuditPureCounts({person, kOneSet, noise, dp::NoiseEvent(noise, SensitivityOf(kRecord, kOneSet))},
                      LikelihoodFor(person))
          .exceeds);
}

// A release whose first cell is the exact count: where the neighbour counts otherwise, it is impossible.
TEST(ExactRatioCanary, OneCellWithoutNoiseIsCaught) {
  const NoiseSpec noise = Laplace({1, 1});
  const auto with_exact_first_cell = [](const dp::Draw& draw, const dp::SealedTable& table) {
    dp::CountsDraw exact = std::get<dp::CountsDraw>(draw);
    exact.values[0][0] = dp::CountMarginal(table, SmallDomain(), exact.marginals[0]).value()[0];
    return exact;
  };
  const std::vector<Neighbours> pairs = NeighboursOf(SmallDomain(), kRecord, 0, 1);
  int impossible = 0;
  for (const Neighbours& pair : pairs) {
    for (const dp::Draw& drawn : CountsDraws(pair, kRecord, kOneSet, noise)) {
      const dp::CountsDraw released = with_exact_first_cell(drawn, *pair.table);
      const Likelihood broken = [&](const dp::Draw& draw,
                                    const dp::SealedTable& table) -> std::optional<Interval> {
        if (with_exact_first_cell(draw, table) != std::get<dp::CountsDraw>(draw)) return std::nullopt;
        return LikelihoodFor(kRecord)(draw, table);
      };
      impossible += LossOf(released, pair, broken) ? 0 : 1;
    }
  }
  EXPECT_GT(impossible, 0);
}

}  // namespace
}  // namespace curator::statistics
