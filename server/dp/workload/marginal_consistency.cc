#include "dp/workload/marginal_consistency.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/units.h"
#include "dp/workload/table_parts.h"

namespace curator::dp {
namespace {

absl::Status Refused(const std::string& why) {
  return InvalidField("post_processing", why);
}

// Calls `change(line)` for each line along each axis in turn; line(i) is its i-th element.
template <typename Value, typename Change>
void AlongEachAxis(std::vector<Value>& cells, const std::vector<size_t>& sizes, const Change& change) {
  size_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    const size_t size = sizes[axis];
    for (size_t block = 0; block < cells.size(); block += stride * size) {
      for (size_t offset = 0; offset < stride; ++offset) {
        Value* const first = cells.data() + block + offset;
        change(size, [first, stride](size_t i) -> Value& { return first[i * stride]; });
      }
    }
    stride *= size;
  }
}

// The coordinates of the header: the sum, then residuals.
void ToResiduals(std::vector<double>& cells, const std::vector<size_t>& sizes) {
  AlongEachAxis(cells, sizes, [](size_t size, const auto& line) {
    double sum = 0;
    for (size_t i = 0; i < size; ++i) sum += line(i);
    const double mean = sum / static_cast<double>(size);
    line(0) = sum;
    for (size_t i = 1; i < size; ++i) line(i) -= mean;
  });
}

void FromResiduals(std::vector<double>& coordinates, const std::vector<size_t>& sizes) {
  AlongEachAxis(coordinates, sizes, [](size_t size, const auto& line) {
    const double mean = line(0) / static_cast<double>(size);
    double first = mean;
    for (size_t i = 1; i < size; ++i) {
      first -= line(i);
      line(i) += mean;
    }
    line(0) = first;
  });
}

// The sum, then all cells but the first: whole numbers both ways.
template <typename Value>
void ToCorners(std::vector<Value>& cells, const std::vector<size_t>& sizes) {
  AlongEachAxis(cells, sizes, [](size_t size, const auto& line) {
    for (size_t i = 1; i < size; ++i) line(0) += line(i);
  });
}

template <typename Value>
void FromCorners(std::vector<Value>& coordinates, const std::vector<size_t>& sizes) {
  AlongEachAxis(coordinates, sizes, [](size_t size, const auto& line) {
    for (size_t i = 1; i < size; ++i) line(0) -= line(i);
  });
}

template <typename Value>
void ToCumulative(std::vector<Value>& cells, const std::vector<size_t>& sizes) {
  AlongEachAxis(cells, sizes, [](size_t size, const auto& line) {
    for (size_t i = 1; i < size; ++i) line(i) += line(i - 1);
  });
}

template <typename Value>
void FromCumulative(std::vector<Value>& sums, const std::vector<size_t>& sizes) {
  AlongEachAxis(sums, sizes, [](size_t size, const auto& line) {
    for (size_t i = size; i-- > 1;) line(i) -= line(i - 1);
  });
}

constexpr Int128 kGrain = 1024;  // of the fixed point in which rounding is exact

Int128 RoundedToWhole(Int128 fixed) {
  const Int128 raised = fixed + kGrain / 2;
  return raised >= 0 ? raised / kGrain : -((-raised + kGrain - 1) / kGrain);
}

// One r_S of all marginals together.
struct Part {
  size_t first = 0;    // of its coordinates
  double weights = 0;  // their sum over the marginals that have it
};

// The marginal without its attributes of one value, which have no effect.
struct Shape {
  AttributeSet attributes;
  std::vector<size_t> sizes;
  size_t cells = 1;
};

Shape ShapeOf(const Domain& domain, const MeasuredShape& marginal) {
  Shape shape;
  for (const uint32_t attribute : marginal.attributes) {
    const auto size = static_cast<size_t>(domain.attributes()[attribute].size());
    if (size == 1) continue;
    shape.attributes.push_back(attribute);
    shape.sizes.push_back(size);
    shape.cells *= size;
  }
  return shape;
}

AttributeSet Selected(const AttributeSet& attributes, size_t mask) {
  AttributeSet selected;
  for (size_t axis = 0; axis < attributes.size(); ++axis)
    if ((mask >> axis & 1) == 1) selected.push_back(attributes[axis]);
  return selected;
}

}  // namespace

