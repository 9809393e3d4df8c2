// Section 3.3: the eight categorical attributes of Adult (38 million cells): the mean absolute error of a
// cell, averaged over cuboids and for the worst cuboid: of two-way cuboids, three-way ones, and all of at
// most 2^20 cells. The rows are named "2-way-0.1", "2-way-1.0", "3-way-0.1", "2+3-way-10.0", "all-1.0" (all
// of at most 2^20 cells are candidates) and so on.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "bench/mwem_paper/experiments.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::bench {
namespace {

// A request may ask for 2^26 cells in all.
constexpr int64_t kMostCuboidCells = int64_t{1} << 20;

struct CuboidErrors {
  double mean = 0;
  double worst = 0;
};

class RepeatedErrors {
 public:
  void Add(const CuboidErrors& one) {
    mean_.Add(one.mean);
    worst_.Add(one.worst);
  }
  void Print() const {
    for (const Repeated* each : {&mean_, &worst_})
      std::printf(" %8.2f +- %5.2f", each->Mean(), each->StandardError());
  }

 private:
  Repeated mean_;
  Repeated worst_;
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

std::vector<dp::AttributeSet> CuboidsUpTo(const dp::Domain& domain, int64_t cells) {
  std::vector<dp::AttributeSet> cuboids;
  for (int order = 1; order <= static_cast<int>(domain.size()); ++order) {
    const std::vector<dp::AttributeSet> sets = dp::AllKWayMarginals(domain, order, {}).value();
    for (const dp::AttributeSet& set : sets) {
      if (*domain.CellCount(set) <= cells) cuboids.push_back(set);
    }
  }
  return cuboids;
}

struct Workload {
  std::string name;
  std::vector<dp::AttributeSet> sets;
};

std::vector<Workload> CuboidWorkloads(const dp::Domain& domain) {
  const auto two = dp::AllKWayMarginals(domain, 2, {}).value();
  const auto three = dp::AllKWayMarginals(domain, 3, {}).value();
  std::vector<dp::AttributeSet> both = two;
  both.insert(both.end(), three.begin(), three.end());
  return {
      {"2-way", two}, {"3-way", three}, {"2+3-way", both}, {"all", CuboidsUpTo(domain, kMostCuboidCells)}};
}

void PrintCubeRow(const Options& options, const BenchTable& table, const Workload& workload, double epsilon) {
  dp::SynthesisInput input =
      InputFor(table.domain, epsilon, dp::WholeMarginals(workload.sets), options.With({}));
  input.assume_records = 50'000;
  const std::vector<std::vector<dp::AttributeSet>> compared = {
      dp::AllKWayMarginals(table.domain, 2, {}).value(), dp::AllKWayMarginals(table.domain, 3, {}).value(),
      CuboidsUpTo(table.domain, kMostCuboidCells)};
  std::vector<RepeatedErrors> errors(compared.size());
  Repeated seconds;
  for (int seed = 1; seed <= options.repetitions; ++seed) {
    const Fitted fitted = FitMwem(input, table, seed);
    for (size_t i = 0; i < compared.size(); ++i) errors[i].Add(ErrorsOf(table, compared[i], *fitted.model));
    seconds.Add(fitted.cpu_seconds);
  }
  std::printf("%-8s %4zu %6.1f %6s ", workload.name.c_str(), workload.sets.size(), epsilon,
              RoundsOf(input).c_str());
  for (const RepeatedErrors& each : errors) each.Print();
  std::printf("  %6.1f %6.0f\n", seconds.Mean(), PeakMegabytes());
  std::fflush(stdout);
}

}  // namespace

void DataCubes(const Options& options) {
  const BenchTable table = CategoriesFrom(ReadAdult(), AdultCategories());
  std::printf("%-8s %4s %6s %6s  %17s %17s %17s %17s %17s %17s %6s %6s\n", "workload", "sets", "eps",
              "rounds", "2-way mean", "2-way worst", "3-way mean", "3-way worst", "any mean", "any worst",
              "CPU s", "MB");
  for (const Workload& workload : CuboidWorkloads(table.domain)) {
    for (const double epsilon : {0.1, 1.0, 10.0}) {
      if (options.Wants(RowName(workload.name, epsilon))) PrintCubeRow(options, table, workload, epsilon);
    }
  }
}

}  // namespace curator::bench
