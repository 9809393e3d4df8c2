// Contingency tables of a few hundred cells and records, most cells empty: relative entropy of the models of
// mwem, auto and independence. The tables are generated: each of four kinds of records has one likely value
// of each attribute (likely_percent) and else any value. Repetition r makes its own table from the seed r.
#include <algorithm>
#include <cstdio>
#include <random>

#include "bench/mwem_paper/contingency_tables.h"
#include "bench/mwem_paper/experiments.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::bench {
namespace {

struct SparseKind {
  std::string name;
  std::vector<int64_t> sizes;
  int records = 0;
  uint64_t likely_percent = 0;
};

BenchTable SparseTable(const SparseKind& kind, int seed) {
  constexpr size_t kKindsOfRecords = 4;
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  Rows likely(kKindsOfRecords);
  for (auto& row : likely) {
    for (const int64_t size : kind.sizes)
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(size)));
  }
  Rows rows;
  for (int i = 0; i < kind.records; ++i) {
    rows.push_back(likely[random() % kKindsOfRecords]);
    for (size_t a = 0; a < kind.sizes.size(); ++a) {
      if (random() % 100 >= kind.likely_percent)
        rows.back()[a] = static_cast<uint32_t>(random() % static_cast<uint64_t>(kind.sizes[a]));
    }
  }
  return TableOf(DomainOf(kind.sizes), std::move(rows));
}

double EmptyShare(const BenchTable& table) {
  const std::vector<int64_t> counts = CountsOf(table, Every(table.domain));
  return static_cast<double>(std::ranges::count(counts, 0)) / static_cast<double>(counts.size());
}

// The product of the table's own one-way shares, which no noise disturbs.
std::vector<double> ExactIndependence(const BenchTable& table) {
  std::vector<double> weights = {1};
  for (uint32_t a = 0; a < table.domain.size(); ++a) {
    std::vector<double> longer;
    const std::vector<int64_t> counts = CountsOf(table, {a});
    for (const double weight : weights) {
      for (const int64_t count : counts)
        longer.push_back(weight * static_cast<double>(count) / static_cast<double>(table.rows.size()));
    }
    weights = std::move(longer);
  }
  return weights;
}

// A way to make a model: a method, and the sizes of the marginals that it is asked for.
struct Way {
  std::string label;
  std::string method;
  int order = 3;
  Settings settings;
};

double EntropyOf(const Way& way, const Options& options, const BenchTable& table, double epsilon, int seed) {
  const auto sets = dp::AllKWayMarginals(table.domain, way.order, {}).value();
  const Settings settings = way.method == "mwem" ? options.With(way.settings) : way.settings;
  const dp::SynthesisInput input = InputFor(table.domain, epsilon, dp::WholeMarginals(sets), settings);
  return RelativeEntropy(table,
                         FitBy(way.method, input, table, seed).model->Marginal(Every(table.domain)).value());
}

void PrintSparseRow(const Options& options, const SparseKind& kind, const std::vector<Way>& ways,
                    double epsilon) {
  std::vector<Repeated> entropies(ways.size());
  Repeated empty;
  Repeated uniform;
  Repeated independent;
  for (int seed = 1; seed <= options.repetitions; ++seed) {
    const BenchTable table = SparseTable(kind, seed);
    const std::vector<double> independence = ExactIndependence(table);
    empty.Add(100 * EmptyShare(table));
    uniform.Add(RelativeEntropy(table, std::vector<double>(independence.size(), 1)));
    independent.Add(RelativeEntropy(table, independence));
    for (size_t i = 0; i < ways.size(); ++i)
      entropies[i].Add(EntropyOf(ways[i], options, table, epsilon, seed));
  }
  std::printf("%-12s %5.0f%% %5.1f %9.3f %9.3f", kind.name.c_str(), empty.Mean(), epsilon, uniform.Mean(),
              independent.Mean());
  for (const Repeated& each : entropies) std::printf("  %6.3f +- %5.3f", each.Mean(), each.StandardError());
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void SparseTables(const Options& options) {
  const std::vector<Way> ways = {{"mwem", "mwem", 3, {}},
                                 {"mwem slack=1", "mwem", 3, {{"slack", "1"}}},
                                 {"mwem domain", "mwem", 3, {{"init", "domain"}}},
                                 {"auto", "auto", 3, {}},
                                 {"one-ways", "aim", 1, {}}};
  std::printf("%-12s %6s %5s %9s %9s", "table", "empty", "eps", "uniform", "indep.");
  for (const Way& way : ways) std::printf("  %15s", way.label.c_str());
  std::printf("\n");
  for (const SparseKind& kind :
       {SparseKind{"3x3x3x3x2x2", {3, 3, 3, 3, 2, 2}, 300, 75}, SparseKind{"4x4x5x6", {4, 4, 5, 6}, 400, 75},
        SparseKind{"2^8", std::vector<int64_t>(8, 2), 200, 85}}) {
    for (const double epsilon : {0.1, 1.0, 10.0}) {
      if (options.Wants(RowName(kind.name, epsilon))) PrintSparseRow(options, kind, ways, epsilon);
    }
  }
}

}  // namespace curator::bench
