// What a dense synthesizer's inner loops cost, in nanoseconds per cell of the domain, beside what the machine
// can do: a multiplicative update of all cells by one marginal's factors, the sums of one marginal, the sums
// of all two-way marginals, a copy of the weights (streaming bandwidth), and the loop that the update
// replaces, one std::exp per cell.
//
// The domain is that of seven categorical attributes of the Adult table: 907,200 cells.
//
// And whole runs of MWEM (planning, drawing and fitting, PURE epsilon 1, default settings) on real tables of
// $CURATOR_SHARED/data (default ../shared/data): nltcs with all three-way marginals, and the eight
// categorical attributes of Adult (38,102,400 cells) with all two-way ones; the latter takes about a minute.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/mwem_paper/bench_world.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/workload/marginals.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {
namespace {

struct Adult {
  Domain domain = CodedDomain({9, 16, 7, 15, 6, 5, 2});
  DenseLayout layout = DenseLayout::Create(domain, {0, 1, 2, 3, 4, 5, 6}, kMost).value();
  std::vector<float> weights = std::vector<float>(static_cast<size_t>(layout.cells()), 0.036F);
  Pacer pacer{std::stop_token()};

  static constexpr int64_t kMost = int64_t{1} << 26;
};

void ReportPerCell(benchmark::State& state, const Adult& adult) {
  state.counters["ns_per_cell"] =
      benchmark::Counter(static_cast<double>(adult.layout.cells()) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void UpdateByOneMarginal(benchmark::State& state) {
  Adult adult;
  const AttributeSet sets[] = {{0, 1}, {1, 3}, {3, 4}, {5, 6}};
  const DenseMarginal marginal =
      DenseMarginal::Create(adult.layout, sets[state.range(0)], adult.pacer).value();
  const std::vector<float> factors(static_cast<size_t>(marginal.cells()), 1.0F);
  for (auto _ : state) {
    if (!marginal.Scale(factors, adult.weights, adult.pacer).ok()) state.SkipWithError("stopped");
  }
  ReportPerCell(state, adult);
}
BENCHMARK(UpdateByOneMarginal)->DenseRange(0, 3);

void SumsOfOneMarginal(benchmark::State& state) {
  Adult adult;
  const DenseMarginal marginal = DenseMarginal::Create(adult.layout, {1, 3}, adult.pacer).value();
  for (auto _ : state) benchmark::DoNotOptimize(marginal.Sum(adult.weights, adult.pacer));
  ReportPerCell(state, adult);
}
BENCHMARK(SumsOfOneMarginal);

void SumsOfAllTwoWayMarginals(benchmark::State& state) {
  Adult adult;
  const auto sets = AllKWayMarginals(adult.domain, 2, {}).value();
  for (auto _ : state) benchmark::DoNotOptimize(AllMarginals(adult.layout, adult.weights, sets, adult.pacer));
  ReportPerCell(state, adult);
}
BENCHMARK(SumsOfAllTwoWayMarginals);

void CopyOfTheWeights(benchmark::State& state) {
  Adult adult;
  std::vector<float> copy(adult.weights.size());
  for (auto _ : state) {
    std::copy(adult.weights.begin(), adult.weights.end(), copy.begin());
    benchmark::ClobberMemory();
  }
  ReportPerCell(state, adult);
}
BENCHMARK(CopyOfTheWeights);

void OneExpPerCell(benchmark::State& state) {
  Adult adult;
  for (auto _ : state) {
    for (float& weight : adult.weights)
      weight *= static_cast<float>(std::exp(static_cast<double>(weight) * 1e-9));
    benchmark::ClobberMemory();
  }
  ReportPerCell(state, adult);
}
BENCHMARK(OneExpPerCell);

void RunWhole(benchmark::State& state, const bench::BenchTable& table, int k) {
  const SynthesisInput input =
      bench::InputFor(table.domain, 1, WholeMarginals(AllKWayMarginals(table.domain, k, {}).value()), {});
  int seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(bench::FitMwem(input, table, ++seed).model);
  state.counters["peak_MB"] = bench::PeakMegabytes();
}

void WholeRunOnNltcs(benchmark::State& state) {
  const bench::CsvFile file = bench::ReadCsv("nltcs/micro.csv");
  std::vector<bench::NumberColumn> columns;
  for (const std::string& name : file.header) columns.push_back({name, 0, 2});
  RunWhole(state, bench::NumbersFrom(file, columns), 3);
}
BENCHMARK(WholeRunOnNltcs)->Unit(benchmark::kMillisecond)->Iterations(10);

void WholeRunOnAdultCategories(benchmark::State& state) {
  RunWhole(state, bench::CategoriesFrom(bench::ReadAdult(), bench::AdultCategories()), 2);
}
BENCHMARK(WholeRunOnAdultCategories)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace curator::dp

BENCHMARK_MAIN();
