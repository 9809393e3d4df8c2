// The largest sum of functions of few attributes each, over all values of all attributes: how much the worst
// record counts in all queries together.
//
// Method. Attributes are eliminated one after another: the functions that depend on an attribute are added
// into one table over all their attributes, and the table is replaced by its maximum over that attribute
// (Bertele, Brioschi 1972). Where the table would be too large, the functions are split into several tables,
// each with a maximum of its own: then the result is an upper bound (mini-buckets, Dechter, Rish 2003). Never
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

// An upper bound on the largest sum. Exact when at most 2^7 functions are not constant, no table has more
// than kMostJoinedCells cells, and all tables together take at most 2^28 steps (cells times functions). With
// more than 2^7 it is the sum of the functions' own largest values. Saturates at 2^55, which no sensitivity
// may reach.
inline constexpr int64_t kMostJoinedCells = int64_t{1} << 20;
int64_t LargestSum(const Domain& domain, std::vector<CellFunction> functions);

}  // namespace curator::dp
