// How often intervals of statistics hold the true statistic of the clipped values.
//
//   statistics_coverage [DRAWS]     DRAWS of the noise (default 20,000) for each row, from a fixed key; of
//                                   quantiles a tenth
//
// For each statistic, kind of noise and spread of the values, at 95%: of groups of increasing size, the share
// of intervals that hold the true number, and of those without an end.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "dp/noise/drbg.h"
#include "dp/workload/statistics/testing/coverage.h"

namespace curator::dp {
namespace {

constexpr double kLevel = 0.95;
const std::vector<int64_t> kSizes = {10, 30, 100, 300, 1000, 10000};

struct Row {
  std::string name;
  std::vector<Statistic> statistics;  // the first one is reported
  Spread spread = Spread::kEven;
  bool is_quantile = false;
};

std::variant<Epsilon, Rho> ShareOf(Mechanism mechanism) {
  // Noise of deviation 10 in a count: scale 7.07, or sigma^2 = 100.
  if (mechanism == Mechanism::kDiscreteLaplace) return Epsilon(141'421'356'237);
  return Rho(5'000'000'000);
}

void Report(const Row& row, Mechanism mechanism, int64_t draws) {
  const Domain domain = CoverageDomain(kSizes.size());
  const AskedStatistics asked = ByGroup(row.statistics);
  const SimulatedRecords records = CoverageRecords(kSizes, row.spread);
  const UnitBound unit;
  const StatisticsRelease exact =
      MeasuredExactly(domain, unit, std::span(&asked, 1), ShareOf(mechanism), records).value();
  Drbg bits(DrawKey(DrawKey::Bytes{1}));
  const std::vector<Coverage> coverage =
      CoverageOf(domain, asked, exact, TrueAnswersOf(domain, asked, records), kLevel,
                 row.is_quantile ? draws / 10 : draws, bits);
  std::printf("| %s | %s |", row.name.c_str(),
              mechanism == Mechanism::kDiscreteLaplace ? "Laplace" : "Gaussian");
  for (size_t group = 0; group < kSizes.size(); ++group) {
    const Coverage& of_group = coverage[group * row.statistics.size()];
    std::printf(" %.2f", of_group.Percent());
    if (of_group.unbounded > 0) std::printf(" (%.1f)", of_group.PercentUnbounded());
    std::printf(" |");
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::vector<Row> Rows() {
  const Statistic count{.kind = StatisticKind::kCount};
  const Statistic units{.kind = StatisticKind::kDistinctUnits};
  const auto of = [](StatisticKind kind, int32_t thousandths = 500) {
    return Statistic{.kind = kind, .column = kCoverageMeasure, .thousandths = thousandths};
  };
  std::vector<Row> rows = {
      {"count", {count}},
      {"distinct units", {units}},
      {"sum of values", {of(StatisticKind::kSum)}},
      {"sum, from deviations and the count", {of(StatisticKind::kSum), of(StatisticKind::kMean)}},
  };
  const std::vector<std::pair<Spread, std::string>> spreads = {{Spread::kEven, "even"},
                                                               {Spread::kMiddle, "two near the middle"},
                                                               {Spread::kTop, "near a bound"},
                                                               {Spread::kRare, "one in ten at a bound"}};
  for (const auto& [spread, name] : spreads)
    rows.push_back({"mean, " + name, {of(StatisticKind::kMean)}, spread});
  for (const auto& [spread, name] : spreads)
    rows.push_back({"variance, " + name, {of(StatisticKind::kVariance)}, spread});
  for (const auto& [spread, name] : spreads) {
    for (const int32_t thousandths : {500, 900}) {
      rows.push_back({"quantile 0." + std::to_string(thousandths / 100) + ", " + name,
                      {of(StatisticKind::kQuantile, thousandths)},
                      spread,
                      true});
    }
  }
  return rows;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  const int64_t draws = argc > 1 ? std::atoll(argv[1]) : 20'000;
  std::printf(
      "| statistic | noise | 10 | 30 | 100 | 300 | 1,000 | 10,000 |\n| --- | --- | --- | --- | --- | --- | "
      "--- | --- |\n");
  for (const curator::dp::Row& row : curator::dp::Rows()) {
    for (const auto mechanism :
         {curator::dp::Mechanism::kDiscreteGaussian, curator::dp::Mechanism::kDiscreteLaplace})
      curator::dp::Report(row, mechanism, draws);
  }
  return 0;
}
