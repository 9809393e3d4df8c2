#include "dp/synthesis/models/attribute_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

// Walks over the cells of some attributes, row by row, and keeps for each of several tables the cell that it
// stands in. Neighbouring attributes that each table has both or neither of are taken as one, so that rows
// are long.
template <size_t kTables>
class RowWalk {
 public:
  RowWalk(const Domain& domain, const AttributeSet& all,
          const std::array<const AttributeSet*, kTables>& tables) {
    const std::vector<int64_t> sizes = domain.SizesOf(all);
    std::array<std::vector<int64_t>, kTables> strides;
    for (size_t t = 0; t < kTables; ++t) strides[t] = StridesWithin(all, sizes, *tables[t]);
    for (size_t i = all.size(); i-- > 0;) {
      Axis axis{.size = sizes[i], .strides = {}};
      for (size_t t = 0; t < kTables; ++t) axis.strides[t] = strides[t][i];
      if (!axes_.empty() && Continues(axis, axes_.back())) {
        axes_.back().size *= axis.size;
      } else {
        axes_.push_back(axis);
      }
    }
    if (axes_.empty()) axes_.push_back({.size = 1, .strides = {}});
    codes_.resize(axes_.size());
    for (const Axis& axis : axes_) rows_ *= axis.size;
    rows_ /= axes_.front().size;
  }

  int64_t rows() const { return rows_; }
  // The cells of a row, and whether a table has another cell for each: then they are consecutive.
  int64_t row_cells() const { return axes_.front().size; }
  bool moves(size_t table) const { return axes_.front().strides[table] != 0; }
  int64_t start(size_t table) const { return starts_[table]; }

  void NextRow() {
    for (size_t i = 1; i < axes_.size(); ++i) {
      const Axis& axis = axes_[i];
      for (size_t t = 0; t < kTables; ++t) starts_[t] += axis.strides[t];
      if (++codes_[i] < axis.size) return;
      for (size_t t = 0; t < kTables; ++t) starts_[t] -= axis.strides[t] * axis.size;
      codes_[i] = 0;
    }
  }

 private:
  struct Axis {
    int64_t size = 1;
    std::array<int64_t, kTables> strides = {};
  };

  static bool Continues(const Axis& outer, const Axis& inner) {
    for (size_t t = 0; t < kTables; ++t) {
      if (outer.strides[t] != inner.strides[t] * inner.size) return false;
    }
    return true;
  }

  std::vector<Axis> axes_;  // the innermost first
  std::vector<int64_t> codes_;
  std::array<int64_t, kTables> starts_ = {};
  int64_t rows_ = 1;
};

// Counts the cells of rows, many at once.
class RowPacer {
 public:
  explicit RowPacer(Pacer& pacer) : pacer_(pacer) {}

  absl::Status Advance(int64_t cells) {
    for (; cells > Pacer::kMostSteps; cells -= Pacer::kMostSteps)
      RETURN_IF_ERROR(pacer_.Advance(Pacer::kMostSteps));
    pending_ += cells;
    return pending_ < kAtOnce ? absl::OkStatus() : Finish();
  }
  absl::Status Finish() { return pacer_.Advance(std::exchange(pending_, 0)); }

 private:
  static constexpr int64_t kAtOnce = 1 << 12;
  Pacer& pacer_;
  int64_t pending_ = 0;
};

// Each loop adds in a fixed order, whatever the width of the machine's vectors.

void AddScaled(const double* __restrict values, double scale, double* __restrict sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += scale * values[i];
}

void AddProducts(const double* __restrict left, const double* __restrict right, double* __restrict sums,
                 int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += left[i] * right[i];
}

