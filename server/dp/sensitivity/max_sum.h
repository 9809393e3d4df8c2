// The largest sum of functions of few attributes each, over all values of all attributes: how much the worst
// record counts in all queries together.
//
// Method. Attributes are eliminated one after another: the functions of an attribute are added up as one
// table over all of their attributes, and that is replaced by its largest value over the one (Bertele,
// Brioschi 1972). Where the table would be too large, the functions are split into several tables, each with
// a largest value of its own: then the result is a bound from above (mini-buckets, Dechter, Rish 2003). Never
// more than the sum of the functions' own largest values.
//
// Time and memory are bounded whatever the functions are. Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// A value for each cell of `attributes`, the last one varying fastest; all in 0..2^55.
struct CellFunction {
  AttributeSet attributes;
  std::vector<int64_t> values;
};

// At least the largest sum, and exactly the largest sum while no table has more than kMostJoinedCells. At
// most 2^7 of the functions may differ in their cells for that; of more, the sum of their own largest values
// is returned. Saturates at 2^55, which no sensitivity may reach.
inline constexpr int64_t kMostJoinedCells = int64_t{1} << 20;
int64_t LargestSum(const Domain& domain, std::vector<CellFunction> functions);

}  // namespace curator::dp
