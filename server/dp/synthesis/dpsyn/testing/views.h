// Made-up populations and their noisy views, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/synthesis/dpsyn/consistency.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/workload/testing_domain.h"

namespace curator::dp {

using TestRows = std::vector<std::vector<uint32_t>>;

// Each attribute repeats the one before (modulo its size) in three records of four.
inline TestRows ChainedRows(const std::vector<int64_t>& sizes, int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  TestRows rows;
  for (int i = 0; i < count; ++i) {
    std::vector<uint32_t> row;
    for (const int64_t size : sizes) {
      const uint64_t word = random();
      const bool repeats = !row.empty() && word % 4 != 0;
      row.push_back(static_cast<uint32_t>((repeats ? row.back() : word >> 32) % static_cast<uint64_t>(size)));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

inline ViewTable CountedView(const Domain& domain, const AttributeSet& set, const TestRows& rows) {
  ViewTable view = MakeView(domain, set, 0, 1);
  for (const auto& row : rows) {
    size_t cell = 0;
    for (size_t i = 0; i < set.size(); ++i) cell = cell * static_cast<size_t>(view.sizes[i]) + row[set[i]];
    view.cells[cell] += 1;
  }
  return view;
}

// Gaussian noise, of another variance in each view.
inline std::vector<ViewTable> NoisyViews(const Domain& domain, const std::vector<AttributeSet>& sets,
                                         const TestRows& rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ViewTable> views;
  for (const AttributeSet& set : sets) {
    ViewTable& view = views.emplace_back(CountedView(domain, set, rows));
    view.variance = 4.0 * static_cast<double>(1 + views.size() % 3);
    std::normal_distribution<double> noise(0, std::sqrt(view.variance));
    for (double& cell : view.cells) cell += noise(random);
  }
  return views;
}

inline double SquaredError(const std::vector<ViewTable>& views, const Domain& domain, const TestRows& rows) {
  double sum = 0;
  for (const ViewTable& view : views) {
    const ViewTable truth = CountedView(domain, view.set, rows);
    for (size_t cell = 0; cell < truth.cells.size(); ++cell)
      sum += (view.cells[cell] - truth.cells[cell]) * (view.cells[cell] - truth.cells[cell]) / view.variance;
  }
  return sum;
}

// The largest difference between two views over one cell of any shared set.
inline double LargestDisagreement(const std::vector<SharedSet>& shared_sets,
                                  const std::vector<ViewTable>& views) {
  double largest = 0;
  for (const SharedSet& shared : shared_sets) {
    const std::vector<double> first = Marginalized(views[shared.views.front()], shared.set);
    for (const size_t view : shared.views) {
      const std::vector<double> other = Marginalized(views[view], shared.set);
      for (size_t cell = 0; cell < first.size(); ++cell)
        largest = std::max(largest, std::abs(first[cell] - other[cell]));
    }
  }
  return largest;
}

}  // namespace curator::dp
