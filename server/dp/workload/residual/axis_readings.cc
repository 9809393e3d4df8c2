#include "dp/workload/residual/axis_readings.h"

#include <map>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {

absl::StatusOr<AxisReadings> AxisReadings::Create(const Domain& domain, const ProductQueries& queries) {
  // By the position of the axis, of which Helmert contrasts need none, and the number of codes.
  std::map<std::pair<std::optional<uint32_t>, int64_t>, size_t> known;
  std::vector<uint32_t> axis_of(domain.size());
  AxisReadings made;
  made.reading_of_.resize(domain.size());
  for (const ProductGroup& group : queries.groups) {
    for (size_t i = 0; i < group.attributes.size(); ++i) {
      const uint32_t attribute = group.attributes[i];
      const uint32_t axis = group.axes[i];
      if (made.reading_of_[attribute]) {
        if (axis_of[attribute] == axis) continue;
        return absl::InvalidArgumentError("an attribute has the same axis in all groups of a measurement");
      }
      axis_of[attribute] = axis;
      const int64_t codes = domain.attributes()[attribute].size();
      const bool is_helmert = queries.axes[axis].weights.empty();
      const auto [entry, is_new] =
          known.try_emplace({is_helmert ? std::nullopt : std::optional(axis), codes}, made.readings_.size());
      made.reading_of_[attribute] = entry->second;
      if (!is_new) continue;
      ASSIGN_OR_RETURN(AxisReading reading, AxisReading::Create(queries.axes[axis], codes));
      made.readings_.push_back(std::move(reading));
    }
  }
  return made;
}

std::vector<const AxisReading*> AxisReadings::Of(const AttributeSet& attributes) const {
  std::vector<const AxisReading*> axes;
  for (const uint32_t attribute : attributes) axes.push_back(&Of(attribute));
  return axes;
}

}  // namespace curator::dp
