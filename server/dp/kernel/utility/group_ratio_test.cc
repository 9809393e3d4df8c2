// Exact audits of questions about groups: on small grids, the whole output distribution on neighbours, for
// records and for groups, under both relations. Broken variants go through the same check.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/likelihood.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/kernel/utility/testing_groups.h"
#include "dp/kernel/utility/utility_scores.h"
#include "dp/noise/drbg.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
constexpr uint32_t kCodes = 5;

const Domain& Responses() {
  static const Domain domain = CodedDomain({kCodes});
  return domain;
}

enum class Protected { kRecord, kGroup };

struct Neighbours {
  CodesOfGroups one;
  CodesOfGroups other;
};

RowOwner OwnerFor(Protected unit) {
  return unit == Protected::kGroup ? RowOwner::kUnit : RowOwner::kItselfInGroup;
}

UnitBound BoundFor(Protected unit, NeighbourRelation relation) {
  return {relation, unit == Protected::kGroup ? kNoRecordBound : 1};
}

Neighbours NeighboursInOneGroup(CodesOfGroups others, bool replaces, std::mt19937_64& random) {
  Neighbours pair{others, std::move(others)};
  pair.one.push_back(RandomGroup(40, kCodes, random));
  if (replaces) pair.other.push_back(RandomGroup(40, kCodes, random));
  return pair;
}

// A record enters a group, or founds one; where it replaces another, that leaves some group.
Neighbours NeighboursInOneRecord(CodesOfGroups others, bool replaces, std::mt19937_64& random) {
  others.emplace_back();
  Neighbours pair{others, std::move(others)};
  pair.one[random() % pair.one.size()].push_back(static_cast<uint32_t>(random() % kCodes));
  if (replaces) pair.other[random() % pair.other.size()].push_back(static_cast<uint32_t>(random() % kCodes));
  return pair;
}

std::vector<Neighbours> RandomNeighbours(Protected unit, NeighbourRelation relation, int count) {
  std::mt19937_64 random(11);
  const bool replaces = relation == NeighbourRelation::kReplaceOne;
  std::vector<Neighbours> pairs;
  // From nothing to the most extreme there is, at either bound, or from one to the other.
  const size_t members = unit == Protected::kGroup ? 1000 : 1;
  const CodesOfGroups all_first = {std::vector<uint32_t>(members, 0)};
  const CodesOfGroups all_last = {std::vector<uint32_t>(members, kCodes - 1)};
  pairs.push_back({all_first, replaces ? all_last : CodesOfGroups{}});
  pairs.push_back({all_last, replaces ? all_first : CodesOfGroups{}});
  for (int i = 0; i < count; ++i) {
    CodesOfGroups others(random() % 5);
    for (auto& group : others) group = RandomGroup(40, kCodes, random);
    pairs.push_back(unit == Protected::kGroup ? NeighboursInOneGroup(std::move(others), replaces, random)
                                              : NeighboursInOneRecord(std::move(others), replaces, random));
  }
  return pairs;
}

// What a mechanism says of a table: scores in steps, and the factor of the exponential mechanism.
struct Mechanism {
  std::function<std::vector<int64_t>(const CodesOfGroups&)> scores;
  Rational factor;
};

// The largest loss of any answer and the largest span of all losses of one pair, in units of the price.
struct Losses {
  bool loss_exceeds = false;
  bool span_exceeds = false;
  double largest_span = 0;
};

Losses Audit(const Mechanism& mechanism, const std::vector<Neighbours>& pairs) {
  const Interval price = Interval::Of(kOne);
  Losses worst;
  for (const Neighbours& pair : pairs) {
    const std::vector<int64_t> one = mechanism.scores(pair.one);
    const std::vector<int64_t> other = mechanism.scores(pair.other);
    // ln P - ln P' = factor d_j - c: the span is that of d, and c follows from any candidate.
    size_t least = 0;
    size_t most = 0;
    for (size_t j = 0; j < one.size(); ++j) {
      if (one[j] - other[j] < one[least] - other[least]) least = j;
      if (one[j] - other[j] > one[most] - other[most]) most = j;
    }
    const auto loss = [&](size_t j) {
      return SelectionLogProbability(one, mechanism.factor, j) -
             SelectionLogProbability(other, mechanism.factor, j);
    };
    const Interval high = loss(most);
    const Interval low = loss(least);
    worst.loss_exceeds = worst.loss_exceeds || high.CertainlyAbove(price) || (-low).CertainlyAbove(price);
    worst.span_exceeds = worst.span_exceeds || (high - low).CertainlyAbove(price);
    worst.largest_span = std::max(worst.largest_span, (high - low).Upper());
  }
  return worst;
}

