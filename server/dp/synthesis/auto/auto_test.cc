#include "dp/synthesis/auto/auto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "dp/accounting/rule.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/synthesis/auto/auto_plan.h"
#include "dp/synthesis/auto/chosen_model.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Synthesizer& AutoMethod() {
  return *FindSynthesizer("auto");
}

// FullWorld() for rho.
World ZcdpWorld(int64_t rho_units) {
  World world = FullWorld();
  world.input.rule = {};
  world.input.rule.kind = RuleKind::kZcdp;
  world.input.rule.epsilon = Epsilon(10 * kEpsilonUnitsPerOne);
  world.input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000'000);
  world.input.spend = {.rho = Rho(rho_units)};
  return world;
}

struct FittedByAuto {
  absl::Status status;
  std::unique_ptr<SynthesisModel> model;
  Transcript transcript;
};

FittedByAuto FitOn(const World& world, std::vector<CountedEvent> paid, uint64_t seed = 1) {
  FittedByAuto fitted;
  seeded::SeededBits bits(seed);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(std::move(paid)), bits);
  RecordingQueries recording(kernel, fitted.transcript);
  Pacer pacer{std::stop_token()};
  auto model = AutoMethod().Fit(world.input, recording, pacer, NoProgress());
  fitted.status = model.status();
  if (model.ok()) fitted.model = *std::move(model);
  return fitted;
}

TEST(RoundedRecords, IsWithinAFactorOfTwoOfEveryNumberInItsRange) {
  for (int64_t records = 32; records <= (int64_t{1} << 31); records += 1 + records / 7) {
    const int64_t rounded = RoundedRecords(records);
    EXPECT_LE(rounded, 2 * records) << records;
    EXPECT_GE(2 * rounded, records) << records;
  }
}

TEST(RoundedRecords, TakesNoiseBelowNothingAndBeyondAllTables) {
  EXPECT_EQ(RoundedRecords(-1'000'000), 64);
  EXPECT_EQ(RoundedRecords(0), 64);
  EXPECT_EQ(RoundedRecords(int64_t{1} << 62), int64_t{1} << 30);
}

