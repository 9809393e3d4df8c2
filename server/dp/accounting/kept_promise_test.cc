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

TEST(KeptPromiseCanary, ThePromiseAtOpeningWouldUnderstateARaisedLimit) {
  const RuleSpec opened{RuleKind::kZcdp, Eps("1"), Del("1e-9"), {}, {}};
  const std::vector<CounterAmount> raised = *LimitsOf(*WithEpsilon(opened, Eps("2")));
  EXPECT_LT(LimitsOf(opened)->front().amount, raised.front().amount);
  EXPECT_GT(KeptPromise(opened, raised)->epsilon, opened.epsilon);
}

}  // namespace
}  // namespace curator::dp
