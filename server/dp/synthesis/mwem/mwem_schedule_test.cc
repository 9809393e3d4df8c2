#include "dp/synthesis/mwem/mwem_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "base/errors.h"
#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

using ::testing::HasSubstr;

RuleSpec Rule(RuleKind kind) {
  RuleSpec rule;
  rule.kind = kind;
  rule.epsilon = Epsilon(1000 * kEpsilonUnitsPerOne);
  if (kind != RuleKind::kPure) rule.delta = Delta(1'000'000'000'000);
  return rule;
}

SynthesisInput Input(RuleKind kind, Spend spend) {
  const Domain domain = CodedDomain({2, 3, 4, 5});
  return {.domain = domain,
          .unit_bound = {},
          .rule = Rule(kind),
          .spend = spend,
          .workload = WholeMarginals(AllKWayMarginals(domain, 2, {}).value()),
          .settings = {},
          .assume_records = std::nullopt};
}

std::string RefusedField(const SynthesisInput& input) {
  const auto schedule = MakeMwemSchedule(input);
  if (schedule.ok()) return "accepted";
  const auto violation = FieldViolationOf(schedule.status());
  return violation ? violation->field : schedule.status().ToString();
}

TEST(MwemSchedule, SplitsAPureBudgetAsThePaperDoes) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.settings = {{"rounds", "5"}, {"selection_percent", "50"}};
  const MwemSchedule schedule = MakeMwemSchedule(input).value();
  EXPECT_EQ(schedule.record_noise.parameter, (Rational{20, 1}));
  // Half of 0.95/5 each.
  EXPECT_EQ(schedule.stages[0].selection, Epsilon(95'000'000'000));
  EXPECT_EQ(schedule.stages[0].noise.parameter, (Rational{200, 19}));
  ASSERT_EQ(schedule.draws.size(), 3u);
  EXPECT_EQ(schedule.draws[1].count, 5);
  EXPECT_EQ(schedule.draws[2].count, 5);
}

TEST(MwemSchedule, ChoosesNothingWhereAllIsMeasured) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.settings = {{"rounds", "6"}};
  const MwemSchedule schedule = MakeMwemSchedule(input).value();
  EXPECT_FALSE(schedule.stages[0].selection.has_value());
  ASSERT_EQ(schedule.draws.size(), 2u);
  EXPECT_EQ(schedule.draws[1].count, 6);
}

TEST(MwemSchedule, DoublesTheNoiseUnderReplacementAndMultipliesItForPersons) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.settings = {{"rounds", "5"}, {"selection_percent", "50"}};
  input.unit_bound = {NeighbourRelation::kReplaceOne, 3};
  const MwemSchedule schedule = MakeMwemSchedule(input).value();
  EXPECT_EQ(schedule.record_noise.parameter, (Rational{60, 1}));
  EXPECT_EQ(schedule.stages[0].noise.parameter, (Rational{1200, 19}));
}

bool CostsAtMost(const RuleSpec& rule, const Event& event, const Event& limit) {
  const auto cost = CostOf(rule, event).value();
  const auto most = CostOf(rule, limit).value();
  for (size_t i = 0; i < cost.size(); ++i) {
    if (cost[i].amount > most[i].amount) return false;
  }
  return true;
}