double SumOf(const double* values, int64_t count) {
  std::array<double, 4> sums = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) sums[lane] += values[i + static_cast<int64_t>(lane)];
  }
  for (; i < count; ++i) sums[0] += values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double DotProduct(const double* left, const double* right, int64_t count) {
  std::array<double, 4> sums = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t lane = 0; lane < 4; ++lane) {
      const auto at = i + static_cast<int64_t>(lane);
      sums[lane] += left[at] * right[at];
    }
  }
  for (; i < count; ++i) sums[0] += left[i] * right[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Where the cells of one code of an attribute lie in a row-major table that has it: runs of `run` cells,
// `period` apart.
struct CodeRuns {
  CodeRuns(const Domain& domain, const AttributeSet& set, uint32_t attribute) {
    const std::vector<int64_t> sizes = domain.SizesOf(set);
    for (size_t i = set.size(); set[--i] != attribute;) run *= sizes[i];
    period = run * domain.attributes()[attribute].size();
  }
  int64_t run = 1;
  int64_t period = 1;
};

}  // namespace

absl::StatusOr<AttributeTable> SumOfProduct(const Domain& domain, const AttributeTable& left,
                                            const AttributeTable& right, const AttributeSet& kept,
                                            Pacer& pacer) {
  AttributeTable sums{.attributes = kept, .cells = {}};
  sums.cells.resize(static_cast<size_t>(domain.CellCount(kept).value_or(0)));
  const AttributeSet all = Union(left.attributes, right.attributes);
  RowWalk<3> walk(domain, all, {&left.attributes, &right.attributes, &kept});
  RowPacer paced(pacer);
  const int64_t count = walk.row_cells();
  for (int64_t row = walk.rows(); row-- > 0; walk.NextRow()) {
    RETURN_IF_ERROR(paced.Advance(count));
    const double* const l = left.cells.data() + walk.start(0);
    const double* const r = right.cells.data() + walk.start(1);
    double* const sum = sums.cells.data() + walk.start(2);
    if (walk.moves(2)) {
      if (!walk.moves(0)) {
        AddScaled(r, *l, sum, count);
      } else if (!walk.moves(1)) {
        AddScaled(l, *r, sum, count);
      } else {
        AddProducts(l, r, sum, count);
      }
    } else if (!walk.moves(0)) {
      *sum += *l * (walk.moves(1) ? SumOf(r, count) : *r * static_cast<double>(count));
    } else {
      *sum += walk.moves(1) ? DotProduct(l, r, count) : *r * SumOf(l, count);
    }
  }
  RETURN_IF_ERROR(paced.Finish());
  return sums;
}

absl::Status DivideBy(const Domain& domain, const AttributeTable& divisor, AttributeTable& table,
                      Pacer& pacer) {
  RowWalk<2> walk(domain, table.attributes, {&table.attributes, &divisor.attributes});
  RowPacer paced(pacer);
  const int64_t count = walk.row_cells();
  for (int64_t row = walk.rows(); row-- > 0; walk.NextRow()) {
    RETURN_IF_ERROR(paced.Advance(count));
    double* const cell = table.cells.data() + walk.start(0);
    const double* const by = divisor.cells.data() + walk.start(1);
    const int64_t step = walk.moves(1) ? 1 : 0;
    for (int64_t i = 0; i < count; ++i) cell[i] = by[i * step] > 0 ? cell[i] / by[i * step] : 0;
  }
  return paced.Finish();
}

AttributeTable CellsAt(const Domain& domain, const AttributeTable& table, uint32_t attribute, uint32_t code) {
  if (!Contains(table.attributes, attribute)) return table;
  const CodeRuns runs(domain, table.attributes, attribute);
  AttributeTable at{.attributes = Difference(table.attributes, {attribute}), .cells = {}};
  at.cells.reserve(table.cells.size() / static_cast<size_t>(runs.period / runs.run));
  for (size_t first = static_cast<size_t>(code * runs.run); first < table.cells.size();
       first += static_cast<size_t>(runs.period)) {
    const auto cell = table.cells.begin() + static_cast<int64_t>(first);
    at.cells.insert(at.cells.end(), cell, cell + runs.run);
  }
  return at;
}

void PutCellsAt(const Domain& domain, const AttributeTable& cells, uint32_t attribute, uint32_t code,
                AttributeTable& table) {
  const CodeRuns runs(domain, table.attributes, attribute);
  int64_t to = code * runs.run;
  for (int64_t from = 0; from < std::ssize(cells.cells); from += runs.run, to += runs.period)
    std::copy_n(cells.cells.begin() + from, runs.run, table.cells.begin() + to);
}

}  // namespace curator::dp
