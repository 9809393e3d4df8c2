// Section 4.1: 100,000 records of 10 to 1,000 binary attributes, attribute i set with probability 1/(i + 2);
// and Adult as 27 binary attributes, alone and with 50 irrelevant ones. All two-way marginals, epsilon 1.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "bench/mwem_paper/experiments.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::bench {
namespace {

constexpr int kRecords = 100'000;

BenchTable Independent(int attributes) {
  std::mt19937_64 random(1);
  Rows rows(kRecords, std::vector<uint32_t>(static_cast<size_t>(attributes)));
  for (auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) row[i] = random() % (i + 2) == 0 ? 1 : 0;
  }
  return TableOf(DomainOf(std::vector<int64_t>(static_cast<size_t>(attributes), 2)), std::move(rows));
}

// Each attribute's code in binary, then `irrelevant` fair coins.
BenchTable BinaryAdult(int irrelevant) {
  const BenchTable adult = CategoriesFrom(ReadAdult(), AdultCategories());
  std::mt19937_64 random(2);
  Rows rows;
  for (const auto& row : adult.rows) {
    std::vector<uint32_t> bits;
    for (size_t a = 0; a < row.size(); ++a) {
      const auto size = static_cast<uint64_t>(adult.domain.attributes()[a].size());
      for (auto bit = static_cast<int>(std::bit_width(size - 1)); bit-- > 0;)
        bits.push_back((row[a] >> bit) & 1U);
    }
    for (int i = 0; i < irrelevant; ++i) bits.push_back(static_cast<uint32_t>(random() % 2));
    rows.push_back(std::move(bits));
  }
  const size_t attributes = rows.front().size();
  return TableOf(DomainOf(std::vector<int64_t>(attributes, 2)), std::move(rows));
}

// The mean and the largest absolute error of a cell, as a share of the records, of up to 2,000 of the pairs.
void PrintErrors(const BenchTable& table, const std::vector<dp::AttributeSet>& pairs,
                 const dp::SynthesisModel& model) {
  double sum = 0;
  double largest = 0;
  const size_t stride = pairs.size() / 2000 + 1;
  int cells = 0;
  for (size_t i = 0; i < pairs.size(); i += stride) {
    const std::vector<int64_t> truth = CountsOf(table, pairs[i]);
    const std::vector<double> fitted = model.Marginal(pairs[i]).value();
    for (size_t cell = 0; cell < truth.size(); ++cell) {
      const double error = std::abs(static_cast<double>(truth[cell]) - fitted[cell]);
      sum += error;
      largest = std::max(largest, error);
      ++cells;
    }
  }
  const auto records = static_cast<double>(table.rows.size());
  std::printf(" %10.5f %10.5f\n", sum / cells / records, largest / records);
  std::fflush(stdout);
}

void Run(const std::string& name, const BenchTable& table, Settings settings, int repetitions) {
  const auto pairs = dp::AllKWayMarginals(table.domain, 2, {}, dp::kSynthesisLimits).value();
  dp::SynthesisInput input = InputFor(table.domain, 1.0, dp::WholeMarginals(pairs), std::move(settings));
  input.assume_records = static_cast<int64_t>(table.rows.size()) / 10'000 * 10'000;
  double seconds = 0;
  Fitted fitted;
  for (int seed = 1; seed <= repetitions; ++seed) {
    fitted = FitMwem(input, table, seed);
    seconds += fitted.cpu_seconds / repetitions;
  }
  std::printf("%-26s %8zu %7s %9.2f %7.0f", name.c_str(), pairs.size(), RoundsOf(input).c_str(), seconds,
              PeakMegabytes());
  PrintErrors(table, pairs, *fitted.model);
}

}  // namespace

void Scaling(const Options& options) {
  const int repetitions = options.repetitions;
  std::printf("%-26s %8s %7s %9s %7s %10s %10s\n", "data", "pairs", "rounds", "CPU s", "MB", "mean error",
              "largest");
  for (const int attributes : {10, 30, 100, 300, 1000}) {
    if (!options.Wants("independent")) break;
    Run("independent, " + std::to_string(attributes), Independent(attributes),
        {{"form", "factored"},
         {"init", "marginals"},
         {"init_percent", "50"},
         {"max_cells", "1048576"},
         {"rounds", "20"}},
        repetitions);
  }
  for (const char* const rounds : {"10", "20", "30", "40", "60"}) {
    if (!options.Wants("adult")) break;
    for (const int irrelevant : {0, 50}) {
      Run("adult 27 + " + std::to_string(irrelevant), BinaryAdult(irrelevant),
          {{"form", "factored"}, {"rounds", rounds}, {"max_cells", "1048576"}}, repetitions);
    }
  }
}

}  // namespace curator::bench
