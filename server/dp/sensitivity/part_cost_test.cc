#include "dp/sensitivity/part_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "dp/accounting/testing/rules.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

using testing::EveryRule;
using testing::Plus;
using testing::SpecOf;
using Amounts = std::vector<int64_t>;

constexpr int kParts = 4;

// Where the records lie by which two neighbouring datasets differ: how many leave and enter each part.
struct Difference {
  std::vector<int64_t> leave = std::vector<int64_t>(kParts);
  std::vector<int64_t> enter = std::vector<int64_t>(kParts);
};

// A request as the kernel would draw it: noise on marginals, a number of records, and a selection.
struct Request {
  std::vector<bool> touches = std::vector<bool>(kParts);
  int64_t marginals = 0;  // none when 0
  NoiseSpec noise;
  bool counts_records = false;
  Epsilon selection;  // none when 0
};

// What this one request costs these two datasets, from the records that leave and enter the parts it touches.
Event TrueEvent(const Request& request, const UnitBound& unit, const Difference& difference) {
  int64_t leave = 0;
  int64_t enter = 0;
  for (int part = 0; part < kParts; ++part) {
    if (!request.touches[part]) continue;
    leave += difference.leave[part];
    enter += difference.enter[part];
  }
  ComposedEvent composed;
  if (leave + enter == 0) return {composed};
  if (request.marginals > 0) {
    const int64_t k = request.marginals;
    const Sensitivity sensitivity{.l1 = k * (leave + enter),
                                  .l2_squared = k * (leave * leave + enter * enter),
                                  .linf = std::max(leave, enter)};
    composed.parts.push_back({NoiseEvent(request.noise, sensitivity), 1});
  }
  const int64_t moved = std::max(leave, enter) - std::min(leave, enter);
  if (request.counts_records && moved > 0) {
    composed.parts.push_back({NoiseEvent(request.noise, {moved, moved * moved, moved}), 1});
  }
  if (request.selection.units() > 0) {
    const int64_t most = unit.max_records * (unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1);
    const int64_t share = (request.selection.units() * (leave + enter) + most - 1) / most;
    composed.parts.push_back({{ExponentialMechanismEvent{Epsilon(share)}}, 1});
  }
  return {composed};
}

LinearDraws DrawsOf(const Request& request, const UnitBound& unit) {
  const UnitBound leaving{.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records};
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  LinearDraws draws;
  const auto add = [&](const Event& draw, const Event& removal) {
    draws.draws.push_back({draw, 1});
    draws.removals.push_back({removal, 1});
  };
  if (request.marginals > 0) {
    add(NoiseEvent(request.noise, *MarginalsSensitivity(unit, request.marginals)),
        NoiseEvent(request.noise, *MarginalsSensitivity(leaving, request.marginals)));
  }
  if (request.counts_records) {
    add(NoiseEvent(request.noise, *RecordCountSensitivity(unit)),
        NoiseEvent(request.noise, *RecordCountSensitivity(unit)));
  }
  if (request.selection.units() > 0) {
    const Epsilon range = request.selection;
    add({ExponentialMechanismEvent{range}},
        {ExponentialMechanismEvent{replaces ? Epsilon((range.units() + 1) / 2) : range}});
  }
  return draws;
}

Amounts AmountsOf(const std::vector<CounterAmount>& counters) {
  Amounts amounts;
  for (const CounterAmount& counter : counters) amounts.push_back(counter.amount);
  return amounts;
}

// How a request is posted to the parts it touches.
using Posting = std::function<Amounts(const RuleSpec&, const UnitBound&, const LinearDraws&)>;

Amounts PostLinear(const RuleSpec& rule, const UnitBound& unit, const LinearDraws& draws) {
  return AmountsOf(*PartCostOf(rule, unit, {ComposedEvent{draws.draws}}, draws));
}
Amounts PostAnything(const RuleSpec& rule, const UnitBound& unit, const LinearDraws& draws) {
  return AmountsOf(*PartCostOf(rule, unit, {ComposedEvent{draws.draws}}, std::nullopt));
}

// By how much, in the worst counter, what two datasets have lost exceeds the largest account of a part.
// `posted`: the parts that are posted to, where a request touches them.
int64_t Excess(const RuleSpec& rule, const UnitBound& unit, const Difference& difference,
               const std::vector<Request>& requests, const Posting& post,
               const std::vector<bool>& posted = std::vector<bool>(kParts, true)) {
  const Amounts none(AmountsOf(*LimitsOf(rule)).size(), 0);
  std::vector<Amounts> spent(kParts, none);
  Amounts lost = none;
  int64_t roundings = 0;
  for (const Request& request : requests) {
    const LinearDraws draws = DrawsOf(request, unit);
    roundings += static_cast<int64_t>(draws.draws.size());
    lost = Plus(lost, AmountsOf(*CostOf(rule, TrueEvent(request, unit, difference))));
    const Amounts amounts = post(rule, unit, draws);
    for (int part = 0; part < kParts; ++part) {
      if (request.touches[part] && posted[part]) spent[part] = Plus(spent[part], amounts);
    }
  }
  int64_t excess = 0;
  for (size_t counter = 0; counter < lost.size(); ++counter) {
    int64_t largest = 0;
    for (const Amounts& of_part : spent) largest = std::max(largest, of_part[counter]);
    excess = std::max(excess, lost[counter] - largest - roundings);  // every cost was rounded up once more
  }
  return excess;
}

