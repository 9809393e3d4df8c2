// How fast marginals are counted: ns per row and marginal.
//
//   bench_counting compare [ROWS ...]   beside the machine's streaming reads, numpy.bincount and PostgreSQL's
//                                       GROUP BY on the same codes, in one run; 10^6 and 10^7 rows by default
//   bench_counting [--benchmark_...]    Curator alone, under Google Benchmark
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "bench/adult_like.h"
#include "bench/counting_comparison.h"
#include "dp/data/count_marginals.h"
#include "dp/data/protected_pages.h"
#include "dp/data/public_table.h"
#include "host/scheduling.h"

namespace curator::bench {
namespace {

// Made once for each size. Public, because nothing here is private; private tables are counted by the same
// loops.
const dp::PublicTable& TableOf(int64_t rows) {
  static std::map<int64_t, dp::PublicTable> tables;
  const auto found = tables.find(rows);
  if (found != tables.end()) return found->second;
  return tables.emplace(rows, dp::PublicTable::Create(AdultLikeColumns(rows)).value()).first->second;
}

void Report(benchmark::State& state, int64_t rows, size_t marginals) {
  const double pairs =
      static_cast<double>(state.iterations()) * static_cast<double>(rows) * static_cast<double>(marginals);
  state.counters["ns_per_row_and_marginal"] =
      benchmark::Counter(pairs * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void CountSets(benchmark::State& state, const std::vector<dp::AttributeSet>& sets) {
  const int64_t rows = state.range(0);
  const dp::PublicTable& table = TableOf(rows);
  const dp::Domain domain = AdultLikeDomain();
  for (auto _ : state) benchmark::DoNotOptimize(dp::CountMarginals(table, domain, sets));
  Report(state, rows, sets.size());
}

void RandomThreeWay(benchmark::State& state) {
  CountSets(state, RandomSets(64, 3));
}
void OneThreeWay(benchmark::State& state) {
  CountSets(state, RandomSets(1, 3));
}

void AllTwoWayOfTwelve(benchmark::State& state) {
  CountSets(state, AllSets(12, 2));
}
void AllThreeWayOfTwelve(benchmark::State& state) {
  CountSets(state, AllSets(12, 3));
}

// With every core that the process may use; the time is the elapsed one.
void RandomThreeWayOnAllCores(benchmark::State& state) {
  const dp::PublicTable& table = TableOf(state.range(0));
  const dp::Domain domain = AdultLikeDomain();
  const std::vector<dp::AttributeSet> sets = RandomSets(64, 3);
  host::FreeCores cores;
  for (auto _ : state) benchmark::DoNotOptimize(dp::CountMarginals(table, domain, sets, cores));
  Report(state, state.range(0), sets.size());
}

// A hundred attributes of 2 to 40 bins, and all 4,950 pairs of them.
void AllTwoWayOfAHundred(benchmark::State& state) {
  const int64_t rows = state.range(0);
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < 100; ++i) sizes.push_back(2 + i * 7 % 39);
  const dp::PublicTable table = dp::PublicTable::Create(SkewedColumns(sizes, rows)).value();
  const dp::Domain domain = CodedDomain(sizes);
  const std::vector<dp::AttributeSet> sets = AllSets(100, 2);
  for (auto _ : state) benchmark::DoNotOptimize(dp::CountMarginals(table, domain, sets));
  Report(state, rows, sets.size());
}

// The ceiling: how fast one thread reads memory from end to end.
void StreamingRead(benchmark::State& state) {
  const std::vector<uint64_t> words(static_cast<size_t>(state.range(0)) / sizeof(uint64_t), 1);
  for (auto _ : state) {
    uint64_t sums[8] = {};
    for (size_t i = 0; i + 8 <= words.size(); i += 8) {
      for (size_t lane = 0; lane < 8; ++lane) sums[lane] += words[i + lane];
    }
    benchmark::DoNotOptimize(std::accumulate(sums, sums + 8, uint64_t{0}));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// What protection adds to each draw: opening and closing the pages of a private table of so many rows.
void OpenAndClosePages(benchmark::State& state) {
  const auto pages =
      dp::ProtectedPages::Allocate(static_cast<size_t>(state.range(0)) * AdultSizes().size()).value();
  std::memset(pages->bytes().data(), 1, pages->bytes().size());
  pages->Seal();
  for (auto _ : state) {
    pages->AllowReading();
    pages->ForbidReading();
  }
}

BENCHMARK(StreamingRead)->Arg(int64_t{1} << 28)->Unit(benchmark::kMillisecond);
BENCHMARK(RandomThreeWay)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(OneThreeWay)->Arg(48'842)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(AllTwoWayOfTwelve)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(AllThreeWayOfTwelve)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(RandomThreeWayOnAllCores)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(AllTwoWayOfAHundred)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(OpenAndClosePages)->Arg(48'842)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "compare") {
    std::vector<int64_t> sizes;
    for (int i = 2; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
    return curator::bench::CompareCounting(sizes.empty() ? std::vector<int64_t>{1'000'000, 10'000'000}
                                                         : sizes);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
