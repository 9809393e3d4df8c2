#include "dp/sensitivity/spend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOneEpsilon(kEpsilonUnitsPerOne);
constexpr Rho kTenthRho(kRhoUnitsPerOne / 10);
constexpr Delta kSmallDelta(1'000'000'000);  // 1e-9

RuleSpec RuleOf(RuleKind kind) {
  RuleSpec rule;
  rule.kind = kind;
  rule.epsilon = Epsilon(10 * kEpsilonUnitsPerOne);
  if (kind != RuleKind::kPure) rule.delta = Delta(1'000'000'000'000);
  if (kind == RuleKind::kRdp) rule.order = Rational{8, 1};
  return rule;
}

std::string RefusedField(RuleKind kind, const Spend& spend) {
  const auto budget = BudgetOf(RuleOf(kind), spend);
  if (budget.ok()) return "accepted";
  EXPECT_EQ(budget.status().code(), absl::StatusCode::kInvalidArgument);
  const auto violation = FieldViolationOf(budget.status());
  return violation ? violation->field : "no field";
}

TEST(BudgetOf, EpsilonBuysAPureMechanismUnderEveryRule) {
  for (const RuleKind kind : {RuleKind::kPure, RuleKind::kZcdp, RuleKind::kAdvanced, RuleKind::kRdp}) {
    EXPECT_EQ(BudgetOf(RuleOf(kind), {.epsilon = kOneEpsilon}).value(), Budget(PureBudget{kOneEpsilon}));
  }
}

TEST(BudgetOf, RhoBuysAZcdpMechanismUnderZcdp) {
  EXPECT_EQ(BudgetOf(RuleOf(RuleKind::kZcdp), {.rho = kTenthRho}).value(),
            Budget(ZcdpBudget{.rho = kTenthRho, .promise = std::nullopt}));
}

TEST(BudgetOf, EpsilonWithDeltaBuysTheTightRhoUnderAdvanced) {
  const Budget budget =
      BudgetOf(RuleOf(RuleKind::kAdvanced), {.epsilon = kOneEpsilon, .delta = kSmallDelta}).value();
  const auto& zcdp = std::get<ZcdpBudget>(budget);
  RuleSpec promise = RuleOf(RuleKind::kZcdp);
  promise.epsilon = kOneEpsilon;
  promise.delta = kSmallDelta;
  const auto limit = LimitsOf(promise).value();
  EXPECT_EQ(zcdp.rho.units(), limit[0].amount);
  EXPECT_GT(zcdp.rho.units(), kRhoUnitsPerOne / 100);
  EXPECT_EQ(EventOf(budget), (Event{ApproximateEvent{kOneEpsilon, kSmallDelta}}));
}

TEST(BudgetOf, RefusesWhatTheRuleDoesNotKnowAndNamesTheField) {
  EXPECT_EQ(RefusedField(RuleKind::kPure, {}), "spend.epsilon");
  EXPECT_EQ(RefusedField(RuleKind::kPure, {.rho = kTenthRho}), "spend.rho");
  EXPECT_EQ(RefusedField(RuleKind::kPure, {.epsilon = kOneEpsilon, .delta = kSmallDelta}), "spend.delta");
  EXPECT_EQ(RefusedField(RuleKind::kZcdp, {}), "spend");
  EXPECT_EQ(RefusedField(RuleKind::kZcdp, {.epsilon = kOneEpsilon, .rho = kTenthRho}), "spend");
  EXPECT_EQ(RefusedField(RuleKind::kZcdp, {.epsilon = kOneEpsilon, .delta = kSmallDelta}), "spend.delta");
  EXPECT_EQ(RefusedField(RuleKind::kAdvanced, {.rho = kTenthRho}), "spend.rho");
  EXPECT_EQ(RefusedField(RuleKind::kAdvanced, {.delta = kSmallDelta}), "spend.epsilon");
}

TEST(BudgetOf, RefusesZeroAndNegativeAmounts) {
  EXPECT_EQ(RefusedField(RuleKind::kPure, {.epsilon = Epsilon(0)}), "spend.epsilon");
  EXPECT_EQ(RefusedField(RuleKind::kPure, {.epsilon = Epsilon(-1)}), "spend.epsilon");
  EXPECT_EQ(RefusedField(RuleKind::kZcdp, {.rho = Rho(0)}), "spend.rho");
  EXPECT_EQ(RefusedField(RuleKind::kAdvanced, {.epsilon = kOneEpsilon, .delta = Delta(0)}), "spend.delta");
}

}  // namespace
}  // namespace curator::dp