// What is drawn is priced, and the price stays within the offer, for budgets without a pattern.
TEST(MwemSchedule, NeverCostsMoreThanTheSpend) {
  std::mt19937_64 random(4);
  int made = 0;
  for (int trial = 0; trial < 25; ++trial) {
    const auto magnitude = static_cast<uint64_t>(std::pow(10.0, 6 + static_cast<double>(random() % 8)));
    const auto units = static_cast<int64_t>(1 + random() % magnitude);
    const std::pair<RuleKind, Spend> offers[] = {
        {RuleKind::kPure, {.epsilon = Epsilon(units)}},
        {RuleKind::kZcdp, {.epsilon = Epsilon(units)}},
        {RuleKind::kZcdp, {.rho = Rho(units)}},
        {RuleKind::kAdvanced, {.epsilon = Epsilon(units)}},
        {RuleKind::kAdvanced, {.epsilon = Epsilon(units), .delta = Delta(1'000'000'007)}}};
    for (const auto& [kind, spend] : offers) {
      SynthesisInput input = Input(kind, spend);
      input.unit_bound = {random() % 2 == 0 ? NeighbourRelation::kAddRemove : NeighbourRelation::kReplaceOne,
                          static_cast<int64_t>(1 + random() % 4)};
      input.settings = {{"rounds", std::to_string(1 + random() % 6)},
                        {"selection_percent", std::to_string(1 + random() % 99)}};
      const auto schedule = MakeMwemSchedule(input);
      if (!schedule.ok()) {
        EXPECT_EQ(schedule.status().code(), absl::StatusCode::kInvalidArgument) << schedule.status();
        continue;
      }
      ++made;
      const Budget budget = BudgetOf(input.rule, spend).value();
      const auto charge = ChargeFor(input.rule, budget, schedule->draws, std::nullopt);
      if (!charge.ok()) {
        EXPECT_EQ(charge.status().code(), absl::StatusCode::kInvalidArgument) << charge.status();
        continue;
      }
      EXPECT_TRUE(CostsAtMost(input.rule, *charge, EventOf(budget)));
      // Under a promise of (epsilon, delta) the draws themselves must fit the rho that it stands for.
      if (const auto* zcdp = std::get_if<ZcdpBudget>(&budget)) {
        EXPECT_TRUE(
            CostsAtMost(Rule(RuleKind::kZcdp), {ComposedEvent{schedule->draws}}, {ZcdpEvent{zcdp->rho}}));
      }
    }
  }
  EXPECT_GT(made, 50);
}

TEST(MwemScheduleCanary, OneUnpaidRoundIsCaughtByThePrice) {
  for (const auto& [kind, spend] :
       {std::pair{RuleKind::kPure, Spend{.epsilon = Epsilon(kEpsilonUnitsPerOne)}},
        std::pair{RuleKind::kZcdp, Spend{.rho = Rho(kRhoUnitsPerOne / 10)}}}) {
    const SynthesisInput input = Input(kind, spend);
    std::vector<CountedEvent> draws = MakeMwemSchedule(input)->draws;
    ++draws.back().count;
    EXPECT_FALSE(
        CostsAtMost(input.rule, {ComposedEvent{draws}}, EventOf(BudgetOf(input.rule, spend).value())));
  }
}

// What a part pays (dp/sensitivity/part_cost.h): under REPLACE_ONE a record that leaves counts as much as one
// that is replaced where the number of records is drawn, and half as much elsewhere.
TEST(MwemSchedule, ItsDrawsAreSeenByAUnitThatOnlyLeaves) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.settings = {{"rounds", "2"}};
  const MwemSchedule one_leaves = MakeMwemSchedule(input).value();
  ASSERT_TRUE(one_leaves.linear.has_value());
  EXPECT_EQ(one_leaves.linear->draws, one_leaves.draws);
  EXPECT_EQ(one_leaves.linear->removals, one_leaves.draws);

  input.unit_bound.relation = NeighbourRelation::kReplaceOne;
  const MwemSchedule replaced = MakeMwemSchedule(input).value();
  ASSERT_TRUE(replaced.linear.has_value());
  ASSERT_EQ(replaced.linear->removals.size(), replaced.draws.size());
  for (size_t i = 0; i < replaced.draws.size(); ++i) {
    EXPECT_EQ(replaced.linear->removals[i].count, replaced.draws[i].count);
    const int64_t in_full = CostOf(input.rule, replaced.draws[i].event).value()[0].amount;
    const int64_t leaving = CostOf(input.rule, replaced.linear->removals[i].event).value()[0].amount;
    EXPECT_LE(std::abs((i == 0 ? 1 : 2) * leaving - in_full), 1) << Describe(replaced.draws[i].event);
  }
}

TEST(MwemSchedule, SpendsNearlyAllOfARho) {
  SynthesisInput input = Input(RuleKind::kZcdp, {.rho = Rho(kRhoUnitsPerOne / 10)});
  input.settings = {{"rounds", "4"}};
  const MwemSchedule schedule = MakeMwemSchedule(input).value();
  const int64_t cost = CostOf(input.rule, {ComposedEvent{schedule.draws}}).value()[0].amount;
  EXPECT_GT(cost, kRhoUnitsPerOne / 10 - 1'000'000);
  EXPECT_LE(cost, kRhoUnitsPerOne / 10);
}

TEST(MwemSchedule, RefusesWhatCannotBeCarriedOut) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.settings = {{"rounds", "7"}};
  EXPECT_EQ(RefusedField(input), "settings.rounds");
  input.settings = {{"colour", "red"}};
  EXPECT_EQ(RefusedField(input), "settings.colour");
  input.settings = {{"form", "dense"}, {"max_cells", "100"}};
  EXPECT_EQ(RefusedField(input), "workload");
  input.settings = {};
  input.spend = {.epsilon = Epsilon(1)};
  EXPECT_EQ(RefusedField(input), "spend.epsilon");
  input.spend = {.rho = Rho(5)};
  EXPECT_EQ(RefusedField(input), "spend.rho");
  input.spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne)};
  input.workload = {};
  EXPECT_EQ(RefusedField(input), "workload");
}

