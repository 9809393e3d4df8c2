// adaptive=yes beside fixed rounds, on an experiment of each section: ranges (mean squared error), parities
// of up to three attributes (relative entropy), and two-way cuboids of Adult (mean absolute error of a cell).
#include <cmath>
#include <cstdio>
#include <functional>

#include "bench/mwem_paper/contingency_tables.h"
#include "bench/mwem_paper/experiments.h"
#include "bench/mwem_paper/parity_baseline.h"
#include "bench/mwem_paper/range_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::bench {
namespace {

// A request at an epsilon, and the error of a model.
struct AdaptiveCase {
  std::string name;
  const BenchTable& table;
  std::vector<dp::QueryGroup> workload;
  int64_t assumed_records = 0;
  std::vector<double> epsilons;
  std::function<double(const dp::SynthesisModel&)> error;
};

void PrintAdaptiveRows(const Options& options, const AdaptiveCase& each) {
  for (const double epsilon : each.epsilons) {
    if (!options.Wants(each.name)) continue;
    std::printf("%-34s %7.4g", each.name.c_str(), epsilon);
    for (const Settings& settings :
         {Settings{}, Settings{{"adaptive", "yes"}}, Settings{{"adaptive", "yes"}, {"rounds", "3"}}}) {
      dp::SynthesisInput input = InputFor(each.table.domain, epsilon, each.workload, options.With(settings));
      input.assume_records = each.assumed_records;
      Repeated errors;
      for (int seed = 1; seed <= options.repetitions; ++seed)
        errors.Add(each.error(*FitMwem(input, each.table, seed).model));
      std::printf("  %10.4g +- %8.2g (%s)", errors.Mean(), errors.StandardError(), RoundsOf(input).c_str());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

// Of a cell, averaged over the sets.
double MeanCellError(const BenchTable& table, const std::vector<dp::AttributeSet>& sets,
                     const dp::SynthesisModel& model) {
  double mean = 0;
  for (const dp::AttributeSet& set : sets) {
    const std::vector<int64_t> truth = CountsOf(table, set);
    const std::vector<double> fitted = model.Marginal(set).value();
    for (size_t i = 0; i < truth.size(); ++i) {
      mean += std::abs(static_cast<double>(truth[i]) - fitted[i]) / static_cast<double>(truth.size()) /
              static_cast<double>(sets.size());
    }
  }
  return mean;
}

void AdaptiveRanges(const Options& options) {
  for (const RangeData& data : AllRangeData()) {
    const dp::QueryGroup group = RandomRanges(data.table.domain, kUsualRanges);
    PrintAdaptiveRows(options, {.name = data.name,
                                .table = data.table,
                                .workload = {group},
                                .assumed_records = *RangeInput(data, group, 1, {}).assume_records,
                                .epsilons = {0.0125, 0.1},
                                .error = [&](const dp::SynthesisModel& model) {
                                  return MeanSquaredError(data.table, group, model);
                                }});
  }
}

void AdaptiveParities(const Options& options) {
  for (const std::string name : {"mildew", "czech", "nltcs"}) {
    const BenchTable table = BinaryTable(name);
    PrintAdaptiveRows(options, {.name = name,
                                .table = table,
                                .workload = Parities(table.domain, 3),
                                .assumed_records = static_cast<int64_t>(table.rows.size()) / 100 * 100 + 100,
                                .epsilons = {0.1, 1, 10},
                                .error = [&](const dp::SynthesisModel& model) {
                                  return RelativeEntropy(table, model.Marginal(Every(table.domain)).value());
                                }});
  }
}

void AdaptiveCubes(const Options& options) {
  const BenchTable table = CategoriesFrom(ReadAdult(), AdultCategories());
  const auto pairs = dp::AllKWayMarginals(table.domain, 2, {}).value();
  PrintAdaptiveRows(options, {.name = "cubes, 2-way",
                              .table = table,
                              .workload = dp::WholeMarginals(pairs),
                              .assumed_records = 50'000,
                              .epsilons = {0.1, 1},
                              .error = [&](const dp::SynthesisModel& model) {
                                return MeanCellError(table, pairs, model);
                              }});
}

}  // namespace

void AdaptiveRounds(const Options& options) {
  std::printf("%-34s %7s  %28s  %28s  %28s\n", "data", "epsilon", "fixed", "adaptive", "adaptive, 3 a stage");
  AdaptiveRanges(options);
  AdaptiveParities(options);
  AdaptiveCubes(options);
}

}  // namespace curator::bench
