// A domain with number columns for tests.
#pragma once

#include <utility>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// The columns of NumbersDomain().
inline constexpr uint32_t kRegionColumn = 0;
inline constexpr uint32_t kAgeColumn = 1;
inline constexpr uint32_t kBalanceColumn = 2;
inline constexpr uint32_t kFarColumn = 3;

// Attributes "region" with the codes 0..1 and "age" with the integers 3..6 and a bin for missing values, the
// code 4; measures "balance" from -2 to 3 in steps of 1 with missing values, the code 6, and "far" from 70 to
// 90 in steps of 10.
inline Domain NumbersDomain() {
  std::vector<Attribute> attributes = {
      Attribute::Create("region", CodedKind{2}).value(),
      Attribute::Create("age", IntegerKind{3, 6, 1}, Missing{{}, "unknown"}).value()};
  std::vector<Measure> measures = {Measure::Create("balance", EvenSteps{-2, 3, 1}, Missing{}).value(),
                                   Measure::Create("far", EvenSteps{70, 90, 10}).value()};
  return Domain::Create(std::move(attributes), std::move(measures)).value();
}

}  // namespace curator::dp