TEST(MwemSchedule, SaysHowManyCellsAreTooMany) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.domain = CodedDomain({1 << 14, 1 << 14});
  input.workload = WholeMarginals(std::vector<AttributeSet>{{0}, {1}});
  input.settings = {{"form", "dense"}};
  const absl::Status refused = MakeMwemSchedule(input).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("268435456"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("4194304"));
}

// A parity and a doubled cell: a replaced record moves both by 2, one that leaves by 1 and by 2.
TEST(MwemSchedule, HasNoPriceForPartsWhereQueriesAreMovedApartByRecordsThatLeave) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.workload = {{.attributes = {0}, .queries = std::vector<LinearQuery>{{{0, 1}, {1, -1}}, {{1, 2}}}}};
  EXPECT_EQ(RefusedField(input), "workload");
  input.unit_bound.relation = NeighbourRelation::kReplaceOne;
  const auto schedule = MakeMwemSchedule(input);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_FALSE(schedule->linear.has_value());
}

TEST(MwemSchedule, RefusesMoreCellsThanOneSelectionMayCount) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.domain = CodedDomain({1 << 13, 1 << 13, 2});
  input.workload = WholeMarginals(std::vector<AttributeSet>{{0, 1}, {2}});
  input.settings = {{"rounds", "1"}};
  EXPECT_EQ(RefusedField(input), "workload");
  input.workload = WholeMarginals(std::vector<AttributeSet>{{0}, {1, 2}});
  EXPECT_EQ(RefusedField(input), "accepted");
}

TEST(MwemSchedule, RefusesBoxesAndIteratesThatWouldFillTheMemory) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.domain = CodedDomain({1 << 20});
  Boxes boxes;
  for (uint32_t first = 0; first < 100; ++first) boxes.sides.push_back({first, (1 << 20) - 1});
  input.workload = {{.attributes = {0}, .queries = boxes}};
  input.settings = {{"rounds", "65"}};
  EXPECT_EQ(RefusedField(input), "workload");
  input.settings = {{"rounds", "64"}};
  EXPECT_EQ(RefusedField(input), "accepted");
  input.settings = {{"rounds", "64"}, {"init", "domain"}, {"iterate", "average"}};
  EXPECT_EQ(RefusedField(input), "settings.iterate");
  input.settings["rounds"] = "60";
  EXPECT_EQ(RefusedField(input), "accepted");
}

// What is measured beforehand when nothing is said: the number of one-way marginals, of a request over
// attributes of these sizes.
size_t MeasuredBeforehand(const std::vector<int64_t>& sizes, std::vector<QueryGroup> workload,
                          int64_t records) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne / 10)});
  input.domain = CodedDomain(sizes);
  input.workload = std::move(workload);
  input.assume_records = records;
  return MakeMwemSchedule(input).value().initial.size();
}