Mechanism Sound(const Utility& utility, Protected unit, NeighbourRelation relation, Epsilon drawn = kOne) {
  const UnitBound bound = BoundFor(unit, relation);
  const LatticeUtility lattice = ToLattice(utility, {}, Responses(), bound).value();
  return {.scores =
              [=](const CodesOfGroups& groups) {
                const SealedTableHandle table = SealGroups(Responses(), groups, OwnerFor(unit));
                EXPECT_TRUE(CheckGrouping(lattice, *table, bound).ok());
                return ScoresOf(lattice, *table, Responses()).value();
              },
          .factor = FactorForRange(drawn, lattice.range)};
}

const GroupModel kModels[] = {SmallNormalModel(), SmallBinomialModel()};
constexpr NeighbourRelation kRelations[] = {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne};

std::vector<Utility> QuestionsOnRecords() {
  std::vector<Utility> all;
  for (const GroupModel& model : kModels) {
    for (const RecordWeights weights : {RecordWeights::kOne, RecordWeights::kScalar, RecordWeights::kVector})
      all.push_back(RecordsInGroups{.attribute = 0, .model = model, .records = weights, .width = 1.2});
    all.push_back(ClippedGroups{.attribute = 0,
                                .model = model,
                                .records = RecordWeights::kVector,
                                .width = 0.8,
                                .group = GroupWeight::kOne,
                                .clip = 2,
                                .role = GroupRole::kAroundRecord});
  }
  return all;
}

std::vector<Utility> QuestionsOnGroups() {
  std::vector<Utility> all;
  for (const GroupModel& model : kModels) {
    for (const RecordWeights weights :
         {RecordWeights::kOne, RecordWeights::kScalar, RecordWeights::kVector}) {
      for (const GroupWeight group : {GroupWeight::kOne, GroupWeight::kOutside, GroupWeight::kInside}) {
        if (group == GroupWeight::kInside && std::holds_alternative<BinomialGroups>(model)) continue;
        all.push_back(ClippedGroups{.attribute = 0,
                                    .model = model,
                                    .records = weights,
                                    .width = 0.8,
                                    .group = group,
                                    .clip = 2,
                                    .role = GroupRole::kUnit});
      }
    }
  }
  return all;
}

TEST(ExactRatioOfGroups, OfOneRecordStaysWithinEpsilon) {
  for (const NeighbourRelation relation : kRelations) {
    const auto pairs = RandomNeighbours(Protected::kRecord, relation, 150);
    for (const Utility& utility : QuestionsOnRecords()) {
      const Losses losses = Audit(Sound(utility, Protected::kRecord, relation), pairs);
      EXPECT_FALSE(losses.loss_exceeds);
      EXPECT_FALSE(losses.span_exceeds);
    }
  }
}

TEST(ExactRatioOfGroups, OfOneGroupStaysWithinEpsilon) {
  for (const NeighbourRelation relation : kRelations) {
    const auto pairs = RandomNeighbours(Protected::kGroup, relation, 60);
    for (const Utility& utility : QuestionsOnGroups()) {
      const Losses losses = Audit(Sound(utility, Protected::kGroup, relation), pairs);
      EXPECT_FALSE(losses.loss_exceeds);
      EXPECT_FALSE(losses.span_exceeds);
    }
  }
}

TEST(ExactRatioOfGroups, SpendsNearlyAllOfItsEpsilonOnTheWorstNeighbours) {
  const auto records = RandomNeighbours(Protected::kRecord, NeighbourRelation::kAddRemove, 0);
  const RecordsInGroups vector{.attribute = 0, .model = SmallNormalModel(), .width = 1.2};
  EXPECT_GT(Audit(Sound(vector, Protected::kRecord, NeighbourRelation::kAddRemove), records).largest_span,
            0.9);
  const auto groups = RandomNeighbours(Protected::kGroup, NeighbourRelation::kAddRemove, 60);
  for (const Utility& utility : QuestionsOnGroups()) {
    EXPECT_GT(Audit(Sound(utility, Protected::kGroup, NeighbourRelation::kAddRemove), groups).largest_span,
              0.5);
  }
}

