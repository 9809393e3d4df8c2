#include "dp/workload/time_forecast.h"

#include <set>

namespace curator::dp {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kNanosecondsPerDraw = 250;      // of noise
constexpr double kNanosecondsPerGroup = 25'000;  // its sampler, counters, and what is stored and sent of it
constexpr double kNanosecondsPerCell = 40;       // that is counted
constexpr double kNanosecondsPerWeight = 1;      // of a weighted query over an axis, for each cell
constexpr double kNanosecondsPerValue = 150;     // encoded, hashed, stored, and decoded
constexpr double kNanosecondsPerReadingStep = 4;
constexpr double kNanosecondsPerAnswer = 150;  // sent

double CountingNanoseconds(const Domain& domain, const ResidualShape& residual) {
  double nanoseconds = 0;
  for (const ProductGroup& group : residual.queries.groups) {
    const auto cells = static_cast<double>(domain.CellCount(group.attributes).value_or(0));
    double of_cell = kNanosecondsPerCell;
    for (size_t i = 0; i < group.axes.size(); ++i) {
      if (residual.queries.axes[group.axes[i]].weights.empty()) continue;
      of_cell += kNanosecondsPerWeight * static_cast<double>(domain.attributes()[group.attributes[i]].size());
    }
    nanoseconds += kNanosecondsPerGroup + of_cell * cells;
  }
  return nanoseconds;
}

double CountingNanoseconds(const Domain& domain, const std::vector<QueryGroup>& measured) {
  double nanoseconds = 0;
  std::set<AttributeSet> sets;
  for (const QueryGroup& group : measured) {
    nanoseconds += kNanosecondsPerGroup;
    if (sets.insert(group.attributes).second)
      nanoseconds +=
          kNanosecondsPerCell * static_cast<double>(domain.CellCount(group.attributes).value_or(0));
  }
  return nanoseconds;
}

}  // namespace

double AnswerSeconds(const Domain& domain, const WorkloadShape& shape, int64_t reading_steps) {
  const double counting = shape.residual ? CountingNanoseconds(domain, *shape.residual)
                                         : CountingNanoseconds(domain, shape.joint.measured);
  return kNanosecond *
         (counting +
          (kNanosecondsPerDraw + kNanosecondsPerValue) * static_cast<double>(shape.measured_values) +
          kNanosecondsPerReadingStep * static_cast<double>(reading_steps) +
          kNanosecondsPerAnswer * static_cast<double>(shape.answers));
}

}  // namespace curator::dp
