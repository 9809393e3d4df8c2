// Residuals of small domains, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/residual/residual_measurement.h"

namespace curator::dp {

inline int64_t RandomInteger(std::mt19937_64& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
}

// codes - 1 queries that are 0 on an offset of random positive integers.
inline AxisQueries RandomAxis(std::mt19937_64& random, int64_t codes) {
  std::vector<int64_t> offset;
  for (int64_t code = 0; code < codes; ++code) offset.push_back(RandomInteger(random, 1, 9));
  AxisQueries queries{.weights = {}, .variance_factor = RandomInteger(random, 1, 50)};
  for (int64_t row = 0; row + 1 < codes; ++row) {
    int64_t sum = 0;  // of weights times offsets, which the first weight takes away
    for (size_t code = 1; code < offset.size(); ++code) {
      const int64_t weight = RandomInteger(random, -20, 20);
      sum += weight * offset[code];
      queries.weights.push_back(static_cast<int32_t>(weight * offset[0]));
    }
    queries.weights.insert(queries.weights.end() - (codes - 1), static_cast<int32_t>(-sum));
  }
  return queries;
}

// All sets of attributes, the larger first, with an axis for each attribute, and random parameters
// from 2 to 100 and multipliers up to 3.
inline ResidualMeasurement MeasurementOfAllSets(std::mt19937_64& random, std::vector<AxisQueries> axes) {
  ResidualMeasurement measurement{.queries = {.axes = axes, .groups = {}}, .sigma_squared = {}};
  for (size_t subset = size_t{1} << axes.size(); subset-- > 0;) {
    ProductGroup group;
    for (uint32_t i = 0; i < axes.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      group.attributes.push_back(i);
      group.axes.push_back(i);
    }
    group.multiplier = RandomInteger(random, 1, 3);
    measurement.queries.groups.push_back(group);
    measurement.sigma_squared.push_back({RandomInteger(random, 20, 1000), 10});
  }
  return measurement;
}

// The counts over `attributes` from those of all cells of the domain.
inline std::vector<int64_t> MarginalOf(const Domain& domain, const AttributeSet& attributes,
                                       const std::vector<int64_t>& counts) {
  std::vector<int64_t> marginal(static_cast<size_t>(*domain.CellCount(attributes)));
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    size_t rest = cell;
    std::vector<size_t> codes(domain.size());
    for (size_t i = domain.size(); i-- > 0;) {
      const auto size = static_cast<size_t>(domain.attributes()[i].size());
      codes[i] = rest % size;
      rest /= size;
    }
    size_t place = 0;
    for (const uint32_t i : attributes)
      place = place * static_cast<size_t>(domain.attributes()[i].size()) + codes[i];
    marginal[place] += counts[cell];
  }
  return marginal;
}

// The values of each group without noise.
inline std::vector<std::vector<int64_t>> ValuesWithoutNoise(const Domain& domain,
                                                            const ResidualMeasurement& measurement,
                                                            const std::vector<int64_t>& counts) {
  std::vector<std::vector<int64_t>> values;
  for (const ProductGroup& group : measurement.queries.groups) {
    values.push_back(
        AnswersFromCounts(domain, measurement.queries, group, MarginalOf(domain, group.attributes, counts)));
  }
  return values;
}

inline std::vector<int64_t> RandomCounts(std::mt19937_64& random, size_t cells) {
  std::vector<int64_t> counts(cells);
  for (int64_t& count : counts) count = RandomInteger(random, 0, 1000);
  return counts;
}

}  // namespace curator::dp
