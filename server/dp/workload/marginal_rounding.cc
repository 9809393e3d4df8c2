#include "dp/workload/marginal_rounding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace curator::dp {
namespace {

using WholeNumbers = std::vector<double>;  // exact: counts stay far below 2^53

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Positions of the cells from the largest fractional part to the smallest; ties in their order.
std::vector<size_t> ByFraction(const CellValues& cells) {
  std::vector<size_t> order(cells.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto fraction = [&cells](size_t i) { return cells[i] - std::floor(cells[i]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return fraction(a) > fraction(b); });
  return order;
}

// A table of rows and columns; the last axis is the columns.
struct Grid {
  size_t rows = 0;
  size_t columns = 0;
};

struct Margins {
  std::vector<double> rows;
  std::vector<double> columns;
};

Margins MarginsOf(const CellValues& cells, const Grid& grid) {
  Margins sums{std::vector<double>(grid.rows, 0), std::vector<double>(grid.columns, 0)};
  for (size_t r = 0; r < grid.rows; ++r) {
    for (size_t c = 0; c < grid.columns; ++c) {
      sums.rows[r] += cells[r * grid.columns + c];
      sums.columns[c] += cells[r * grid.columns + c];
    }
  }
  return sums;
}

// The differences of the cumulative counts, scaled to `total` and rounded.
WholeNumbers RoundedOneWay(const std::vector<double>& counts, double total) {
  const double sum = SumOf(counts);
  const double scale = sum > 0 ? total / sum : 0;
  WholeNumbers rounded;
  double cumulative = 0;
  double before = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    cumulative += counts[i];
    const double now = i + 1 == counts.size() ? total : std::min(std::round(cumulative * scale), total);
    rounded.push_back(now - before);
    before = now;
  }
  return rounded;
}

// Takes from cells of the line until it holds no more than `most`.
template <typename Cell>
void LowerTo(double most, size_t size, const Cell& cell) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += cell(i);
  for (size_t i = 0; i < size && sum > most; ++i) {
    const double taken = std::min(cell(i), sum - most);
    cell(i) -= taken;
    sum -= taken;
  }
}

// Whole numbers near `cells` with these sums of rows and of columns, which have the same total.
WholeNumbers RoundedTwoWay(const CellValues& cells, const Grid& grid, const Margins& sums) {
  WholeNumbers rounded(cells.size());
  std::transform(cells.begin(), cells.end(), rounded.begin(), [](double cell) { return std::floor(cell); });
  for (size_t r = 0; r < grid.rows; ++r)
    LowerTo(sums.rows[r], grid.columns, [&](size_t c) -> double& { return rounded[r * grid.columns + c]; });
  for (size_t c = 0; c < grid.columns; ++c)
    LowerTo(sums.columns[c], grid.rows, [&](size_t r) -> double& { return rounded[r * grid.columns + c]; });
  Margins missing = MarginsOf(rounded, grid);
  for (size_t r = 0; r < grid.rows; ++r) missing.rows[r] = sums.rows[r] - missing.rows[r];
  for (size_t c = 0; c < grid.columns; ++c) missing.columns[c] = sums.columns[c] - missing.columns[c];
  const auto raise = [&](size_t i, double most) {
    double& row = missing.rows[i / grid.columns];
    double& column = missing.columns[i % grid.columns];
    const double more = std::min({row, column, most});
    rounded[i] += more;
    row -= more;
    column -= more;
  };
  for (const size_t i : ByFraction(cells)) raise(i, 1);
  // What is left fits somewhere: rows and columns miss the same in all. Larger cells feel it least.
  std::vector<size_t> order(cells.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cells[a] > cells[b]; });
  for (const size_t i : order) raise(i, SumOf(sums.rows));
  return rounded;
}

}  // namespace

CellValues RoundedToTotal(const CellValues& cells, double total) {
  CellValues rounded(cells.size());
  std::transform(cells.begin(), cells.end(), rounded.begin(), [](double cell) { return std::floor(cell); });
  double missing = total - SumOf(rounded);
  for (const size_t i : ByFraction(cells)) {
    if (missing < 1) break;
    rounded[i] += 1;
    missing -= 1;
  }
  return rounded;
}

std::vector<CellValues> RoundedAlike(const Domain& domain, std::span<const MeasuredShape> marginals,
                                     std::vector<CellValues> tables) {
  const double total = tables.empty() ? 0 : std::round(SumOf(tables.front()));
  std::map<uint32_t, WholeNumbers> one_way;
  const auto rounded_one_way = [&](uint32_t attribute,
                                   const std::vector<double>& counts) -> const WholeNumbers& {
    const auto known = one_way.find(attribute);
    if (known != one_way.end()) return known->second;
    return one_way.emplace(attribute, RoundedOneWay(counts, total)).first->second;
  };
  for (size_t i = 0; i < tables.size(); ++i) {
    const AttributeSet& attributes = marginals[i].attributes;
    if (attributes.size() == 1) {
      tables[i] = rounded_one_way(attributes[0], tables[i]);
    } else if (attributes.size() == 2) {
      const Grid grid{static_cast<size_t>(domain.attributes()[attributes[0]].size()),
                      static_cast<size_t>(domain.attributes()[attributes[1]].size())};
      const Margins sums = MarginsOf(tables[i], grid);
      const Margins whole{rounded_one_way(attributes[0], sums.rows),
                          rounded_one_way(attributes[1], sums.columns)};
      tables[i] = RoundedTwoWay(tables[i], grid, whole);
    } else {
      tables[i] = RoundedToTotal(tables[i], total);
    }
  }
  return tables;
}

}  // namespace curator::dp
