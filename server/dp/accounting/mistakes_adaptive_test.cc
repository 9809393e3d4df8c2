// Mistakes known from other systems, second part: what an analyst gains who chooses after seeing answers, and
// what displays give away. Each wrong variant is caught by the check that the sound one passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "dp/accounting/rule.h"
#include "dp/accounting/testing/rules.h"

namespace curator::dp {
namespace {

using testing::CounterAccount;

struct Outcome {
  double loss;
  double probability;
};
using Losses = std::vector<Outcome>;

constexpr double kEpsilon = 1;
constexpr double kDelta = 1e-3;

// Randomised response of `epsilon`, `count` times: the worst that epsilon-DP mechanisms can do.
Losses RandomizedResponse(double epsilon, int count) {
  const double likelier = 1 / (1 + std::exp(-epsilon));
  Losses losses;
  for (int k = 0; k <= count; ++k) {
    const double choices = std::exp(std::lgamma(count + 1) - std::lgamma(k + 1) - std::lgamma(count - k + 1));
    losses.push_back(
        {(2 * k - count) * epsilon, choices * std::pow(likelier, k) * std::pow(1 - likelier, count - k)});
  }
  return losses;
}

// E[(1 - e^(epsilon - loss))+] of a loss that starts at `start`.
double DeltaFrom(double start, const Losses& losses) {
  double delta = 0;
  for (const Outcome& outcome : losses) {
    const double loss = start + outcome.loss;
    if (loss > kEpsilon) delta += outcome.probability * -std::expm1(kEpsilon - loss);
  }
  return delta;
}

// After eight small answers, one of several continuations.
constexpr int kFirstCount = 8;
const double kFirstEpsilon = 0.1 / std::sqrt(8.0);
constexpr int kContinuations[] = {1, 2, 3, 5, 10, 40};

double FixedDelta(double epsilon, int count) {
  double delta = 0;
  const Losses rest = RandomizedResponse(epsilon, count);
  for (const Outcome& first : RandomizedResponse(kFirstEpsilon, kFirstCount)) {
    delta += first.probability * DeltaFrom(first.loss, rest);
  }
  return delta;
}

// Says whether a gate admits `count` mechanisms of `epsilon` after the first ones.
using Gate = std::function<bool(double epsilon, int count)>;

// The delta of the analyst who, once the first answers are known, takes the worst continuation that the gate
// admits; of each length the largest.
double AdaptiveDelta(const Gate& admits) {
  std::vector<Losses> continuations;
  for (const int count : kContinuations) {
    double low = 0;
    double high = 3;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (admits(middle, count) ? low : high) = middle;
    }
    continuations.push_back(RandomizedResponse(low, count));
  }
  double delta = 0;
  for (const Outcome& first : RandomizedResponse(kFirstEpsilon, kFirstCount)) {
    double worst = 0;
    for (const Losses& rest : continuations) worst = std::max(worst, DeltaFrom(first.loss, rest));
    delta += first.probability * worst;
  }
  return delta;
}

// Upwards, so that it costs no less than the true one.
Event PureOf(double epsilon) {
  return {PureEvent{Epsilon(static_cast<int64_t>(std::ceil(epsilon * 1e12)))}};
}

bool FilterAdmits(const RuleSpec& spec, double epsilon, int count) {
  CounterAccount account(testing::Limits(spec));
  for (int i = 0; i < kFirstCount; ++i) {
    if (!account.Charge(*testing::Cost(spec, PureOf(kFirstEpsilon)))) return false;
  }
  return account.Charge(*testing::Cost(spec, {ComposedEvent{{{PureOf(epsilon), count}}}}));
}

TEST(Mistakes, WhoeverAdaptsGainsNothingFromAFilter) {
  for (RuleSpec spec : testing::EveryRule()) {
    spec.epsilon = Epsilon(kEpsilonUnitsPerOne);
    if (spec.kind != RuleKind::kPure) spec.delta = Delta(kDeltaUnitsPerOne / 1000);
    const double delta = AdaptiveDelta([&](double e, int n) { return FilterAdmits(spec, e, n); });
    EXPECT_LE(delta, spec.kind == RuleKind::kPure ? 1e-12 : kDelta) << RuleName(spec.kind);
  }
}

// The same analyst at a gate that asks, of what was chosen so far, the optimal theorem for fixed parameters.
TEST(MistakesCanary, AdvancedCompositionWithAdaptiveEpsilonIsCaught) {
  const Gate optimal = [](double epsilon, int count) { return FixedDelta(epsilon, count) <= kDelta; };
  EXPECT_GT(AdaptiveDelta(optimal), 2 * kDelta);
}

// A table of one column; two that differ by one record.
using Table = std::vector<int>;
const Table kTable = {1, 1, 2};
const Table kNeighbour = {1, 1};

// The balance that an account shows after `queries` counts of single values.
template <typename Account>
bool ShowsTheSameOnNeighbours(const Account& balance_after) {
  const std::vector<int> queries = {1, 2, 2};
  return balance_after(kTable, queries) == balance_after(kNeighbour, queries);
}

// Ours: a cost is a function of the event, which is made without a table.
TEST(Mistakes, ABalanceSaysNothingAboutTheRecords) {
  EXPECT_TRUE(ShowsTheSameOnNeighbours([](const Table&, const std::vector<int>& queries) {
    const RuleSpec spec = testing::SpecOf(RuleKind::kZcdp);
    CounterAccount account(testing::Limits(spec));
    for (size_t i = 0; i < queries.size(); ++i) account.Charge(*testing::Cost(spec, PureOf(0.1)));
    return account.spent();
  }));
}

// Individual accounting charges each record for the queries that it takes part in; that is private, and so is
// every balance of it. Shown, here as the fullest one, it tells who is in the table.
TEST(MistakesCanary, AnIndividualsBalanceDisplayedIsCaught) {
  EXPECT_FALSE(ShowsTheSameOnNeighbours([](const Table& table, const std::vector<int>& queries) {
    int64_t fullest = 0;
    for (const int value : table) {
      fullest = std::max<int64_t>(fullest, std::count(queries.begin(), queries.end(), value));
    }
    return fullest;
  }));
}

}  // namespace
}  // namespace curator::dp