Difference RandomDifference(const UnitBound& unit, std::mt19937& random) {
  Difference difference;
  const auto scatter = [&](std::vector<int64_t>& parts) {
    int64_t records = random() % (unit.max_records + 1);
    while (records-- > 0) ++parts[random() % kParts];
  };
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  const bool leaves = random() % 2 == 0;
  if (replaces || leaves) scatter(difference.leave);
  if (replaces || !leaves) scatter(difference.enter);
  return difference;
}

Request RandomRequest(RuleKind rule, std::mt19937& random) {
  Request request;
  for (int part = 0; part < kParts; ++part) request.touches[part] = random() % 2 == 0;
  const int kind = random() % 4;
  if (kind != 1) request.marginals = 1 + random() % 3;
  request.counts_records = kind == 1 || kind == 3;
  if (kind >= 2) request.selection = Epsilon(1'000'000'000 + random() % 2'000'000'000'000);
  request.noise.mechanism = Mechanism::kDiscreteLaplace;
  if (rule == RuleKind::kZcdp || rule == RuleKind::kRdp) {
    if (random() % 2 == 0) request.noise.mechanism = Mechanism::kDiscreteGaussian;
  }
  request.noise.parameter = {static_cast<int64_t>(1 + random() % 40), static_cast<int64_t>(1 + random() % 3)};
  return request;
}

const UnitBound kAddRemoveOne{NeighbourRelation::kAddRemove, 1};
const UnitBound kAddRemoveThree{NeighbourRelation::kAddRemove, 3};
const UnitBound kReplaceOne{NeighbourRelation::kReplaceOne, 1};
const UnitBound kReplaceThree{NeighbourRelation::kReplaceOne, 3};

TEST(PartCost, NoSequenceOfRequestsCostsTwoNeighboursMoreThanTheLargestAccountOfAPart) {
  std::mt19937 random(20261121);
  for (const RuleSpec& rule : EveryRule()) {
    for (const UnitBound& unit : {kAddRemoveOne, kAddRemoveThree, kReplaceOne, kReplaceThree}) {
      for (int run = 0; run < 60; ++run) {
        const Difference difference = RandomDifference(unit, random);
        std::vector<Request> requests;
        for (size_t i = 1 + random() % 6; i > 0; --i) requests.push_back(RandomRequest(rule.kind, random));
        EXPECT_LE(Excess(rule, unit, difference, requests, PostLinear), 0) << RuleName(rule.kind);
        EXPECT_LE(Excess(rule, unit, difference, requests, PostAnything), 0) << RuleName(rule.kind);
      }
    }
  }
}

// One request on the number of records of each of two parts, between which a record moves.
std::vector<Request> CountEachOf(std::vector<int> parts) {
  std::vector<Request> requests;
  for (const int part : parts) {
    Request request;
    request.touches[part] = true;
    request.counts_records = true;
    request.noise = {Mechanism::kDiscreteLaplace, {4, 1}};
    requests.push_back(request);
  }
  return requests;
}

Difference Moved(int from, int to) {
  Difference difference;
  difference.leave[from] = 1;
  difference.enter[to] = 1;
  return difference;
}

TEST(PartCost, ARecordThatMovesBetweenPartsIsPaidForInBoth) {
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_LE(Excess(rule, kReplaceOne, Moved(0, 1), CountEachOf({0, 1}), PostLinear), 0);
  }
}

TEST(PartCostCanary, TheCostOfASubstitutionAloneIsCaught) {
  const Posting substitution_alone = [](const RuleSpec& rule, const UnitBound&, const LinearDraws& draws) {
    return AmountsOf(*CostOf(rule, {ComposedEvent{draws.draws}}));
  };
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_GT(Excess(rule, kReplaceOne, Moved(0, 1), CountEachOf({0, 1}), substitution_alone), 0);
  }
}

TEST(PartCostCanary, TheCostOfARemovalAloneIsCaught) {
  const Posting removal_alone = [](const RuleSpec& rule, const UnitBound&, const LinearDraws& draws) {
    return AmountsOf(*CostOf(rule, {ComposedEvent{draws.removals}}));
  };
  Request within;
  within.touches[0] = true;
  within.marginals = 2;
  within.noise = {Mechanism::kDiscreteLaplace, {4, 1}};
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_LE(Excess(rule, kReplaceOne, Moved(0, 0), {within}, PostLinear), 0);
    EXPECT_GT(Excess(rule, kReplaceOne, Moved(0, 0), {within}, removal_alone), 0);
  }
}

