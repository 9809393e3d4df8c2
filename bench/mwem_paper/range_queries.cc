// Section 3.1: random ranges, mean squared error against epsilon (2,000 ranges) and against their number (at
// one epsilon), beside the SVD lower bound on the matrix mechanism (Li, Miklau 2012): total squared error >=
// P (sum of singular values)^2 / cells with P = 2 ln(2/delta)/epsilon^2, at delta = 1/records.
#include "bench/mwem_paper/range_queries.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "bench/mwem_paper/experiments.h"
#include "dp/queries/linear_queries.h"

namespace curator::bench {
namespace {

// The bound divided by the number of queries, at epsilon 1.
double SvdBound(const BenchTable& table, const dp::QueryGroup& group) {
  const std::vector<dp::CodeInterval>& sides = std::get<dp::Boxes>(group.queries).sides;
  const size_t d = group.attributes.size();
  const auto ranges = static_cast<Eigen::Index>(sides.size() / d);
  Eigen::MatrixXd gram(ranges, ranges);
  for (Eigen::Index i = 0; i < ranges; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      double common = 1;
      for (size_t a = 0; a < d; ++a) {
        const dp::CodeInterval& one = sides[static_cast<size_t>(i) * d + a];
        const dp::CodeInterval& other = sides[static_cast<size_t>(j) * d + a];
        const double last = std::min(one.last, other.last);
        const double first = std::max(one.first, other.first);
        common *= std::max(0.0, last - first + 1);
      }
      gram(i, j) = gram(j, i) = common;
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram, Eigen::EigenvaluesOnly);
  double sum = 0;
  for (const double eigenvalue : solver.eigenvalues()) sum += std::sqrt(std::max(0.0, eigenvalue));
  const auto cells = static_cast<double>(*table.domain.CellCount(group.attributes));
  const double delta = 1 / static_cast<double>(table.rows.size());
  return 2 * std::log(2 / delta) * sum * sum / cells / static_cast<double>(ranges);
}

// One row: the bound, and MWEM with three numbers of rounds and by default.
void PrintRangeRow(const Options& options, const RangeData& data, const dp::QueryGroup& group, double bound,
                   double epsilon) {
  std::printf(" %10.4g", bound / epsilon / epsilon);
  double seconds = 0;
  std::string rounds;
  for (const char* const chosen : {"5", "10", "20", ""}) {
    const Settings settings = *chosen != 0 ? Settings{{"rounds", chosen}} : Settings{};
    const dp::SynthesisInput input = RangeInput(data, group, epsilon, options.With(settings));
    Repeated errors;
    seconds = 0;
    for (int seed = 1; seed <= options.repetitions; ++seed) {
      const Fitted fitted = FitMwem(input, data.table, seed);
      errors.Add(MeanSquaredError(data.table, group, *fitted.model));
      seconds += fitted.cpu_seconds / options.repetitions;
    }
    std::printf(" %10.4g +- %8.2g", errors.Mean(), errors.StandardError());
    rounds = RoundsOf(input);
  }
  std::printf("  %7s %6.2f\n", rounds.c_str(), seconds);
  std::fflush(stdout);
}

void PrintRangeHead(const char* varied) {
  std::printf("%-34s %7s  %10s %22s %22s %22s %22s  %7s %6s\n", "data", varied, "SVD bound", "T = 5",
              "T = 10", "T = 20", "default", "(its T)", "CPU s");
}

}  // namespace

std::vector<RangeData> AllRangeData() {
  const CsvFile adult = ReadAdult();
  const CsvFile transfusion = ReadCsv("transfusion/transfusion.csv");
  std::vector<RangeData> all;
  all.push_back({"adult: capital-loss", NumbersFrom(adult, {{"capital-loss", 0, 4357}})});
  all.push_back({"adult: age x hours", NumbersFrom(adult, {{"age", 17, 74}, {"hours-per-week", 1, 99}})});
  all.push_back({"transfusion: recency x frequency",
                 NumbersFrom(transfusion, {{"recency", 0, 75}, {"frequency", 1, 50}})});
  all.push_back({"transfusion: monetary", NumbersFrom(transfusion, {{"monetary", 0, 12501}})});
  return all;
}

dp::QueryGroup RandomRanges(const dp::Domain& domain, int ranges) {
  std::mt19937_64 random(1);
  dp::QueryGroup group;
  dp::Boxes boxes;
  for (uint32_t a = 0; a < domain.size(); ++a) group.attributes.push_back(a);
  for (int i = 0; i < ranges; ++i) {
    for (const uint32_t a : group.attributes) {
      const auto size = static_cast<uint64_t>(domain.attributes()[a].size());
      const auto one = static_cast<uint32_t>(random() % size);
      const auto other = static_cast<uint32_t>(random() % size);
      boxes.sides.push_back({std::min(one, other), std::max(one, other)});
    }
  }
  group.queries = std::move(boxes);
  return group;
}

dp::SynthesisInput RangeInput(const RangeData& data, const dp::QueryGroup& group, double epsilon,
                              Settings settings) {
  dp::SynthesisInput input = InputFor(data.table.domain, epsilon, {group}, std::move(settings));
  input.assume_records = static_cast<int64_t>(data.table.rows.size()) / 1000 * 1000 + 1000;
  return input;
}

double MeanSquaredError(const BenchTable& table, const dp::QueryGroup& group,
                        const dp::SynthesisModel& model) {
  const auto truth = dp::AnswersFromCounts(table.domain, group, CountsOf(table, group.attributes));
  const auto fitted = dp::AnswersFromEstimates(table.domain, group, model.Marginal(group.attributes).value());
  double sum = 0;
  for (size_t i = 0; i < truth.size(); ++i)
    sum += std::pow(static_cast<double>(truth[i]) - fitted[i], 2) / static_cast<double>(truth.size());
  return sum;
}

void RangeQueries(const Options& options) {
  PrintRangeHead("epsilon");
  for (const RangeData& data : AllRangeData()) {
    if (!options.Wants(data.name)) continue;
    const dp::QueryGroup group = RandomRanges(data.table.domain, kUsualRanges);
    const double bound = SvdBound(data.table, group);
    for (const double epsilon : {0.0125, 0.025, 0.05, 0.1}) {
      std::printf("%-34s %7.4f ", data.name.c_str(), epsilon);
      PrintRangeRow(options, data, group, bound, epsilon);
    }
  }
}

void RangeCounts(const Options& options) {
  constexpr double kEpsilon = 0.05;
  PrintRangeHead("ranges");
  for (const RangeData& data : AllRangeData()) {
    if (!options.Wants(data.name)) continue;
    for (const int ranges : {125, 250, 500, 1000, 2000, 4000}) {
      const dp::QueryGroup group = RandomRanges(data.table.domain, ranges);
      std::printf("%-34s %7d ", data.name.c_str(), ranges);
      PrintRangeRow(options, data, group, SvdBound(data.table, group), kEpsilon);
    }
  }
}

}  // namespace curator::bench
