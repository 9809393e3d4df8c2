// How fast marginals are counted, beside what the machine's memory allows: ns per row and marginal, one
// thread.
#include <benchmark/benchmark.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "bench/adult_like.h"
#include "dp/data/count_marginals.h"
#include "dp/data/protected_pages.h"
#include "dp/data/public_table.h"

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

// Every set of `k` among the first twelve attributes.
std::vector<dp::AttributeSet> AllSets(uint32_t k) {
  std::vector<dp::AttributeSet> sets;
  for (uint32_t bits = 0; bits < (1u << 12); ++bits) {
    if (static_cast<uint32_t>(__builtin_popcount(bits)) != k) continue;
    sets.emplace_back();
    for (uint32_t i = 0; i < 12; ++i) {
      if (bits >> i & 1) sets.back().push_back(i);
    }
  }
  return sets;
}

void AllTwoWayOfTwelve(benchmark::State& state) {
  CountSets(state, AllSets(2));
}
void AllThreeWayOfTwelve(benchmark::State& state) {
  CountSets(state, AllSets(3));
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
BENCHMARK(OpenAndClosePages)->Arg(48'842)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