TEST(ExactRatioOfGroupsCanary, TwiceTheTemperatureIsCaught) {
  const Epsilon twice(2 * kOne.units());
  for (const NeighbourRelation relation : kRelations) {
    const auto records = RandomNeighbours(Protected::kRecord, relation, 150);
    for (const RecordWeights weights :
         {RecordWeights::kOne, RecordWeights::kScalar, RecordWeights::kVector}) {
      const RecordsInGroups utility{
          .attribute = 0, .model = SmallNormalModel(), .records = weights, .width = 1.2};
      EXPECT_TRUE(Audit(Sound(utility, Protected::kRecord, relation, twice), records).span_exceeds);
    }
    const auto groups = RandomNeighbours(Protected::kGroup, relation, 60);
    for (const Utility& utility : QuestionsOnGroups())
      EXPECT_TRUE(Audit(Sound(utility, Protected::kGroup, relation, twice), groups).span_exceeds);
  }
}

// `question`, asked of the whole table, at the price of `utility`.
Mechanism Broken(const Utility& utility, Protected unit, NeighbourRelation relation,
                 std::function<std::vector<int64_t>(const CodesOfGroups&)> scores) {
  return {.scores = std::move(scores), .factor = Sound(utility, unit, relation).factor};
}

std::vector<int64_t> UnclippedScores(const GroupModel& model, const CodesOfGroups& groups) {
  const RecordsInGroups utility{.attribute = 0, .model = model, .records = RecordWeights::kOne};
  return Sound(utility, Protected::kRecord, NeighbourRelation::kAddRemove).scores(groups);
}

TEST(ExactRatioOfGroupsCanary, AnUnclippedLikelihoodIsCaught) {
  for (const GroupModel& model : kModels) {
    const ClippedGroups clipped{.attribute = 0, .model = model, .clip = 2};
    const auto unclipped = [&](const CodesOfGroups& groups) { return UnclippedScores(model, groups); };
    const auto groups = RandomNeighbours(Protected::kGroup, NeighbourRelation::kAddRemove, 60);
    EXPECT_TRUE(Audit(Broken(clipped, Protected::kGroup, NeighbourRelation::kAddRemove, unclipped), groups)
                    .span_exceeds);
    const RecordsInGroups weighed{.attribute = 0, .model = model, .width = 1.2};
    const auto records = RandomNeighbours(Protected::kRecord, NeighbourRelation::kAddRemove, 150);
    EXPECT_TRUE(Audit(Broken(weighed, Protected::kRecord, NeighbourRelation::kAddRemove, unclipped), records)
                    .span_exceeds);
  }
}

// The likelihood of a group is no sum over its records: what record i adds depends on those before it, so
// clipping that to the width bounds nothing.
TEST(ExactRatioOfGroupsCanary, ClippingTermsRecordByRecordIsCaught) {
  constexpr double kClip = 1.2;
  const RecordsInGroups priced{.attribute = 0, .model = SmallNormalModel(), .width = kClip};
  const auto clipped_one_by_one = [&](const CodesOfGroups& groups) {
    std::vector<int64_t> scores(36);
    for (const std::vector<uint32_t>& group : groups) {
      std::vector<uint32_t> before;
      for (const uint32_t code : group) {
        const auto without = UnclippedScores(SmallNormalModel(), {before});
        before.push_back(code);
        const auto with = UnclippedScores(SmallNormalModel(), {before});
        std::vector<int64_t> added;
        for (size_t j = 0; j < scores.size(); ++j) added.push_back(with[j] - without[j]);
        const int64_t best = *std::ranges::max_element(added);
        for (size_t j = 0; j < scores.size(); ++j)
          scores[j] += std::max<int64_t>(added[j] - best, -std::llround(kClip * 0x1p20));
      }
    }
    return scores;
  };
  // The first of a group is another: all that follow are surprised by other records.
  std::vector<uint32_t> first_leaves(13, 0);
  std::vector<uint32_t> whole = first_leaves;
  whole.insert(whole.begin(), 4);
  EXPECT_TRUE(Audit(Broken(priced, Protected::kRecord, NeighbourRelation::kAddRemove, clipped_one_by_one),
                    {{{whole}, {first_leaves}}})
                  .span_exceeds);
}

