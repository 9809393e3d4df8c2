#include "dp/accounting/kept_promise.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/errors.h"
#include "dp/accounting/divergence.h"

namespace curator::dp {
namespace {

Epsilon Eps(std::string_view text) {
  return *Epsilon::Parse(text, "epsilon");
}
Delta Del(std::string_view text) {
  return *Delta::Parse(text, "delta");
}

// One account under each rule.
std::vector<RuleSpec> SomeRules() {
  return {{RuleKind::kPure, Eps("1"), {}, {}, {}},
          {RuleKind::kAdvanced, Eps("1.25"), Del("1e-6"), {}, {}},
          {RuleKind::kAdvanced, Eps("0.3"), Del("1e-9"), {}, Del("2e-10")},
          {RuleKind::kZcdp, Eps("3"), Del("1e-9"), {}, {}},
          {RuleKind::kRdp, Eps("2"), Del("1e-6"), Rational{33, 2}, {}}};
}

std::string Field(const absl::Status& status) {
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  return violation ? violation->field : "";
}

TEST(KeptPromise, IsThatOfTheOpeningWhileNothingHasChanged) {
  for (const RuleSpec& opened : SomeRules()) EXPECT_EQ(*KeptPromise(opened, *LimitsOf(opened)), opened);
}

TEST(KeptPromise, OfALimitThatWasSetFromAnEpsilonIsThatEpsilon) {
  for (const RuleSpec& opened : SomeRules()) {
    for (const char* epsilon : {"0.2", "0.5", "1.75", "2.5", "7", "40.125"}) {
      const absl::StatusOr<RuleSpec> changed = WithEpsilon(opened, Eps(epsilon));
      if (opened.kind == RuleKind::kRdp && !changed.ok()) continue;  // its order takes more than that
      ASSERT_TRUE(changed.ok()) << changed.status();
      EXPECT_EQ(KeptPromise(opened, *LimitsOf(*changed))->epsilon, Eps(epsilon))
          << std::string(RuleName(opened.kind));
    }
  }
}

TEST(KeptPromise, IsNeverLessThanWhatTheLimitsAllow) {
  std::mt19937_64 draws(20261103);
  for (const RuleSpec& opened : SomeRules()) {
    for (int i = 0; i < 20; ++i) {
      std::vector<CounterAmount> limits = *LimitsOf(opened);
      limits[0].amount = std::uniform_int_distribution<int64_t>(1, 2 * limits[0].amount)(draws);
      const absl::StatusOr<RuleSpec> promise = KeptPromise(opened, limits);
      ASSERT_TRUE(promise.ok()) << promise.status();
      EXPECT_GE(LimitsOf(*promise)->front().amount, limits[0].amount);
      EXPECT_EQ(promise->order, opened.order);
      EXPECT_EQ(promise->delta, opened.delta);
    }
  }
}

TEST(KeptPromise, UnderZcdpIsNotBelowTheConversionOfItsRho) {
  const RuleSpec opened{RuleKind::kZcdp, Eps("3"), Del("1e-9"), {}, {}};
  for (const int64_t rho : {int64_t{1'000'000}, int64_t{40'000'000'000}, int64_t{2'000'000'000'000}}) {
    const absl::StatusOr<RuleSpec> promise = KeptPromise(opened, {{"rho", rho}});
    ASSERT_TRUE(promise.ok()) << promise.status();
    const Interval true_epsilon = EpsilonOfZcdp(Interval::Of(Rho(rho)), Interval::Of(opened.delta));
    EXPECT_FALSE(Interval::Of(promise->epsilon).CertainlyAtMost(true_epsilon - Interval::Of(Eps("1e-9"))));
    EXPECT_TRUE(Interval::Of(promise->epsilon).CertainlyAtMost(true_epsilon + Interval::Of(Eps("1e-6"))));
  }
}

TEST(KeptPromise, OfAnAdvancedAccountGrowsWithItsDeltaAndKeepsItsSlack) {
  const RuleSpec opened{RuleKind::kAdvanced, Eps("1"), Del("1e-6"), {}, {}};
  const absl::StatusOr<RuleSpec> changed = WithDelta(opened, Del("3e-6"));
  ASSERT_TRUE(changed.ok()) << changed.status();
  const std::vector<CounterAmount> before = *LimitsOf(opened);
  const std::vector<CounterAmount> after = *LimitsOf(*changed);
  EXPECT_EQ(after[0], before[0]) << "only one limit changes";
  EXPECT_EQ(after[1].amount - before[1].amount, Del("2e-6").units());
  const absl::StatusOr<RuleSpec> promise = KeptPromise(opened, after);
  ASSERT_TRUE(promise.ok()) << promise.status();
  EXPECT_EQ(promise->delta, Del("3e-6"));
  EXPECT_EQ(promise->epsilon, opened.epsilon);
}

TEST(KeptPromise, ChangesThatTheRuleCannotKeepAreRefusedByTheirField) {
  const RuleSpec zcdp{RuleKind::kZcdp, Eps("3"), Del("1e-9"), {}, {}};
  const RuleSpec advanced{RuleKind::kAdvanced, Eps("1"), Del("1e-6"), {}, {}};
  EXPECT_EQ(Field(WithEpsilon(zcdp, Epsilon(0)).status()), "epsilon");
  EXPECT_EQ(Field(WithDelta(zcdp, Del("1e-8")).status()), "delta");
  EXPECT_EQ(Field(WithDelta(advanced, Del("4e-7")).status()), "delta") << "less than its slack";
}

TEST(KeptPromise, OfCountersThatAreNotTheRulesIsRefused) {
  const RuleSpec pure{RuleKind::kPure, Eps("1"), {}, {}, {}};
  EXPECT_TRUE(absl::IsDataLoss(KeptPromise(pure, {{"rho", 5}}).status()));
  EXPECT_TRUE(absl::IsDataLoss(KeptPromise(pure, {}).status()));
}

TEST(KeptPromise, OfALimitThatNoEpsilonGivesIsRefused) {
  const RuleSpec zcdp{RuleKind::kZcdp, Eps("3"), Del("1e-9"), {}, {}};
  EXPECT_TRUE(absl::IsDataLoss(KeptPromise(zcdp, {{"rho", std::numeric_limits<int64_t>::max()}}).status()));
}

TEST(EpsilonUsed, IsZeroBeforeAnythingIsSpentAndNearlyThePromiseWhenAllIs) {
  for (const RuleSpec& promise : SomeRules()) {
    std::vector<CounterAmount> spent = *LimitsOf(promise);
    const Epsilon all = *EpsilonUsed(promise, *LimitsOf(promise), spent);
    EXPECT_LE(all, promise.epsilon);
    EXPECT_GT(all.units(), promise.epsilon.units() - promise.epsilon.units() / 100'000'000);
    for (CounterAmount& counter : spent) counter.amount = 0;
    EXPECT_EQ(*EpsilonUsed(promise, *LimitsOf(promise), spent), Epsilon(0));
  }
}

TEST(EpsilonUsed, GrowsWithWhatIsSpentAndCoversIt) {
  for (const RuleSpec& promise : SomeRules()) {
    const std::vector<CounterAmount> limits = *LimitsOf(promise);
    Epsilon before;
    for (int64_t percent = 1; percent <= 100; percent += 3) {
      std::vector<CounterAmount> spent = limits;
      spent[0].amount = limits[0].amount / 100 * percent;
      const absl::StatusOr<Epsilon> used = EpsilonUsed(promise, *LimitsOf(promise), spent);
      ASSERT_TRUE(used.ok()) << used.status();
      EXPECT_GT(*used, before);
      EXPECT_LE(*used, promise.epsilon);
      EXPECT_GE(LimitsOf(*WithEpsilon(promise, *used))->front().amount, spent[0].amount)
          << std::string(RuleName(promise.kind)) << ", " << percent << "%";
      before = *used;
    }
  }
}

TEST(EpsilonUsed, UnderPureIsTheSum) {
  const RuleSpec pure{RuleKind::kPure, Eps("1"), {}, {}, {}};
  EXPECT_EQ(*EpsilonUsed(pure, *LimitsOf(pure), {{"epsilon", Eps("0.123").units()}}), Eps("0.123"));
}

TEST(EpsilonUsed, UnderZcdpIsTheTightConversionRoundedUp) {
  const RuleSpec zcdp{RuleKind::kZcdp, Eps("3"), Del("1e-9"), {}, {}};
  for (const int64_t rho : {int64_t{1}, int64_t{1'000'000}, int64_t{40'000'000'000}}) {
    const Epsilon used = *EpsilonUsed(zcdp, *LimitsOf(zcdp), {{"rho", rho}});
    const Interval least = EpsilonOfZcdp(Interval::Of(Rho(rho)), Interval::Of(zcdp.delta));
    EXPECT_FALSE(Interval::Of(used).CertainlyAtMost(least - Interval::Of(Epsilon(1))));
    EXPECT_TRUE(Interval::Of(used).CertainlyAtMost(least + Interval::Of(Epsilon(10))));
  }
}

TEST(EpsilonUsed, IsAboveThePromiseWhereMoreWasSpent) {
  for (const RuleSpec& promise : SomeRules()) {
    std::vector<CounterAmount> spent = *LimitsOf(promise);
    spent[0].amount += spent[0].amount / 10;
    EXPECT_GT(*EpsilonUsed(promise, *LimitsOf(promise), spent), promise.epsilon);
  }
}

TEST(EpsilonUsed, IsNotKnownWhereDeltaIsOverspentOrTheCountersAreOthers) {
  const RuleSpec advanced{RuleKind::kAdvanced, Eps("1"), Del("1e-6"), {}, {}};
  const std::vector<CounterAmount> limits = *LimitsOf(advanced);
  std::vector<CounterAmount> spent = limits;
  spent[1].amount += 1;
  EXPECT_TRUE(absl::IsDataLoss(EpsilonUsed(advanced, limits, spent).status()));
  EXPECT_TRUE(absl::IsDataLoss(EpsilonUsed(advanced, limits, {{"rho", 5}}).status()));
  EXPECT_TRUE(absl::IsDataLoss(EpsilonUsed(advanced, {}, {}).status()));
}

// Canary: the share of rho that was spent, of the promise's epsilon, is not what was used.
TEST(EpsilonUsedCanary, TheSameShareOfThePromiseUnderstatesWhatWasUsed) {
  const RuleSpec zcdp{RuleKind::kZcdp, Eps("1"), Del("1e-9"), {}, {}};
  const int64_t quarter = LimitsOf(zcdp)->front().amount / 4;
  const Epsilon proportional(zcdp.epsilon.units() / 4);
  EXPECT_LT(LimitsOf(*WithEpsilon(zcdp, proportional))->front().amount, quarter) << "it would not cover it";
  EXPECT_GT(*EpsilonUsed(zcdp, *LimitsOf(zcdp), {{"rho", quarter}}), proportional);
}

TEST(KeptPromiseCanary, ThePromiseAtOpeningWouldUnderstateARaisedLimit) {
  const RuleSpec opened{RuleKind::kZcdp, Eps("1"), Del("1e-9"), {}, {}};
  const std::vector<CounterAmount> raised = *LimitsOf(*WithEpsilon(opened, Eps("2")));
  EXPECT_LT(LimitsOf(opened)->front().amount, raised.front().amount);
  EXPECT_GT(KeptPromise(opened, raised)->epsilon, opened.epsilon);
}

}  // namespace
}  // namespace curator::dp
