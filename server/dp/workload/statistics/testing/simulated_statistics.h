// Statistics of known records, measured with noise: for tests and reports of how often intervals hold the
// true statistic. What the kernel would add up, without a kernel.
//
// Not for the server. Not thread-safe where a BitSource is taken.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "dp/workload/statistics/statistics_answers.h"
#include "dp/workload/statistics/statistics_plan.h"

namespace curator::dp {

// A code for each column of the table, and the unit that owns it.
struct SimulatedRecord {
  std::vector<uint32_t> codes;
  int64_t unit = 0;
};
using SimulatedRecords = std::vector<SimulatedRecord>;

// The true statistic of the clipped values: of a quantile the ends of the bin in which it lies, else the
// number twice. NaN where there is none.
struct TrueAnswer {
  double low = 0;
  double high = 0;
};
std::vector<TrueAnswer> TrueAnswersOf(const Domain& domain, const AskedStatistics& asked,
                                      const SimulatedRecords& records);

// A release without its noise: what is drawn for the sets with such a share for each draw, and the exact
// values; of selections the code of the quantile.
absl::StatusOr<StatisticsRelease> MeasuredExactly(const Domain& domain, const UnitBound& unit,
                                                  std::span<const AskedStatistics> sets,
                                                  const std::variant<Epsilon, Rho>& share,
                                                  const SimulatedRecords& records);

// The same release with noise in every value but those of selections.
StatisticsRelease WithNoise(StatisticsRelease release, BitSource& bits);

}  // namespace curator::dp
