// Section 3.1: 2,000 random ranges, mean squared error against epsilon, beside the SVD lower bound on the
// matrix mechanism (Li, Miklau 2012): total squared error >= P (sum of singular values)^2 / cells with
// P = 2 ln(2/delta)/epsilon^2, at delta = 1/records.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "bench/mwem_paper/experiments.h"
#include "dp/queries/linear_queries.h"

namespace curator::bench {
namespace {

constexpr int kRanges = 2000;

struct RangeData {
  std::string name;
  BenchTable table;
};

std::vector<RangeData> AllData() {
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

dp::QueryGroup RandomRanges(const dp::Domain& domain, uint64_t seed) {
  std::mt19937_64 random(seed);
  dp::QueryGroup group;
  dp::Boxes boxes;
  for (uint32_t a = 0; a < domain.size(); ++a) group.attributes.push_back(a);
  for (int i = 0; i < kRanges; ++i) {
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

// The bound divided by the number of queries, at epsilon 1.
double SvdBound(const BenchTable& table, const dp::QueryGroup& group) {
  const std::vector<dp::CodeInterval>& sides = std::get<dp::Boxes>(group.queries).sides;
  const size_t d = group.attributes.size();
  Eigen::MatrixXd gram(kRanges, kRanges);
  for (Eigen::Index i = 0; i < kRanges; ++i) {
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
  return 2 * std::log(2 / delta) * sum * sum / cells / kRanges;
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

}  // namespace

void RangeQueries(const Options& options) {
  const int repetitions = options.repetitions;
  std::printf("%-34s %7s  %10s %10s %10s %10s %10s  %10s %6s\n", "data", "epsilon", "SVD bound", "T = 5",
              "T = 10", "T = 20", "default", "(its T)", "CPU s");
  for (const RangeData& data : AllData()) {
    if (!options.Wants(data.name)) continue;
    const dp::QueryGroup group = RandomRanges(data.table.domain, 1);
    const double bound = SvdBound(data.table, group);
    for (const double epsilon : {0.0125, 0.025, 0.05, 0.1}) {
      std::printf("%-34s %7.4f  %10.4g", data.name.c_str(), epsilon, bound / epsilon / epsilon);
      double seconds = 0;
      std::string rounds;
      for (const char* const chosen : {"5", "10", "20", ""}) {
        const Settings settings = *chosen != 0 ? Settings{{"rounds", chosen}} : Settings{};
        dp::SynthesisInput input = InputFor(data.table.domain, epsilon, {group}, options.With(settings));
        input.assume_records = static_cast<int64_t>(data.table.rows.size()) / 1000 * 1000 + 1000;
        double error = 0;
        seconds = 0;
        for (int seed = 1; seed <= repetitions; ++seed) {
          const Fitted fitted = FitMwem(input, data.table, seed);
          error += MeanSquaredError(data.table, group, *fitted.model) / repetitions;
          seconds += fitted.cpu_seconds / repetitions;
        }
        std::printf(" %10.4g", error);
        rounds = RoundsOf(input);
      }
      std::printf("  %10s %6.2f\n", rounds.c_str(), seconds);
      std::fflush(stdout);
    }
  }
}

}  // namespace curator::bench
