// What is measured of a workload by residuals: for each set of attributes B a product of queries over each of
// its attributes that are 0 on a fixed distribution c_i of that attribute's codes (the offset), so that B's
// part is measured apart from those of its subsets.
//
// Any table x over the attributes A is the sum over the subsets B of A of
//
//   (product over B of (I - c_i 1^T)) (product over A \ B of c_i 1^T) x,
//
// and the part of B is a function of the product of queries R_i x over B, where R_i c_i = 0 and R_i has one
// query less than there are codes. So queries over A are answered from the parts of all of A's subsets, each
// of which was measured with noise of its own variance.
//
// Source: Xiao, He, Zhang, Kifer 2023 (ResidualPlanner) for c_i = 1/n; ADR 0083 for other offsets.
#pragma once

#include <vector>

#include "dp/accounting/units.h"
#include "dp/queries/product_queries.h"

namespace curator::dp {

// Plain values. The groups of `queries` are closed under subsets: they include the empty set, and with a set
// each of its subsets. An attribute has the same axis in all of them.
struct ResidualMeasurement {
  ProductQueries queries;
  std::vector<Rational> sigma_squared;  // the parameter of the noise, for each group
  bool operator==(const ResidualMeasurement&) const = default;
};

}  // namespace curator::dp
