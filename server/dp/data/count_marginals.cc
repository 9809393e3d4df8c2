#include "dp/data/count_marginals.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/data/cell_index.h"

namespace curator::dp {
namespace {

constexpr int64_t kBlockRows = 4096;  // a block's cells and codes stay in the first cache
constexpr int64_t kFewCells = 2048;   // up to here counts are kept in several copies
constexpr size_t kCopies = 4;         // neighbouring rows often share a cell; a copy each keeps them apart

// Counts of one marginal. Rows fit 31 bits (kMaxRows), hence so do counts; half the width is half the cache.
class CellCounter {
 public:
  CellCounter(std::vector<ColumnView> columns, int64_t cells)
      : columns_(std::move(columns)),
        cells_(static_cast<size_t>(cells)),
        copies_(cells <= kFewCells ? kCopies : 1),
        counts_(cells_ * copies_) {}

  void CountBlock(int64_t first_row, std::span<uint32_t> block) {
    CellsOfRows(columns_, first_row, block);
    uint32_t* const counts = counts_.data();
    if (copies_ == 1) {
      for (const uint32_t cell : block) ++counts[cell];
      return;
    }
    size_t row = 0;
    for (; row + kCopies <= block.size(); row += kCopies) {
      for (size_t copy = 0; copy < kCopies; ++copy) ++counts[copy * cells_ + block[row + copy]];
    }
    for (; row < block.size(); ++row) ++counts[block[row]];
  }

  std::vector<int64_t> Take() && {
    std::vector<int64_t> total(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(cells_));
    for (size_t copy = 1; copy < copies_; ++copy) {
      for (size_t cell = 0; cell < cells_; ++cell) total[cell] += counts_[copy * cells_ + cell];
    }
    counts_ = {};
    return total;
  }

 private:
  std::vector<ColumnView> columns_;
  size_t cells_;
  size_t copies_;
  std::vector<uint32_t> counts_;
};

absl::Status CheckRequest(const std::vector<int64_t>& sizes, const Domain& domain,
                          const std::vector<AttributeSet>& sets) {
  if (sizes != SizesOf(domain)) return absl::FailedPreconditionError("the table has another domain");
  int64_t total = 0;
  for (const AttributeSet& set : sets) {
    RETURN_IF_ERROR(domain.CheckSet(set));
    const std::optional<int64_t> cells = domain.CellCount(set);
    if (!cells || *cells > kMaxCountedCells - total) {
      return absl::InvalidArgumentError(
          absl::StrCat("the marginals have more than ", kMaxCountedCells, " cells, which is the limit"));
    }
    total += *cells;
  }
  return absl::OkStatus();
}

std::vector<std::vector<int64_t>> CountColumns(const ColumnsView& table, const Domain& domain,
                                               const std::vector<AttributeSet>& sets) {
  std::vector<CellCounter> counters;
  counters.reserve(sets.size());
  for (const AttributeSet& set : sets) {
    std::vector<ColumnView> columns;
    for (const uint32_t attribute : set) columns.push_back(table.columns[attribute]);
    counters.emplace_back(std::move(columns), *domain.CellCount(set));
  }

  std::array<uint32_t, kBlockRows> block;
  for (int64_t first_row = 0; first_row < table.rows; first_row += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, table.rows - first_row);
    for (CellCounter& counter : counters) {
      counter.CountBlock(first_row, std::span(block).first(static_cast<size_t>(rows)));
    }
  }

  std::vector<std::vector<int64_t>> counts;
  counts.reserve(sets.size());
  for (CellCounter& counter : counters) counts.push_back(std::move(counter).Take());
  return counts;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const SealedTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets) {
  RETURN_IF_ERROR(CheckRequest(table.sizes(), domain, sets));
  const ReadableScope readable(table);
  return CountColumns(readable.columns(), domain, sets);
}

absl::StatusOr<std::vector<std::vector<int64_t>>> CountMarginals(const PublicTable& table,
                                                                 const Domain& domain,
                                                                 const std::vector<AttributeSet>& sets) {
  RETURN_IF_ERROR(CheckRequest(table.sizes(), domain, sets));
  return CountColumns(table.columns(), domain, sets);
}

absl::StatusOr<std::vector<int64_t>> CountMarginal(const SealedTable& table, const Domain& domain,
                                                   const AttributeSet& set) {
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts, CountMarginals(table, domain, {set}));
  return std::move(counts.front());
}

absl::StatusOr<std::vector<int64_t>> CountMarginal(const PublicTable& table, const Domain& domain,
                                                   const AttributeSet& set) {
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts, CountMarginals(table, domain, {set}));
  return std::move(counts.front());
}

}  // namespace curator::dp
