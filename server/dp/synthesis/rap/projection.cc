#include "dp/synthesis/rap/projection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "dp/synthesis/models/nearest_non_negative.h"
#include "dp/synthesis/models/portable_math.h"

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

namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): neighbouring numbers come out unrelated.
uint64_t Scrambled(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// In [0, 1), by row and column.
double Spread(size_t row, size_t column) {
  return static_cast<double>(Scrambled(Scrambled(row) + column) >> 11) * 0x1.0p-53;
}

// The code that a row draws from an attribute's shares.
size_t DrawnCode(const RelaxedLayout& layout, size_t row, size_t position,
                 const std::vector<double>& shares) {
  const double height = Spread(row, layout.columns() + position);
  double sum = 0;
  size_t drawn = 0;
  while (drawn + 1 < shares.size() && (sum += shares[drawn]) <= height) ++drawn;
  return drawn;
}

}  // namespace

float ShadowSign(size_t marginal, size_t cell) {
  return (Scrambled(Scrambled(marginal) + cell) & 1) == 0 ? 1.0F : -1.0F;
}

RelaxedRows UniformStart(const RelaxedLayout& layout) {
  RelaxedRows rows{.layout = layout, .parameters = AlignedFloats(layout.elements())};
  for (size_t row = 0; row < layout.rows(); ++row) {
    for (size_t column = 0; column < layout.columns(); ++column)
      rows.parameters[layout.ElementAt(row, column)] = static_cast<float>(2 * Spread(row, column) - 1);
  }
  return rows;
}

RelaxedRows IndependentStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares,
                             double spread) {
  RelaxedRows rows{.layout = layout, .parameters = AlignedFloats(layout.elements())};
  for (size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> logarithms;
    for (const double share : shares[i]) logarithms.push_back(PortableLog(share));
    for (size_t row = 0; row < layout.rows(); ++row) {
      const size_t drawn = DrawnCode(layout, row, i, shares[i]);
      for (size_t code = 0; code < shares[i].size(); ++code) {
        rows.parameters[layout.ElementAt(row, layout.first_columns()[i] + code)] =
            static_cast<float>(logarithms[code] + (code == drawn ? spread : 0));
      }
    }
  }
  return rows;
}

RelaxedRows MixedStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares) {
  RelaxedRows rows{.layout = layout, .parameters = AlignedFloats(layout.elements())};
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t row = 0; row < layout.rows(); ++row) {
      const size_t drawn = DrawnCode(layout, row, i, shares[i]);
      for (size_t code = 0; code < shares[i].size(); ++code) {
        rows.parameters[layout.ElementAt(row, layout.first_columns()[i] + code)] =
            static_cast<float>(0.5 * shares[i][code] + (code == drawn ? 0.5 : 0));
      }
    }
  }
  return rows;
}

std::vector<double> PositiveShares(std::vector<double> noisy, double deviation) {
  constexpr double kLeast = 0.02;  // of an even spread
  const auto size = static_cast<double>(noisy.size());
  double total = 0;
  for (const double count : noisy) total += count;
  const double even = total / size;
  if (!(total > 0)) return std::vector<double>(noisy.size(), 1 / size);
  double uneven = 0;
  for (const double count : noisy) uneven += (count - even) * (count - even);
  const double by_noise = (size - 1) * deviation * deviation;
  const double kept = uneven > by_noise ? 1 - by_noise / uneven : 0;
  for (double& count : noisy) count = even + kept * (count - even);
  std::vector<double> shares = NearestNonNegative(std::move(noisy), total);
  double sum = 0;
  for (double& share : shares) sum += share = std::max(share / total, kLeast / size);
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace curator::dp
