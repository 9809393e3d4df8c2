#include "dp/synthesis/rap/projection.h"

#include <bit>
#include <cmath>

namespace curator::dp {
namespace {

// n over k, small.
float Binomial(size_t n, size_t k) {
  float result = 1;
  for (size_t i = 1; i <= k; ++i) result = result * static_cast<float>(n - k + i) / static_cast<float>(i);
  return result;
}

}  // namespace

PolynomialAnswer AtLeast(size_t threshold, const std::vector<uint32_t>& columns) {
  PolynomialAnswer query;
  if (threshold == 1) {
    query.constant = 1;
    query.terms.push_back({.coefficient = -1, .columns = columns, .complemented = true});
    return query;
  }
  if (threshold == columns.size()) {
    query.terms.push_back({.columns = columns});
    return query;
  }
  size_t subsets = 0;
  for (size_t size = threshold; size <= columns.size(); ++size)
    subsets += static_cast<size_t>(std::lround(Binomial(columns.size(), size)));
  query.terms.reserve(subsets);
  // P(at least t of k) = sum over subsets S of at least t columns of (-1)^(|S| - t) (|S|-1 over t-1) prod S.
  for (uint32_t subset = 1; subset < (uint32_t{1} << columns.size()); ++subset) {
    const auto size = static_cast<size_t>(std::popcount(subset));
    if (size < threshold) continue;
    ProductTerm term;
    term.columns.reserve(size);
    term.coefficient = Binomial(size - 1, threshold - 1) * ((size - threshold) % 2 == 0 ? 1.0F : -1.0F);
    for (size_t i = 0; i < columns.size(); ++i) {
      if ((subset >> i & 1) != 0) term.columns.push_back(columns[i]);
    }
    query.terms.push_back(std::move(term));
  }
  return query;
}

int64_t ProductsOf(const ProjectionProblem& problem) {
  size_t products = 0;
  for (const MarginalAnswer& marginal : problem.marginals) products += marginal.answers.size();
  for (const PolynomialAnswer& polynomial : problem.polynomials) products += polynomial.terms.size();
  return static_cast<int64_t>(products);
}

}  // namespace curator::dp