// A group's weight changes with each of its records, and so what all of its records contribute.
TEST(ExactRatioOfGroupsCanary, AGroupsWeightUsedForRecordsIsCaught) {
  const RecordsInGroups priced{.attribute = 0, .model = SmallNormalModel(), .width = 1.2};
  const auto weighed_by_group = [&](const CodesOfGroups& groups) {
    std::vector<int64_t> scores(36);
    for (const std::vector<uint32_t>& group : groups) {
      const auto of_group = UnclippedScores(SmallNormalModel(), {group});
      for (size_t j = 0; j < scores.size() && !group.empty(); ++j)
        scores[j] += of_group[j] / (group.size() % 2 == 0 ? 1 : 2);
    }
    return scores;
  };
  const auto records = RandomNeighbours(Protected::kRecord, NeighbourRelation::kAddRemove, 150);
  EXPECT_TRUE(
      Audit(Broken(priced, Protected::kRecord, NeighbourRelation::kAddRemove, weighed_by_group), records)
          .span_exceeds);
}

TEST(ExactRatioOfGroupsCanary, ThePriceOfAGroupThatEntersUsedForOneThatChangesIsCaught) {
  const ClippedGroups enters{.attribute = 0, .model = SmallNormalModel(), .clip = 2};
  ClippedGroups changes = enters;
  changes.role = GroupRole::kAroundRecord;
  const auto records = RandomNeighbours(Protected::kRecord, NeighbourRelation::kAddRemove, 150);
  Mechanism mechanism = Sound(changes, Protected::kRecord, NeighbourRelation::kAddRemove);
  EXPECT_FALSE(Audit(mechanism, records).span_exceeds);
  mechanism.factor = Sound(enters, Protected::kGroup, NeighbourRelation::kAddRemove).factor;
  EXPECT_TRUE(Audit(mechanism, records).span_exceeds);
}

TEST(QuestionsOnGroups, AreRefusedOfTablesWithoutThem) {
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  const LatticeUtility on_records =
      ToLattice(RecordsInGroups{.attribute = 0, .model = SmallNormalModel()}, {}, Responses(), record)
          .value();
  const SealedTableHandle plain = SealRows(Responses(), {{0}}).value();
  const SealedTableHandle units = SealGroups(Responses(), {{0}}, RowOwner::kUnit);
  const SealedTableHandle nested = SealGroups(Responses(), {{0}}, RowOwner::kItselfInGroup);
  EXPECT_EQ(CheckGrouping(on_records, *plain, record).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CheckGrouping(on_records, *units, record).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(CheckGrouping(on_records, *nested, record).ok());
}

TEST(QuestionsOnGroups, AreDrawnThroughTheKernelWithTheirProbabilities) {
  const SealedTableHandle table = SealGroups(Responses(), {{0, 1, 4}, {2}, {3, 3}}, RowOwner::kItselfInGroup);
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  const RecordsInGroups utility{.attribute = 0, .model = SmallNormalModel(), .width = 3};
  constexpr int kDraws = 4000;
  const Epsilon ten(10 * kEpsilonUnitsPerOne);
  Drbg bits{DrawKey(DrawKey::Bytes{})};
  Kernel kernel(table, Responses(), record, Meter({{{ExponentialMechanismEvent{ten}}, kDraws}}), bits);
  std::vector<int> chosen(36);
  for (int i = 0; i < kDraws; ++i) ++chosen[kernel.SelectByUtility(utility, {}, ten).value()];
  for (size_t j = 0; j < chosen.size(); ++j) {
    const UtilityDraw draw{utility, {}, ten, j};
    const double p = std::exp(LogProbability(draw, *table, Responses(), record).value().Upper());
    // Seven standard deviations and a few draws: less than one in 10^10 by chance.
    EXPECT_NEAR(chosen[j], kDraws * p, 7 * std::sqrt(kDraws * p) + 8);
  }
}

}  // namespace
}  // namespace curator::dp
