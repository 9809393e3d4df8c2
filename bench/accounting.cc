// How fast budgets are counted: admissions per second under each rule, and numerical composition of many
// mechanisms.
//
// The admission benchmarks take charges from an account that already holds a million: a rule is additive
// counters, so the history must not matter.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>
#include <vector>

#include "dp/accounting/certification.h"
#include "dp/accounting/numerical/composition.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/testing/counter_account.h"

namespace curator::dp {
namespace {

constexpr int64_t kHistory = 1'000'000;

RuleSpec SpecOf(RuleKind kind) {
  RuleSpec spec{kind, Epsilon(1000 * kEpsilonUnitsPerOne), Delta(1'000'000'000'000), std::nullopt,
                std::nullopt};
  if (kind == RuleKind::kPure) spec.delta = Delta(0);
  if (kind == RuleKind::kRdp) spec.order = Rational{8, 1};
  return spec;
}

Event SmallEvent() {
  return {DiscreteLaplaceEvent{{100'000'000, 1}, 1, 1}};
}

// Pricing and admission of one event against a long history.
void BM_PriceAndAdmit(benchmark::State& state) {
  const RuleSpec spec = SpecOf(static_cast<RuleKind>(state.range(0)));
  testing::CounterAccount account = testing::CounterAccount::Under(*LimitsOf(spec));
  const std::vector<int64_t> once = testing::CounterAccount::AmountsOf(*CostOf(spec, SmallEvent()));
  for (int64_t i = 0; i < kHistory; ++i) account.Charge(once);
  for (auto _ : state) {
    const std::vector<int64_t> cost = testing::CounterAccount::AmountsOf(*CostOf(spec, SmallEvent()));
    benchmark::DoNotOptimize(account.Fits(cost));
  }
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(RuleName(spec.kind)));
}
BENCHMARK(BM_PriceAndAdmit)->DenseRange(0, 3);

// Admission alone: the price is known.
void BM_Admit(benchmark::State& state) {
  const RuleSpec spec = SpecOf(static_cast<RuleKind>(state.range(0)));
  testing::CounterAccount account = testing::CounterAccount::Under(*LimitsOf(spec));
  const std::vector<int64_t> once = testing::CounterAccount::AmountsOf(*CostOf(spec, SmallEvent()));
  for (int64_t i = 0; i < state.range(1); ++i) account.Charge(once);
  for (auto _ : state) benchmark::DoNotOptimize(account.Fits(once));
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(RuleName(spec.kind)));
}
BENCHMARK(BM_Admit)->ArgsProduct({{0, 1, 2, 3}, {0, kHistory}});

// A thousand mechanisms, no two alike: a quarter each of Laplace, Gaussian, exponential and pure ones.
Schedule ThousandDifferent() {
  Schedule schedule;
  for (int64_t i = 0; i < 250; ++i) {
    schedule.push_back({Event{LaplaceEvent{{50'000 + 137 * i, 1000}, {1, 1}}}, 1});
    schedule.push_back({Event{GaussianEvent{{2'500 + 31 * i, 1}, {1, 1}}}, 1});
    schedule.push_back({Event{ExponentialMechanismEvent{Epsilon(20'000'000'000 - 37'000'000 * i)}}, 1});
    schedule.push_back({Event{PureEvent{Epsilon(15'000'000'000 - 29'000'000 * i)}}, 1});
  }
  return schedule;
}

// A thousand Laplace mechanisms, no two alike: none can be merged.
Schedule ThousandLaplace() {
  Schedule schedule;
  for (int64_t i = 0; i < 1000; ++i)
    schedule.push_back({Event{LaplaceEvent{{50'000 + 97 * i, 1000}, {1, 1}}}, 1});
  return schedule;
}

void Compose(benchmark::State& state, const Schedule& schedule) {
  double epsilon = 0;
  for (auto _ : state)
    epsilon = NumericalEpsilon(schedule, 1e-6, {.sides = Sides::kUpper, .step = 1e-4})->upper;
  state.counters["epsilon"] = epsilon;
  // How far the certified answer may be from the truth: 0 where there is no lower bound.
  const CertifiedBounds bounds = *NumericalEpsilon(schedule, 1e-6, {.step = 1e-4});
  state.counters["gap"] = bounds.upper - bounds.lower.value_or(bounds.upper);
}
void BM_ComposeThousandDifferent(benchmark::State& state) {
  Compose(state, ThousandDifferent());
}
void BM_ComposeThousandLaplace(benchmark::State& state) {
  Compose(state, ThousandLaplace());
}

// What a synthesis of `rounds` rounds is charged under ADVANCED: computed once, when it is priced.
void BM_CertifyRequest(benchmark::State& state) {
  const int64_t rounds = state.range(0);
  const std::vector<CountedEvent> draws = {
      {Event{DiscreteGaussianEvent{{400, 1}, 1}}, 1},
      {Event{ExponentialMechanismEvent{Epsilon(kEpsilonUnitsPerOne / (10 * rounds))}}, rounds},
      {Event{DiscreteGaussianEvent{{50 * rounds, 1}, 1}}, rounds}};
  const Delta delta(1'000'000'000'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(CheapestCertified(draws, Epsilon(100 * kEpsilonUnitsPerOne), delta).ok());
  }
}
BENCHMARK(BM_CertifyRequest)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ComposeThousandDifferent)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ComposeThousandLaplace)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace curator::dp

int main(int argument_count, char** arguments) {
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
