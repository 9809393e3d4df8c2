#include "dp/data/count_marginals.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/data/cell_index.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/joint_plan.h"
#include "dp/data/project_counts.h"

namespace curator::dp {
namespace {

constexpr int64_t kBlockRows = 4096;       // the numbers of a block's cells stay in the first cache
constexpr int64_t kStretchRows = 1 << 16;  // a stretch's codes stay in the second or third
constexpr int64_t kFewCells = 2048;        // up to here counts are kept in several copies
constexpr size_t kCopies = 4;  // neighbouring rows often share a cell; a copy each keeps them apart

constexpr int64_t kMaxJointCells =
    1 << 16;  // of a joint of several sets: 256 KiB, a part of the second cache
constexpr int64_t kMaxCellsOfAPass = 1 << 22;  // together: bounds memory

// Counts of one joint. Rows fit 31 bits (kMaxRows), hence so do counts; half the width is half the cache.
class CellCounter {
 public:
  CellCounter(std::vector<ColumnView> columns, int64_t cells)
      : columns_(std::move(columns)),
        cells_(static_cast<size_t>(cells)),
        copies_(cells <= kFewCells ? kCopies : 1),
        counts_(cells_ * copies_) {}

  void CountRows(int64_t begin, int64_t end) {
    if (cells_ <= size_t{1} << 16) {
      CountBlocks<uint16_t>(begin, end);
    } else {
      CountBlocks<uint32_t>(begin, end);
    }
  }

  std::vector<uint32_t> Take() && {
    for (size_t copy = 1; copy < copies_; ++copy) {
      for (size_t cell = 0; cell < cells_; ++cell) counts_[cell] += counts_[copy * cells_ + cell];
    }
    counts_.resize(cells_);
    return std::move(counts_);
  }

 private:
  template <typename Number>
  void CountBlocks(int64_t begin, int64_t end) {
    std::array<Number, kBlockRows> cells;
    for (int64_t first_row = begin; first_row < end; first_row += kBlockRows) {
      const std::span<Number> block =
          std::span(cells).first(static_cast<size_t>(std::min(kBlockRows, end - first_row)));
      CellsOfRows(columns_, first_row, block);
      Increment<Number>(block);
    }
  }

  // Four rows at a time, into a copy each: their increments do not wait for one another.
  template <typename Number>
  void Increment(std::span<const Number> block) {
    uint32_t* const first = counts_.data();
    uint32_t* const second = first + (copies_ > 1 ? cells_ : 0);
    uint32_t* const third = first + (copies_ > 2 ? 2 * cells_ : 0);
    uint32_t* const fourth = first + (copies_ > 3 ? 3 * cells_ : 0);
    size_t row = 0;
    for (; row + 4 <= block.size(); row += 4) {
      ++first[block[row]];
      ++second[block[row + 1]];
      ++third[block[row + 2]];
      ++fourth[block[row + 3]];
    }
    for (; row < block.size(); ++row) ++first[block[row]];
  }

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

// Counts `joints` in one pass over the rows: stretch by stretch, and within a stretch joint by joint, so that
// both the stretch's codes and the joint's counts stay in a cache.
std::vector<std::vector<uint32_t>> CountJoints(const ColumnsView& table, const Domain& domain,
                                               std::span<const Joint> joints) {
  std::vector<CellCounter> counters;
  counters.reserve(joints.size());
  for (const Joint& joint : joints) {
    std::vector<ColumnView> columns;
    for (const uint32_t attribute : joint.attributes) columns.push_back(table.columns[attribute]);
    counters.emplace_back(std::move(columns), *domain.CellCount(joint.attributes));
  }

  for (int64_t begin = 0; begin < table.rows; begin += kStretchRows) {
    const int64_t end = std::min(table.rows, begin + kStretchRows);
    for (CellCounter& counter : counters) counter.CountRows(begin, end);
  }

  std::vector<std::vector<uint32_t>> counts;
  for (CellCounter& counter : counters) counts.push_back(std::move(counter).Take());
  return counts;
}

// How many of the joints, from the first one, are counted in one pass: at least one.
size_t OnePass(const Domain& domain, std::span<const Joint> joints) {
  size_t count = 0;
  for (int64_t cells = 0; count < joints.size(); ++count) {
    cells += *domain.CellCount(joints[count].attributes);
    if (count > 0 && cells > kMaxCellsOfAPass) break;
  }
  return count;
}

std::vector<std::vector<int64_t>> CountColumns(const ColumnsView& table, const Domain& domain,
                                               const std::vector<AttributeSet>& sets) {
  // Summing a cell costs about as much as counting a row, and both are done for each member.
  const int64_t max_joint_cells = std::min(kMaxJointCells, table.rows / 4);
  const std::vector<Joint> joints = PlanJoints(domain, sets, max_joint_cells);
  std::vector<std::vector<int64_t>> counts(sets.size());
  for (std::span<const Joint> left = joints; !left.empty();) {
    const std::span<const Joint> pass = left.first(OnePass(domain, left));
    const std::vector<std::vector<uint32_t>> joint_counts = CountJoints(table, domain, pass);
    for (size_t i = 0; i < pass.size(); ++i) {
      for (const size_t member : pass[i].members) {
        const std::vector<uint32_t> own =
            ProjectCounts(domain, pass[i].attributes, joint_counts[i], sets[member]);
        counts[member].assign(own.begin(), own.end());
      }
    }
    left = left.subspan(pass.size());
  }
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
