// The columns of a table that numbers are taken from: its measures, and its integer attributes with bins of
// one value.
//
// A table has a column for each attribute of its domain, then one for each measure.
// Thread-safe: plain values and pure functions of public facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// The codes 0..steps stand for the numbers (low + code) * resolution.
struct NumberColumn {
  uint32_t column = 0;  // of a table
  std::string name;
  int64_t low = 0;    // in steps
  int64_t steps = 1;  // at most kMostMeasureSteps
  double resolution = 1;
  std::optional<uint32_t> missing_code;  // of records without a number: steps + 1
  bool operator==(const NumberColumn&) const = default;

  double ValueOf(int64_t step) const { return static_cast<double>(step) * resolution; }
};

// The measure of this name, or else the attribute. Errors: INVALID_ARGUMENT (no field) with the reason why
// the attribute is none, or the names that are.
absl::StatusOr<NumberColumn> FindNumberColumn(const Domain& domain, std::string_view name);

// The number column that is `column` of the table; none where that is no number column.
std::optional<NumberColumn> NumberColumnAt(const Domain& domain, uint32_t column);

}  // namespace curator::dp
