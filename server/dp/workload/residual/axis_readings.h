// The readings of all attributes of a measurement (axis_reading.h).
//
// Immutable: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/residual/axis_reading.h"

namespace curator::dp {

class AxisReadings {
 public:
  // `queries` valid (ValidateProducts()). Takes what AxisReading::Create() takes for each axis; attributes of
  // equally many codes with Helmert contrasts share one. Errors: those of AxisReading::Create();
  // INVALID_ARGUMENT where an attribute has several axes.
  static absl::StatusOr<AxisReadings> Create(const Domain& domain, const ProductQueries& queries);

  // Of an attribute that some group has, and of several. The same object for those that share one, and after
  // a move.
  const AxisReading& Of(uint32_t attribute) const { return readings_[*reading_of_[attribute]]; }
  std::vector<const AxisReading*> Of(const AttributeSet& attributes) const;

 private:
  AxisReadings() = default;

  std::vector<AxisReading> readings_;
  std::vector<std::optional<size_t>> reading_of_;  // of each attribute of the domain
};

}  // namespace curator::dp
