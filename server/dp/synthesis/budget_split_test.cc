#include "dp/synthesis/budget_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "dp/accounting/rule.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

TEST(BudgetShare, BuysLaplaceNoiseForEpsilonAndGaussianNoiseForRho) {
  const Sensitivity one{.l1 = 1, .l2_squared = 1, .linf = 1};
  const BudgetShare pure = WholeOf(PureBudget{.epsilon = Epsilon(kEpsilonUnitsPerOne)});
  EXPECT_EQ(NoiseFor(pure.Of(kEpsilonUnitsPerOne / 2), one).value(),
            (NoiseSpec{.mechanism = Mechanism::kDiscreteLaplace, .parameter = {2, 1}}));
  const BudgetShare zcdp = WholeOf(ZcdpBudget{.rho = Rho(kRhoUnitsPerOne)});
  EXPECT_EQ(NoiseFor(zcdp.Of(kRhoUnitsPerOne / 2), one).value(),
            (NoiseSpec{.mechanism = Mechanism::kDiscreteGaussian, .parameter = {1, 1}}));
}

TEST(BudgetShare, NamesTheFieldOfTheRequestThatIsTooSmall) {
  const BudgetShare rho{.is_pure = false, .units = 0};
  const absl::Status refused = SelectionEpsilonFor(rho, "each selection").status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "spend.rho");
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("is too small to pay for each selection"));
  const BudgetShare epsilon;
  EXPECT_EQ(FieldViolationOf(SelectionEpsilonFor(epsilon, "a selection").status())->field, "spend.epsilon");
  EXPECT_EQ(FieldViolationOf(epsilon.TooSmallFor("3 rounds"))->field, "spend.epsilon");
  EXPECT_THAT(std::string(epsilon.TooSmallFor("3 rounds").message()), testing::HasSubstr("over 3 rounds"));
}

TEST(BudgetShare, PercentsRoundDownWithoutOverflow) {
  EXPECT_EQ(PercentOf(199, 50), 99);
  EXPECT_EQ(PercentOf(INT64_MAX, 100), INT64_MAX);
  EXPECT_EQ(PercentOf(INT64_MAX, 0), 0);
  EXPECT_EQ(RecordCountUnits(19, 20), 1);
  EXPECT_EQ(RecordCountUnits(100, 20), 5);
}

TEST(AffordableSelection, IsTheLargestThatFits) {
  RuleSpec zcdp;
  zcdp.kind = RuleKind::kZcdp;
  zcdp.epsilon = Epsilon(kEpsilonUnitsPerOne);
  zcdp.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  for (const int64_t rho : {int64_t{1000}, int64_t{1'234'567}, kRhoUnitsPerOne / 50, kRhoUnitsPerOne}) {
    const Epsilon found = SelectionEpsilonFor({.is_pure = false, .units = rho}, "a selection").value();
    const auto cost = [&](int64_t units) {
      return CostOf(zcdp, {ExponentialMechanismEvent{Epsilon(units)}}).value()[0].amount;
    };
    EXPECT_LE(cost(found.units()), rho);
    EXPECT_GT(cost(found.units() + found.units() / 1'000'000 + 2), rho);
  }
}

}  // namespace
}  // namespace curator::dp
