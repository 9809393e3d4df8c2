#include "dp/workload/statistics/testing/coverage.h"

#include <cmath>
#include <utility>

namespace curator::dp {
namespace {

constexpr int64_t kPoints = 1000;  // steps of the measure

// Which of `size` values this is, as a code.
int64_t CodeOf(Spread spread, int64_t place, int64_t size) {
  switch (spread) {
    case Spread::kEven:
      return (2 * place + 1) * kPoints / (2 * size);
    case Spread::kMiddle:
      return place % 2 == 0 ? 450 : 550;
    case Spread::kTop:
      return kPoints - 50 + place % 50;
    case Spread::kRare:
      break;
  }
  return place % 10 == 9 ? kPoints : 100;
}

}  // namespace

std::vector<Coverage> CoverageOf(const Domain& domain, const AskedStatistics& asked,
                                 const StatisticsRelease& exact, std::span<const TrueAnswer> truth,
                                 double level, int64_t draws, BitSource& bits) {
  std::vector<Coverage> coverage(truth.size());
  for (int64_t draw = 0; draw < draws; ++draw) {
    const StatisticsRelease release = WithNoise(exact, bits);
    const std::vector<StatisticAnswer> answers =
        AnswersOf(domain, std::span(&asked, 1), 0, release, level).value();
    for (size_t i = 0; i < answers.size(); ++i) {
      const StatisticAnswer& answer = answers[i];
      if (std::isnan(truth[i].low)) continue;
      ++coverage[i].draws;
      // What rounding of doubles does to the end of an interval is no miss.
      const double slack = 1e-9 * (1 + std::abs(truth[i].high));
      const bool holds = answer.low <= truth[i].low + slack && answer.high >= truth[i].high - slack;
      coverage[i].held += holds ? 1 : 0;
      if (std::isinf(answer.low)) {
        ++coverage[i].unbounded;
      } else {
        coverage[i].width += answer.high - answer.low;
      }
    }
  }
  return coverage;
}

Domain CoverageDomain(size_t groups) {
  std::vector<Attribute> attributes;
  attributes.push_back(Attribute::Create("group", CodedKind{static_cast<int64_t>(groups)}).value());
  std::vector<Measure> measures;
  measures.push_back(Measure::Create("x", {.min = -20, .max = 80, .step = 0.1}).value());
  return Domain::Create(std::move(attributes), std::move(measures)).value();
}

SimulatedRecords CoverageRecords(std::span<const int64_t> sizes, Spread spread) {
  SimulatedRecords records;
  for (size_t group = 0; group < sizes.size(); ++group) {
    for (int64_t place = 0; place < sizes[group]; ++place) {
      records.push_back({.codes = {static_cast<uint32_t>(group),
                                   static_cast<uint32_t>(CodeOf(spread, place, sizes[group]))},
                         .unit = static_cast<int64_t>(records.size())});
    }
  }
  return records;
}

AskedStatistics ByGroup(std::vector<Statistic> statistics) {
  return {.statistics = std::move(statistics),
          .by = {0},
          .where = {},
          .cells = {},
          .condition = {},
          .quantiles = QuantileWay::kTree};
}

}  // namespace curator::dp