absl::Status CheckConsistency(const Domain& domain, std::span<const MeasuredShape> marginals) {
  if (marginals.empty()) return Refused("there is no marginal");
  int64_t all_cells = 0;
  for (const MeasuredShape& marginal : marginals) {
    RETURN_IF_ERROR(domain.CheckSet(marginal.attributes));
    if (!(marginal.variance > 0) || !std::isfinite(marginal.variance))
      return Refused("marginals can be made consistent only where the variance of their noise is known");
    const std::optional<int64_t> cells = domain.CellCount(marginal.attributes);
    if (!cells || *cells > kMostConsistentCells - all_cells)
      return Refused("consistent marginals may have " + std::to_string(kMostConsistentCells) +
                     " cells together; these have more");
    all_cells += *cells;
  }
  return absl::OkStatus();
}

absl::StatusOr<MarginalConsistency> MarginalConsistency::Create(const Domain& domain,
                                                                std::span<const MeasuredShape> marginals) {
  RETURN_IF_ERROR(CheckConsistency(domain, marginals));
  MarginalConsistency result;
  std::vector<Shape> shapes;
  std::map<AttributeSet, Part> parts = {{{}, Part{}}};
  result.coordinates_ = 1;
  for (const MeasuredShape& marginal : marginals) {
    shapes.push_back(ShapeOf(domain, marginal));
    const Subsets subsets(shapes.back().sizes);
    for (size_t mask = 0; mask < subsets.count(); ++mask) {
      const auto [part, is_new] = parts.try_emplace(Selected(shapes.back().attributes, mask));
      if (is_new)
        part->second.first =
            std::exchange(result.coordinates_, result.coordinates_ + subsets.CoordinatesOf(mask));
      part->second.weights += 1 / (marginal.variance * subsets.CellsOutside(mask));
    }
  }
  for (size_t i = 0; i < marginals.size(); ++i) {
    const Subsets subsets(shapes[i].sizes);
    std::vector<Part> own(subsets.count());
    double variance = 0;
    for (size_t mask = 0; mask < subsets.count(); ++mask) {
      own[mask] = parts.at(Selected(shapes[i].attributes, mask));
      const double outside = subsets.CellsOutside(mask);
      variance += subsets.KeptShare(mask) / (own[mask].weights * outside * outside);
      own[mask].weights = 1 / (marginals[i].variance * outside) / own[mask].weights;  // now its share
    }
    result.variances_.push_back(variance);
    Layout& layout = result.layouts_.emplace_back();
    layout.sizes = shapes[i].sizes;
    subsets.ForEachCoordinate(shapes[i].cells, [&](size_t mask, uint32_t position) {
      layout.places.push_back(static_cast<uint32_t>(own[mask].first) + position);
      layout.shares.push_back(own[mask].weights);
    });
  }
  return result;
}

std::vector<CellValues> MarginalConsistency::Estimate(std::vector<CellValues> tables,
                                                      std::optional<double> total) const {
  std::vector<double> means(coordinates_, 0);
  for (size_t i = 0; i < layouts_.size(); ++i) {
    const Layout& layout = layouts_[i];
    ToResiduals(tables[i], layout.sizes);
    for (size_t c = 0; c < tables[i].size(); ++c) means[layout.places[c]] += layout.shares[c] * tables[i][c];
  }
  if (total) means[0] = *total;
  for (size_t i = 0; i < layouts_.size(); ++i) {
    const Layout& layout = layouts_[i];
    for (size_t c = 0; c < tables[i].size(); ++c) tables[i][c] = means[layout.places[c]];
    FromResiduals(tables[i], layout.sizes);
  }
  return tables;
}

std::vector<CellValues> MarginalConsistency::Rounded(std::vector<CellValues> tables) const {
  // In corner coordinates every choice of whole numbers agrees: first on a fine grid, so that marginals round
  // the very same cumulative counts.
  std::vector<Int128> corners(coordinates_, 0);
  for (size_t i = 0; i < layouts_.size(); ++i) {
    ToCorners(tables[i], layouts_[i].sizes);
    for (size_t c = 0; c < tables[i].size(); ++c)
      corners[layouts_[i].places[c]] =
          static_cast<Int128>(std::floor(tables[i][c] * static_cast<double>(kGrain) + 0.5));
  }
  for (size_t i = 0; i < layouts_.size(); ++i) {
    const Layout& layout = layouts_[i];
    std::vector<Int128> cells(tables[i].size());
    for (size_t c = 0; c < cells.size(); ++c) cells[c] = corners[layout.places[c]];
    FromCorners(cells, layout.sizes);
    ToCumulative(cells, layout.sizes);
    for (Int128& sum : cells) sum = RoundedToWhole(sum);
    FromCumulative(cells, layout.sizes);
    for (size_t c = 0; c < cells.size(); ++c) tables[i][c] = static_cast<double>(cells[c]);
  }
  return tables;
}

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

// Reduces cells of the line until its sum is at most `most`.
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
  // The remainders of rows and of columns have the same sum, so they fit. Larger cells first: there the
  // relative change is least.
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