TEST(Auto, IsChargedForTheCountAndForTheRestAsOneAmount) {
  constexpr int64_t kRho = 1'000'000'000;
  const SynthesisPlan plan = AutoMethod().Plan(ZcdpWorld(kRho).input).value();
  ASSERT_EQ(plan.draws.size(), 2);
  EXPECT_EQ(plan.draws[1], (CountedEvent{{ZcdpEvent{Rho(kRho - kRho / 100)}}, 1}));
  const SynthesisPlan pure = AutoMethod().Plan(FullWorld().input).value();
  ASSERT_EQ(pure.draws.size(), 2);
  EXPECT_EQ(pure.draws[1], (CountedEvent{{PureEvent{Epsilon(980'000'000'000)}}, 1}));
}

TEST(Auto, KeepsAPromiseOfEpsilonAndDelta) {
  World world = FullWorld();
  world.input.rule = {};
  world.input.rule.kind = RuleKind::kAdvanced;
  world.input.rule.epsilon = Epsilon(10 * kEpsilonUnitsPerOne);
  world.input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  world.input.spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne),
                       .delta = Delta(kDeltaUnitsPerOne / 1'000'000'000)};
  const auto plan = AutoMethod().Plan(world.input);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(FitOn(world, plan->draws).status.ok());
}

// What is spent on a branch that was planned with all of the budget, the count's part included.
TEST(Auto, ABranchThatSpendsTheCountsShareTooIsRefused) {
  const World world = ZcdpWorld(1'000'000'000);
  const CountFirst first = SplitOffCount(world.input).value();
  BudgetShare all = first.rest;
  all.units = 1'000'000'000;
  Pacer pacer{std::stop_token()};
  const auto methods = Synthesizers();
  const Branch greedy = BranchFor(world.input, all, 256, methods, pacer).value();
  const Branch branch = BranchFor(world.input, first.rest, 256, methods, pacer).value();
  const std::vector<CountedEvent> draws = AutoMethod().Plan(world.input).value().draws;
  EXPECT_EQ(Meter(draws).SpendAs(greedy.plan.draws).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Meter(draws).SpendAs(branch.plan.draws).ok());
}

TEST(Auto, PartsPayForTheDearestBranch) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    World world = ZcdpWorld(1'000'000'000);
    world.input.unit_bound = {.relation = relation, .max_records = 3};
    const SynthesisPlan plan = AutoMethod().Plan(world.input).value();
    ASSERT_TRUE(plan.linear.has_value());
    const CountFirst first = SplitOffCount(world.input).value();
    const int64_t posted =
        PartCostOf(world.input.rule, world.input.unit_bound, plan.event, plan.linear).value()[0].amount;
    Pacer pacer{std::stop_token()};
    for (int64_t records = 64; records <= 1 << 20; records *= 4) {
      const Branch branch = BranchFor(world.input, first.rest, records, Synthesizers(), pacer).value();
      LinearDraws drawn = branch.plan.linear.value();
      drawn.draws.push_back(plan.linear->draws[0]);
      drawn.removals.push_back(plan.linear->removals[0]);
      const Event event{ComposedEvent{drawn.draws}};
      EXPECT_LE(PartCostOf(world.input.rule, world.input.unit_bound, event, drawn).value()[0].amount, posted)
          << records;
    }
  }
}

TEST(Auto, CountsNothingWhereTheNumberOfRecordsIsDeclared) {
  World world = ZcdpWorld(1'000'000'000);
  world.input.assume_records = 500;
  const SynthesisPlan plan = AutoMethod().Plan(world.input).value();
  Pacer pacer{std::stop_token()};
  const Branch branch = DeclaredBranch(world.input, Synthesizers(), pacer).value();
  EXPECT_EQ(plan.draws, branch.plan.draws);
  EXPECT_EQ(plan.event, branch.plan.event);
  const FittedByAuto fitted = FitOn(world, plan.draws);
  ASSERT_TRUE(fitted.status.ok()) << fitted.status;
  EXPECT_THAT(fitted.model->Transcript()[0], HasSubstr("declared"));
}

TEST(Auto, SaysWhatItCountedAndChose) {
  const World world = ZcdpWorld(10'000'000'000'000);
  const FittedByAuto fitted = FitOn(world, AutoMethod().Plan(world.input).value().draws);
  ASSERT_TRUE(fitted.status.ok()) << fitted.status;
  EXPECT_TRUE(std::holds_alternative<RecordCountDraw>(fitted.transcript.front()));
  EXPECT_THAT(fitted.model->Transcript()[0], HasSubstr("rounded to 256: "));
}

TEST(Auto, RefusesASettingOfAnotherMethod) {
  World world = FullWorld();
  world.input.settings = {{"rounds", "3"}};
  EXPECT_EQ(FieldViolationOf(AutoMethod().Plan(world.input).status())->field, "settings.rounds");
}

TEST(Auto, RefusesABudgetThatIsTooSmallForACountAndAMethod) {
  World world = ZcdpWorld(1);
  EXPECT_EQ(FieldViolationOf(AutoMethod().Plan(world.input).status())->field, "spend.rho");
}

TEST(ChosenModel, IsRestoredByTheMethodThatMadeIt) {
  const World world = FullWorld();
  const FittedByAuto fitted = FitOn(world, AutoMethod().Plan(world.input).value().draws);
  ASSERT_TRUE(fitted.status.ok()) << fitted.status;
  const std::string bytes = fitted.model->Serialize();
  const auto restored = AutoMethod().Restore(world.input.domain, bytes);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ((*restored)->Transcript(), fitted.model->Transcript());
  Pacer pacer{std::stop_token()};
  EXPECT_EQ(ChosenModel::Restore(world.input.domain, bytes, {}, pacer).status().code(),
            absl::StatusCode::kDataLoss)
      << "of no method";
  EXPECT_EQ(AutoMethod().ReadingBytes(world.input.domain, bytes.substr(1)).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::dp