// A part that has no records in one of two neighbouring datasets may have one in the other.
TEST(PartCostCanary, PostingOnlyToPartsThatHaveRecordsIsCaught) {
  constexpr int kEmpty = 2;
  const std::vector<Request> request = CountEachOf({kEmpty});
  Difference appeared;
  appeared.enter[kEmpty] = 1;
  std::vector<bool> with_records(kParts, true);
  with_records[kEmpty] = false;
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_LE(Excess(rule, kAddRemoveOne, appeared, request, PostLinear), 0);
    EXPECT_GT(Excess(rule, kAddRemoveOne, appeared, request, PostLinear, with_records), 0);
  }
}

// As if the largest account stood for the others: the parts that are not posted to have no account of the
// loss.
TEST(PartCostCanary, PostingToOneOfThePartsThatAreTouchedIsCaught) {
  std::vector<Request> whole = CountEachOf({0});
  whole[0].touches = std::vector<bool>(kParts, true);
  const std::vector<Request> requests = {whole[0], CountEachOf({1})[0]};
  Difference left;
  left.leave[1] = 1;
  const std::vector<bool> but_the_second = {true, false, true, true};
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_LE(Excess(rule, kAddRemoveOne, left, requests, PostLinear), 0);
    EXPECT_GT(Excess(rule, kAddRemoveOne, left, requests, PostLinear, but_the_second), 0);
  }
}

// A person with up to three records in each part, instead of three in all.
TEST(PartCostCanary, ABoundThatHoldsInEachPartSeparatelyIsCaught) {
  Difference everywhere;
  for (int64_t& records : everywhere.leave) records = 3;
  Difference in_all;
  in_all.leave = {1, 1, 1, 0};
  const std::vector<Request> requests = CountEachOf({0, 1, 2, 3});
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_LE(Excess(rule, kAddRemoveThree, in_all, requests, PostLinear), 0);
    EXPECT_GT(Excess(rule, kAddRemoveThree, everywhere, requests, PostLinear), 0);
  }
}

// Posting one request's share of the parts, as if parallel composition divided a cost among them.
TEST(PartCostCanary, DividingACostAmongThePartsIsCaught) {
  std::vector<Request> whole = CountEachOf({0});
  whole[0].touches = std::vector<bool>(kParts, true);
  Difference left;
  left.leave[1] = 1;
  const Posting divided = [](const RuleSpec& rule, const UnitBound& unit, const LinearDraws& draws) {
    Amounts amounts = PostLinear(rule, unit, draws);
    for (int64_t& amount : amounts) amount /= kParts;
    return amounts;
  };
  for (const RuleSpec& rule : EveryRule()) {
    EXPECT_LE(Excess(rule, kAddRemoveOne, left, whole, PostLinear), 0);
    EXPECT_GT(Excess(rule, kAddRemoveOne, left, whole, divided), 0);
  }
}

TEST(PartCost, AnEventWithoutKnownDrawsPaysForEachRecordThatMayChange) {
  const RuleSpec rule = SpecOf(RuleKind::kPure);
  const Event stated = {PureEvent{Epsilon(1000)}};
  EXPECT_EQ(PartCostOf(rule, kAddRemoveOne, stated, std::nullopt)->at(0).amount, 1000);
  EXPECT_EQ(PartCostOf(rule, kReplaceOne, stated, std::nullopt)->at(0).amount, 2000);
  EXPECT_EQ(PartCostOf(rule, kAddRemoveThree, stated, std::nullopt)->at(0).amount, 3000);
  EXPECT_EQ(PartCostOf(rule, kReplaceThree, stated, std::nullopt)->at(0).amount, 6000);
}

TEST(PartCost, MarginalsCostAPartWhatTheyCostTheDataset) {
  Request marginals;
  marginals.marginals = 3;
  for (const UnitBound& unit : {kAddRemoveOne, kAddRemoveThree, kReplaceOne, kReplaceThree}) {
    for (const RuleSpec& rule : EveryRule()) {
      marginals.noise = {Mechanism::kDiscreteLaplace, {24, 1}};
      const LinearDraws draws = DrawsOf(marginals, unit);
      const int64_t whole = CostOf(rule, draws.draws[0].event)->at(0).amount;
      EXPECT_LE(std::abs(PostLinear(rule, unit, draws)[0] - whole), 1) << RuleName(rule.kind);
    }
  }
}

TEST(PartCost, ListsThatDoNotMatchAndCostsThatDoNotFitAreRefused) {
  LinearDraws draws = DrawsOf(CountEachOf({0})[0], kReplaceOne);
  const RuleSpec rule = SpecOf(RuleKind::kPure);
  const Event event = draws.draws[0].event;
  draws.removals[0].count = 2;
  EXPECT_FALSE(PartCostOf(rule, kReplaceOne, event, draws).ok());
  draws.removals.clear();
  EXPECT_FALSE(PartCostOf(rule, kReplaceOne, event, draws).ok());
  const Event huge = {PureEvent{Epsilon(int64_t{1} << 62)}};
  EXPECT_EQ(PartCostOf(rule, kReplaceThree, huge, std::nullopt).status().code(),
            absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace curator::dp
