// Queries over the cells of a marginal that are products of queries over each of its attributes: the weight
// of a cell is the product of a weight for each of its codes.
//
// Everything here is computed from public facts and from the counts that are passed. Thread-safe: plain
// values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// Queries over one attribute.
struct AxisQueries {
  // Query after query, a weight for each code. When empty, the queries are the Helmert contrasts: for k = 1
  // to the number of codes less one, the first k codes have weight 1 and the next one -k.
  std::vector<int32_t> weights = {};
  // Of weighted queries: the factor of the variance of each one's noise, e.g. the square of the number that
  // their weights were scaled by. That of contrasts is 1 here and has no meaning.
  int64_t variance_factor = 1;
  bool operator==(const AxisQueries&) const = default;
};

// The number of queries over an attribute of `codes` codes.
int64_t NumberOfQueries(const AxisQueries& queries, int64_t codes);

// For each query over an axis the factor of the parameter of its noise: k (k + 1), the sum of its squared
// weights, for the k-th Helmert contrast; variance_factor for others. That of a product is their product.
std::vector<int64_t> VarianceFactors(const AxisQueries& queries, int64_t codes);

// All products of one query over each attribute of a marginal, the queries of the last attribute running
// fastest; without attributes the number of records.
struct ProductGroup {
  AttributeSet attributes;
  std::vector<uint32_t> axes;  // for each attribute a position in ProductQueries::axes
  // Multiplies all answers, and its square the parameter of their noise: noise on a lattice that is as much
  // finer, of the same size and at the same cost.
  int64_t multiplier = 1;
  bool operator==(const ProductGroup&) const = default;
};

struct ProductQueries {
  std::vector<AxisQueries> axes;  // each may be used by many groups, over attributes of one number of codes
  std::vector<ProductGroup> groups;
  bool operator==(const ProductQueries&) const = default;
};

// Weights of products reach this far from 0: with fewer than 2^31 records an answer stays below 2^61.
inline constexpr int64_t kLargestProductWeight = int64_t{1} << 30;

// Limits of the attributes of a group, and of the weights over one attribute.
inline constexpr size_t kMostProductAxes = 8;
inline constexpr size_t kMostAxisWeights = size_t{1} << 18;
inline constexpr int64_t kLargestVarianceFactor = int64_t{1} << 40;

// INVALID_ARGUMENT unless there is a group; each has a positive multiplier and is over rising attributes of
// the domain, kMostProductAxes of them at most, each of two codes or more; no attribute set occurs twice;
// each attribute has an axis, whose weights, kMostAxisWeights of them at most, make whole queries over its
// codes and reach no farther than kLargestWeight (linear_queries.h), with a factor within
// 1..kLargestVarianceFactor; and no weight of a product is beyond kLargestProductWeight.
absl::Status ValidateProducts(const Domain& domain, const ProductQueries& queries);

// How many answers a valid group has.
int64_t NumberOfQueries(const Domain& domain, const ProductQueries& queries, const ProductGroup& group);

// The variance factors of a valid group's queries over each of its attributes; where it has a multiplier,
// that one's square alone makes a further list at the end.
std::vector<std::vector<int64_t>> VarianceFactors(const Domain& domain, const ProductQueries& queries,
                                                  const ProductGroup& group);

// The answers of a valid group from the counts of its marginal's cells, of which there are fewer than 2^31 in
// all. Exact. Takes cells times (the number of attributes, and for each with weights its number of queries)
// steps. Contrasts take the place of the counts; weighted queries take a table of their own beside them.
std::vector<int64_t> AnswersFromCounts(const Domain& domain, const ProductQueries& queries,
                                       const ProductGroup& group, std::vector<int64_t> counts);

}  // namespace curator::dp
