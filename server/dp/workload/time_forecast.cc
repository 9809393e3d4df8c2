#include "dp/workload/time_forecast.h"

#include <set>

namespace curator::dp {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr double kPerDraw = 250;      // of noise
constexpr double kPerGroup = 25'000;  // its sampler, its counters, and what is stored and sent of it
constexpr double kPerCell = 40;       // that is counted
constexpr double kPerWeight = 1;      // of a weighted query over an axis, for each cell
constexpr double kPerValue = 150;     // encoded, hashed, stored, and decoded
constexpr double kPerReadingStep = 4;
constexpr double kPerAnswer = 150;  // sent

double CountingNanoseconds(const Domain& domain, const ResidualShape& residual) {
  double nanoseconds = 0;
  for (const ProductGroup& group : residual.queries.groups) {
    const auto cells = static_cast<double>(domain.CellCount(group.attributes).value_or(0));
    double of_cell = kPerCell;
    for (size_t i = 0; i < group.axes.size(); ++i) {
      if (residual.queries.axes[group.axes[i]].weights.empty()) continue;
      of_cell += kPerWeight * static_cast<double>(domain.attributes()[group.attributes[i]].size());
    }
    nanoseconds += kPerGroup + of_cell * cells;
  }
  return nanoseconds;
}

double CountingNanoseconds(const Domain& domain, const std::vector<QueryGroup>& measured) {
  double nanoseconds = 0;
  std::set<AttributeSet> sets;
  for (const QueryGroup& group : measured) {
    nanoseconds += kPerGroup;
    if (sets.insert(group.attributes).second)
      nanoseconds += kPerCell * static_cast<double>(domain.CellCount(group.attributes).value_or(0));
  }
  return nanoseconds;
}

}  // namespace

double AnswerSeconds(const Domain& domain, const WorkloadShape& shape, int64_t reading_steps) {
  const double counting = shape.residual ? CountingNanoseconds(domain, *shape.residual)
                                         : CountingNanoseconds(domain, shape.joint.measured);
  return kNanosecond * (counting + (kPerDraw + kPerValue) * static_cast<double>(shape.measured_values) +
                        kPerReadingStep * static_cast<double>(reading_steps) +
                        kPerAnswer * static_cast<double>(shape.answers));
}

}  // namespace curator::dp
