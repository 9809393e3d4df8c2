// How fast noise is drawn, as a ratio to std::normal_distribution<double> on std::mt19937_64 in the same run.
//
// The counter "times_normal" of each sampler is its time per draw over that of the normal distribution (goal
// for the discrete Gaussian: at most 10); "per_second" is draws, or candidates, per second.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/drbg.h"
#include "dp/noise/exponential_mechanism.h"

namespace curator::dp {
namespace {

constexpr size_t kBatch = 1 << 16;

DrawKey BenchmarkKey() {
  return DrawKey(DrawKey::Bytes{});
}

// Of this thread's processor time: other work on the machine does not count.
double SecondsNow() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds that one draw of the normal distribution takes: the best of some batches, so that the ratios do not
// flatter.
double NormalSecondsPerDraw() {
  static const double best = [] {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    double seconds = 1;
    for (int round = 0; round < 50; ++round) {
      const double start = SecondsNow();
      for (size_t i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(normal(engine));
      seconds = std::min(seconds, (SecondsNow() - start) / kBatch);
    }
    return seconds;
  }();
  return best;
}

void Report(benchmark::State& state, double seconds, size_t draws_each) {
  const double draws = static_cast<double>(state.iterations()) * static_cast<double>(draws_each);
  state.counters["per_second"] = draws / seconds;
  state.counters["times_normal"] = seconds / draws / NormalSecondsPerDraw();
}

template <typename Run>
void Measure(benchmark::State& state, size_t draws_each, const Run& run) {
  double seconds = 0;
  for (auto iteration : state) {
    const double start = SecondsNow();
    run();
    seconds += SecondsNow() - start;
  }
  Report(state, seconds, draws_each);
}

void Normal(benchmark::State& state) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  Measure(state, kBatch, [&] {
    for (size_t i = 0; i < kBatch; ++i) benchmark::DoNotOptimize(normal(engine));
  });
}

void Words(benchmark::State& state) {
  Drbg bits(BenchmarkKey());
  std::vector<uint64_t> words(kBatch);
  Measure(state, kBatch, [&] { bits.Fill(words); });
}

void Gaussian(benchmark::State& state) {
  const DiscreteGaussian sampler = DiscreteGaussian::Create({state.range(0), state.range(1)}).value();
  Drbg bits(BenchmarkKey());
  std::vector<int64_t> values(kBatch);
  Measure(state, kBatch, [&] { sampler.Fill(bits, values); });
}

void Laplace(benchmark::State& state) {
  const DiscreteLaplace sampler = DiscreteLaplace::Create({state.range(0), state.range(1)}).value();
  Drbg bits(BenchmarkKey());
  std::vector<int64_t> values(kBatch);
  Measure(state, kBatch, [&] { sampler.Fill(bits, values); });
}

void GaussianOneByOne(benchmark::State& state) {
  const DiscreteGaussian sampler = DiscreteGaussian::Create({state.range(0), state.range(1)}).value();
  Drbg bits(BenchmarkKey());
  Measure(state, 1000, [&] {
    for (int i = 0; i < 1000; ++i) benchmark::DoNotOptimize(sampler.Draw(bits));
  });
}

void GaussianCreation(benchmark::State& state) {
  Measure(state, 1, [&] {
    benchmark::DoNotOptimize(DiscreteGaussian::Create({state.range(0), state.range(1)}));
  });
}

// Candidates in all, gap of all but one to the best.
void Selection(benchmark::State& state) {
  std::vector<int64_t> scores(static_cast<size_t>(state.range(0)), -state.range(1));
  scores.back() = 0;
  Drbg bits(BenchmarkKey());
  Measure(state, scores.size(), [&] { benchmark::DoNotOptimize(DrawExponential(bits, scores, {1, 2})); });
}

BENCHMARK(Normal);
BENCHMARK(Words);
BENCHMARK(Gaussian)->Args({1, 1})->Args({100, 1})->Args({1'000'000, 1})->Args({999'999'999'989, 26});
BENCHMARK(Laplace)->Args({1, 1})->Args({100, 1})->Args({1'000'000, 1})->Args({999'999'999'989, 26});
BENCHMARK(GaussianOneByOne)->Args({100, 1});
BENCHMARK(GaussianCreation)->Args({999'999'999'989, 26});
BENCHMARK(Selection)->Args({1'000, 0})->Args({1'000'000, 0})->Args({1'000'000, 1000});

}  // namespace
}  // namespace curator::dp

int main(int argument_count, char** arguments) {
  benchmark::Initialize(&argument_count, arguments);
  if (benchmark::ReportUnrecognizedArguments(argument_count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
