// How often the intervals of statistics hold the true ones: for tests and reports.
//
// Not for the server.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/noise/bit_source.h"
#include "dp/workload/statistics/testing/simulated_statistics.h"

namespace curator::dp {

// Of one answer over many draws of the noise.
struct Coverage {
  int64_t draws = 0;
  int64_t held = 0;
  int64_t unbounded = 0;  // among those held: infinite ends
  double width = 0;       // the sum of those that are finite

  double Percent() const { return 100 * static_cast<double>(held) / static_cast<double>(draws); }
  double PercentUnbounded() const {
    return 100 * static_cast<double>(unbounded) / static_cast<double>(draws);
  }
};

// Of each answer of one set, group by group; answers without a true number (NaN) have no draws. `exact` is
// what MeasuredExactly() made for `asked` alone.
std::vector<Coverage> CoverageOf(const Domain& domain, const AskedStatistics& asked,
                                 const StatisticsRelease& exact, std::span<const TrueAnswer> truth,
                                 double level, int64_t draws, BitSource& bits);

// Groups of different sizes, over a measure from -20 to 80 in steps of 0.1: group g of `sizes` has values of
// the given spread.
enum class Spread {
  kEven,
  kMiddle,
  kTop,
  kRare
};  // over all; two near the middle; near the top; 10% at the top
Domain CoverageDomain(size_t groups);
SimulatedRecords CoverageRecords(std::span<const int64_t> sizes, Spread spread);

// The set of `statistics` by the groups, and the measure as a column.
AskedStatistics ByGroup(std::vector<Statistic> statistics);
inline constexpr uint32_t kCoverageMeasure = 1;

}  // namespace curator::dp
