// Section 3.3: the eight categorical attributes of Adult (38 million cells): the mean absolute error of a
// cell, averaged over cuboids and for the worst cuboid. The rows are named "2-way-0.1", "2-way-1.0",
// "3-way-0.1", "2+3-way-10.0" and so on.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "bench/mwem_paper/experiments.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::bench {
namespace {

struct CuboidErrors {
  double mean = 0;
  double worst = 0;

  // One of so many repetitions.
  void Add(const CuboidErrors& one, int repetitions) {
    mean += one.mean / repetitions;
    worst += one.worst / repetitions;
  }
};

CuboidErrors ErrorsOf(const BenchTable& table, const std::vector<dp::AttributeSet>& cuboids,
                      const dp::SynthesisModel& model) {
  CuboidErrors errors;
  for (const dp::AttributeSet& set : cuboids) {
    const std::vector<int64_t> truth = CountsOf(table, set);
    const std::vector<double> fitted = model.Marginal(set).value();
    double error = 0;
    for (size_t i = 0; i < truth.size(); ++i)
      error += std::abs(static_cast<double>(truth[i]) - fitted[i]) / static_cast<double>(truth.size());
    errors.mean += error / static_cast<double>(cuboids.size());
    errors.worst = std::max(errors.worst, error);
  }
  return errors;
}

}  // namespace

void DataCubes(const Options& options) {
  const int repetitions = options.repetitions;
  const BenchTable table = CategoriesFrom(ReadAdult(), AdultCategories());
  const auto two = dp::AllKWayMarginals(table.domain, 2, {}).value();
  const auto three = dp::AllKWayMarginals(table.domain, 3, {}).value();
  std::vector<dp::AttributeSet> both = two;
  both.insert(both.end(), three.begin(), three.end());
  std::printf("%-10s %8s %7s   %12s %12s   %12s %12s  %7s %6s\n", "workload", "epsilon", "rounds",
              "2-way mean", "2-way worst", "3-way mean", "3-way worst", "CPU s", "MB");
  for (const auto& [name, sets] : {std::pair{"2-way", two}, {"3-way", three}, {"2+3-way", both}}) {
    for (const double epsilon : {0.1, 1.0, 10.0}) {
      if (!options.Wants(RowName(name, epsilon))) continue;
      dp::SynthesisInput input = InputFor(table.domain, epsilon, dp::WholeMarginals(sets), options.With({}));
      input.assume_records = 50'000;
      CuboidErrors pairs;
      CuboidErrors triples;
      double seconds = 0;
      for (int seed = 1; seed <= repetitions; ++seed) {
        const Fitted fitted = FitMwem(input, table, seed);
        pairs.Add(ErrorsOf(table, two, *fitted.model), repetitions);
        triples.Add(ErrorsOf(table, three, *fitted.model), repetitions);
        seconds += fitted.cpu_seconds / repetitions;
      }
      std::printf("%-10s %8.1f %7s   %12.2f %12.2f   %12.2f %12.2f  %7.1f %6.0f\n", name, epsilon,
                  RoundsOf(input).c_str(), pairs.mean, pairs.worst, triples.mean, triples.worst, seconds,
                  PeakMegabytes());
      std::fflush(stdout);
    }
  }
}

}  // namespace curator::bench