TEST(DefaultInit, MeasuresMarginalsInPartsAndForRangesOverSeveralAttributesUnlessNoiseDrownsThem) {
  const auto pairs_of = [](const std::vector<int64_t>& sizes) {
    return WholeMarginals(AllKWayMarginals(CodedDomain(sizes), 2, {}).value());
  };
  const std::vector<int64_t> small = {16, 16, 16};
  const std::vector<int64_t> large(24, 2);
  EXPECT_EQ(MeasuredBeforehand(small, pairs_of(small), 50'000), 0u);
  EXPECT_EQ(MeasuredBeforehand(large, pairs_of(large), 50'000), 24u);
  EXPECT_EQ(MeasuredBeforehand(large, pairs_of(large), 500), 0u);
  const auto marginals = WholeMarginals(AllKWayMarginals(CodedDomain(large), 1, {}).value());
  EXPECT_EQ(MeasuredBeforehand(large, marginals, 50'000), 0u);  // the workload itself

  const std::vector<QueryGroup> boxes = {{{0, 1}, Boxes{{{0, 3}, {2, 9}, {4, 5}, {0, 1}}}}};
  EXPECT_EQ(MeasuredBeforehand(small, boxes, 50'000), 2u);
  EXPECT_EQ(MeasuredBeforehand(small, boxes, 50), 0u);
  const std::vector<QueryGroup> intervals = {{{0}, Boxes{{{0, 3}, {2, 9}}}}};
  EXPECT_EQ(MeasuredBeforehand(small, intervals, 50'000), 0u);
}

TEST(DefaultInit, MeasuresAllMarginalsBesideAWideAttribute) {
  std::vector<int64_t> sizes(24, 2);
  sizes.push_back(1'000'000);
  std::vector<AttributeSet> pairs;
  for (uint32_t i = 1; i < 24; ++i) pairs.push_back({0, i});
  pairs.push_back({24});
  EXPECT_EQ(MeasuredBeforehand(sizes, WholeMarginals(pairs), 50'000), 25u);
}

// A charge from before draw identities is recognised by the settings that were planned for it then.
TEST(MwemSettings, OfVersion1AreThoseOfVersion1) {
  SynthesisInput input = Input(RuleKind::kZcdp, {.rho = Rho(kRhoUnitsPerOne / 100)});
  input.domain = CodedDomain(std::vector<int64_t>(24, 2));
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
  const auto now = MakeMwemSchedule(input)->used_settings;
  input.is_of_version_1 = true;
  const auto before = MakeMwemSchedule(input)->used_settings;
  EXPECT_EQ(before.at("selection_percent"), "30");
  EXPECT_EQ(before.at("max_cells"), "67108864");
  EXPECT_EQ(before.at("last_sweeps"), "30");
  EXPECT_EQ(before.at("rounds"), "74");
  EXPECT_EQ(now.at("selection_percent"), "15");
  EXPECT_EQ(now.at("max_cells"), "65536");
  EXPECT_EQ(now.at("last_sweeps"), "300");
}

TEST(MwemSettings, FollowAnswersLessWhereThereAreManyAttributes) {
  const auto slack = [](size_t attributes, bool is_of_version_1) {
    SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
    input.domain = CodedDomain(std::vector<int64_t>(attributes, 2));
    input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
    input.is_of_version_1 = is_of_version_1;
    return std::stod(MakeMwemSchedule(input)->used_settings.at("slack"));
  };
  EXPECT_LT(slack(64, false), 4);
  EXPECT_EQ(slack(65, false), 4);
  EXPECT_LT(slack(65, true), 4);
}

TEST(DefaultInit, GivesEachMarginalWhatARoundGets) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  input.settings = {{"init", "marginals"}, {"rounds", "5"}};
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("init_percent"), "44");  // 4 of 4 + 5
  input.settings["rounds"] = "1";
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("init_percent"), "50");
  input.settings["init"] = "domain";
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("init_percent"), "20");
}

TEST(DefaultInit, MeasuresNothingBeforehandWhereUnitsOwnTooManyRecordsForThat) {
  const std::vector<int64_t> sizes(24, 2);
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(100 * kEpsilonUnitsPerOne)});
  input.domain = CodedDomain(sizes);
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
  input.unit_bound.max_records = int64_t{1} << 24;
  const auto schedule = MakeMwemSchedule(input);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_TRUE(schedule->initial.empty());
  EXPECT_EQ(schedule->used_settings.at("init"), "uniform");
}

TEST(MwemSettings, SayWhatWasChosenForAuto) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("form"), "dense");
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("init"), "uniform");
  input.settings = {{"init", "domain"}};
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("init"), "domain");
  input.settings = {};
  input.domain = CodedDomain(std::vector<int64_t>(24, 2));
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
  input.assume_records = 50'000;
  const auto schedule = MakeMwemSchedule(input).value();
  EXPECT_EQ(schedule.used_settings.at("form"), "factored");
  EXPECT_EQ(schedule.used_settings.at("init"), "marginals");
}

TEST(DefaultSelection, TakesHalfOfARoundWhereOneAnswerIsMeasured) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("selection_percent"), "15");
  input.workload = {{{3}, Boxes{{{0, 3}, {2, 4}}}}};
  EXPECT_EQ(MakeMwemSchedule(input)->used_settings.at("selection_percent"), "50");
}

TEST(DefaultRounds, AreFewerForRangesThanForTheSameQueriesListed) {
  SynthesisInput input = Input(RuleKind::kPure, {.epsilon = Epsilon(kEpsilonUnitsPerOne / 10)});
  Boxes boxes;
  for (uint32_t i = 0; i < 100; ++i) boxes.sides.push_back({i, i + 400});
  input.domain = CodedDomain({1000});
  input.workload = {{{0}, boxes}};
  const int64_t rounds = MakeMwemSchedule(input)->settings.rounds;
  input.workload = {{{0}, TermsOf(input.domain, input.workload.front())}};
  EXPECT_LT(2 * rounds, MakeMwemSchedule(input)->settings.rounds);
}

TEST(DefaultRounds, GrowWithTheSignalAndStayWithinTheWorkload) {
  const PureBudget small{Epsilon(kEpsilonUnitsPerOne / 10)};
  const PureBudget large{Epsilon(10 * kEpsilonUnitsPerOne)};
  EXPECT_LT(DefaultRounds(small, 16, 560, 20'000), DefaultRounds(large, 16, 560, 20'000));
  EXPECT_EQ(DefaultRounds(large, 16, 20, 20'000), 20);
  EXPECT_EQ(DefaultRounds(PureBudget{Epsilon(1)}, 2, 100, 1), 1);
  EXPECT_GE(DefaultRounds(ZcdpBudget{.rho = Rho(kRhoUnitsPerOne / 100)}, 16, 560, 20'000), 20);
}

}  // namespace
}  // namespace curator::dp
