// What post-processing does to noisy marginals of the Adult table, and what it costs.
//
//   post_processing [K] [EPSILON]     reads $CURATOR_SHARED/data/adult_pgm (default ../shared)
//
// All K-way marginals (default 2) as one pure request of EPSILON (default 1): discrete Laplace noise of scale
// (number of marginals) / EPSILON in each cell, once, from a fixed key. Prints for each choice of steps the
// mean over cells of the absolute error, the mean over marginals of the L1 distance as a share of the
// records, the largest by which two marginals may disagree, and the CPU seconds. Then the CPU time of
// intervals of sums.
#include "dp/workload/post_processing.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "dp/noise/discrete_laplace.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "dp/workload/noise_sum.h"

namespace curator::dp {
namespace {

struct Table {
  Domain domain;
  std::vector<std::vector<uint32_t>> rows;
};

Table ReadAdult(const std::string& folder) {
  std::ifstream csv(folder + "/adult.csv");
  std::string line;
  std::getline(csv, line);
  std::ifstream json(folder + "/domain.json");
  const nlohmann::json sizes = nlohmann::json::parse(json);
  std::vector<Attribute> attributes;
  std::istringstream names(line);
  for (std::string name; std::getline(names, name, ',');)
    attributes.push_back(Attribute::Create(name, CodedKind{sizes.at(name).get<int64_t>()}).value());
  Table table{Domain::Create(std::move(attributes)).value(), {}};
  while (std::getline(csv, line)) {
    std::istringstream cells(line);
    std::vector<uint32_t>& row = table.rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');)
      row.push_back(static_cast<uint32_t>(std::stoul(cell)));
  }
  return table;
}

CellValues CountsOf(const Table& table, const AttributeSet& set) {
  CellValues counts(static_cast<size_t>(*table.domain.CellCount(set)), 0);
  for (const std::vector<uint32_t>& row : table.rows) {
    size_t cell = 0;
    for (const uint32_t attribute : set)
      cell = cell * static_cast<size_t>(table.domain.attributes()[attribute].size()) + row[attribute];
    counts[cell] += 1;
  }
  return counts;
}

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void Report(const Table& table, const std::vector<CellValues>& truth,
            const std::vector<MeasuredMarginal>& noisy, const PostProcessing& steps) {
  const double start = CpuSeconds();
  const PostProcessed result = PostProcess(table.domain, noisy, steps).value();
  const double seconds = CpuSeconds() - start;
  double error = 0;
  double cells = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (size_t c = 0; c < truth[i].size(); ++c) error += std::abs(result.marginals[i][c] - truth[i][c]);
    cells += static_cast<double>(truth[i].size());
  }
  const double l1 = error / static_cast<double>(truth.size() * table.rows.size());
  const std::string words = steps.any() ? Describe(steps) : "as measured";
  std::printf("%-36s %12.2f %12.4f %12.4f %8.2f\n", words.c_str(), error / cells, l1, result.disagreement,
              seconds);
}

void TimeSums() {
  std::printf("\nintervals of sums at 95%%: half width, CPU ms\n");
  const NoiseSpec laplace{Mechanism::kDiscreteLaplace, {100, 1}};
  const NoiseSpec gaussian{Mechanism::kDiscreteGaussian, {10'000, 1}};
  for (const int64_t terms :
       {int64_t{2}, int64_t{17}, int64_t{1000}, int64_t{1'000'000}, kMostSummedValues}) {
    for (const NoiseSpec& noise : {laplace, gaussian}) {
      const double start = CpuSeconds();
      const int64_t width = SumConfidenceHalfWidth(noise, terms, 0.95).value();
      std::printf("%9lld of %-18s %12lld %8.2f\n", static_cast<long long>(terms),
                  std::string(MechanismName(noise.mechanism)).c_str(), static_cast<long long>(width),
                  (CpuSeconds() - start) * 1000);
    }
  }
}

void Run(int k, double epsilon) {
  const char* shared = std::getenv("CURATOR_SHARED");
  const Table table = ReadAdult(std::string(shared == nullptr ? "../shared" : shared) + "/data/adult_pgm");
  const std::vector<AttributeSet> sets = AllKWayMarginals(table.domain, k, {}).value();
  const auto per_mille = static_cast<int64_t>(std::lround(epsilon * 1000));
  const NoiseSpec noise{Mechanism::kDiscreteLaplace, {static_cast<int64_t>(sets.size()) * 1000, per_mille}};
  const DiscreteLaplace laplace = DiscreteLaplace::Create(noise.parameter).value();
  Drbg bits(DrawKey(DrawKey::Bytes{1}));
  const double variance = std::pow(ForecastError(noise).standard_deviation, 2);
  std::vector<CellValues> truth;
  std::vector<MeasuredMarginal> noisy;
  size_t cells = 0;
  for (const AttributeSet& set : sets) {
    truth.push_back(CountsOf(table, set));
    CellValues values = truth.back();
    for (double& value : values) value += static_cast<double>(laplace.Draw(bits));
    cells += values.size();
    noisy.push_back({{set, variance}, std::move(values)});
  }
  std::printf("%zu records, %zu %d-way marginals, %zu cells, epsilon %g: scale %.1f\n\n", table.rows.size(),
              sets.size(), k, cells, epsilon, static_cast<double>(sets.size()) / epsilon);
  std::printf("%-36s %12s %12s %12s %8s\n", "steps", "mean |err|", "L1 share", "disagree", "CPU s");
  for (const PostProcessing steps : {PostProcessing{},
                                     {.non_negative = true},
                                     {.consistent = true},
                                     {.consistent = true, .integer = true},
                                     {.non_negative = true, .consistent = true},
                                     {true, true, true}})
    Report(table, truth, noisy, steps);
  TimeSums();
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  curator::dp::Run(argc > 1 ? std::atoi(argv[1]) : 2, argc > 2 ? std::atof(argv[2]) : 1);
  return 0;
}
