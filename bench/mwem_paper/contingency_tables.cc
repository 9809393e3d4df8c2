// Section 3.2: relative entropy of the model against epsilon, for all parities of up to 2 and 3 attributes:
// plain MWEM as in the paper's figure 1, MWEM with its two improvements (replay and a histogram beforehand),
// and all parities at uniform accuracy. The rows are named "mildew-3-0.1", "mildew-2-10.0", "czech-3-1.0" and
// so on.
#include "bench/mwem_paper/contingency_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "bench/mwem_paper/experiments.h"
#include "bench/mwem_paper/parity_baseline.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::bench {
namespace {

// The value of a parity's weights in every cell of the whole table.
std::vector<int> SignsOf(const dp::Domain& domain, const dp::QueryGroup& group) {
  const size_t cells = size_t{1} << domain.size();
  std::vector<int> signs(cells);
  for (size_t cell = 0; cell < cells; ++cell) {
    int ones = 0;
    for (const uint32_t a : group.attributes)
      ones += static_cast<int>((cell >> (domain.size() - 1 - a)) & 1U);
    signs[cell] = ones % 2 == 0 ? 1 : -1;
  }
  return signs;
}

// Figure 1 of the paper to the letter, but for n, which is charged for (5%): one update with the newest
// measurement a round, the last iterate.
std::vector<double> PlainMwem(const BenchTable& table, double epsilon, int k, int rounds, int seed) {
  const dp::UnitBound unit{dp::NeighbourRelation::kAddRemove, 1};
  const std::vector<dp::QueryGroup> groups = Parities(table.domain, k);
  const auto units = static_cast<int64_t>(epsilon * 1e12);
  const dp::Epsilon half((units - units / 20) / rounds / 2);
  const dp::Sensitivity one = dp::RecordCountSensitivity(unit).value();
  const dp::NoiseSpec count_noise = dp::LaplaceNoiseFor(one, dp::Epsilon(units / 20)).value();
  const dp::NoiseSpec noise = dp::LaplaceNoiseFor(one, half).value();
  PaidKernel paid(table,
                  {{dp::NoiseEvent(count_noise, one), 1},
                   {{dp::ExponentialMechanismEvent{half}}, rounds},
                   {dp::NoiseEvent(noise, one), rounds}},
                  seed);
  const auto n = std::max(1.0, static_cast<double>(paid.kernel().NoisyRecordCount(count_noise).value()));
  std::vector<double> weights(size_t{1} << table.domain.size());
  std::ranges::fill(weights, n / static_cast<double>(weights.size()));
  std::vector<std::vector<int>> signs;
  std::vector<dp::CandidateFamily> families;
  for (const dp::QueryGroup& group : groups) {
    signs.push_back(SignsOf(table.domain, group));
    families.push_back({.group = group, .estimate = {0}});
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < groups.size(); ++i) {
      double answer = 0;
      for (size_t cell = 0; cell < weights.size(); ++cell) answer += signs[i][cell] * weights[cell];
      families[i].estimate = {answer};
    }
    const size_t chosen = paid.kernel().SelectWorstCandidate(families, half).value().family;
    families[chosen].excluded = {0};
    const auto measured = paid.kernel().NoisyCounts(std::span(&groups[chosen], 1), noise).value();
    const double step = (static_cast<double>(measured[0][0]) - families[chosen].estimate[0]) / (2 * n);
    double total = 0;
    for (size_t cell = 0; cell < weights.size(); ++cell)
      total += weights[cell] *= std::exp(signs[chosen][cell] * step);
    for (double& weight : weights) weight *= n / total;
  }
  return weights;
}

struct Case {
  std::string name;
  std::vector<int> rounds;
};

// Those of the least mean over the given numbers of rounds, as in the paper ("the best setting of T").
template <typename Entropy>
Repeated Best(const std::vector<int>& rounds, size_t candidates, int repetitions, Entropy entropy) {
  std::optional<Repeated> best;
  for (const int t : rounds) {
    if (static_cast<size_t>(t) >= candidates) continue;
    Repeated entropies;
    for (int seed = 1; seed <= repetitions; ++seed) entropies.Add(entropy(t, seed));
    if (!best || entropies.Mean() < best->Mean()) best = entropies;
  }
  return *best;
}

void PrintEntropyRow(const Options& options, const Case& each, const BenchTable& table, int k,
                     double epsilon) {
  const std::vector<dp::QueryGroup> parities = Parities(table.domain, k);
  const auto mwem = [&](Settings settings, int seed) {
    dp::SynthesisInput input = InputFor(table.domain, epsilon, parities, options.With(std::move(settings)));
    input.assume_records = static_cast<int64_t>(table.rows.size()) / 100 * 100 + 100;
    return RelativeEntropy(table, FitMwem(input, table, seed).model->Marginal(Every(table.domain)).value());
  };
  const auto best = [&](const auto& entropy) {
    return Best(each.rounds, parities.size(), options.repetitions, entropy);
  };
  std::vector<Repeated> columns(4);
  columns[0] =
      best([&](int t, int seed) { return RelativeEntropy(table, PlainMwem(table, epsilon, k, t, seed)); });
  columns[1] = best([&](int t, int seed) {
    return mwem({{"rounds", std::to_string(t)}, {"init", "domain"}}, seed);
  });
  for (int seed = 1; seed <= options.repetitions; ++seed) {
    columns[2].Add(mwem({}, seed));
    columns[3].Add(RelativeEntropy(table, FitAllParities(table, epsilon, k, seed)));
  }
  std::printf("%-8s %3d %8.1f ", each.name.c_str(), k, epsilon);
  for (const Repeated& column : columns)
    std::printf(" %8.4f +- %6.4f", column.Mean(), column.StandardError());
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

BenchTable BinaryTable(const std::string& name) {
  const CsvFile file = ReadCsv(name + "/micro.csv");
  std::vector<NumberColumn> columns;
  for (const std::string& column : file.header) columns.push_back({column, 0, 2});
  return NumbersFrom(file, columns);
}

dp::AttributeSet Every(const dp::Domain& domain) {
  dp::AttributeSet every;
  for (uint32_t a = 0; a < domain.size(); ++a) every.push_back(a);
  return every;
}

double RelativeEntropy(const BenchTable& table, const std::vector<double>& weights) {
  const std::vector<int64_t> counts = CountsOf(table, Every(table.domain));
  double total = 0;
  for (const double weight : weights) total += weight;
  const double least = 1e-9 / static_cast<double>(weights.size());
  double entropy = 0;
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    if (counts[cell] == 0) continue;
    const double p = static_cast<double>(counts[cell]) / static_cast<double>(table.rows.size());
    entropy += p * std::log(p / std::max(least, weights[cell] / total));
  }
  return entropy;
}

void ContingencyTables(const Options& options) {
  std::printf("%-8s %3s %8s  %18s %18s %18s %18s\n", "data", "k", "epsilon", "plain", "improved", "default",
              "uniform");
  for (const Case& each : {Case{"mildew", {2, 4, 8}}, Case{"czech", {2, 4, 8}}, Case{"nltcs", {10, 30}}}) {
    const BenchTable table = BinaryTable(each.name);
    for (const int k : {3, 2}) {
      for (const double epsilon : {0.1, 0.3, 1.0, 3.0, 10.0}) {
        if (options.Wants(RowName(each.name + "-" + std::to_string(k), epsilon)))
          PrintEntropyRow(options, each, table, k, epsilon);
      }
    }
  }
}

}  // namespace curator::bench
