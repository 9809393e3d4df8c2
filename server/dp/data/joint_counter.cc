#include "dp/data/joint_counter.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/processor.h"
#include "dp/data/cell_index.h"
#include "dp/data/narrow_cells.h"

namespace curator::dp {
namespace {

constexpr int64_t kBlockRows = 4096;  // the numbers of a block's cells stay in the first cache
constexpr int64_t kFewCells = 2048;   // up to here counts are kept in several copies
constexpr size_t kCopies = 4;         // neighbouring rows often share a cell; a copy each keeps them apart

size_t CopiesFor(int64_t cells) {
  return cells <= kFewCells ? kCopies : 1;
}

bool IsNarrow(std::span<const ColumnView> columns) {
  return !columns.empty() && columns.size() <= kMostNarrowColumns &&
         std::ranges::all_of(columns,
                             [](const ColumnView& column) { return column.width == CodeWidth::kOneByte; });
}

}  // namespace

size_t CounterNumbers(int64_t cells) {
  return static_cast<size_t>(cells) * CopiesFor(cells);
}

JointCounter::JointCounter(std::vector<ColumnView> columns, int64_t cells, std::span<uint32_t> zeros)
    : columns_(std::move(columns)),
      cells_(static_cast<size_t>(cells)),
      copies_(CopiesFor(cells)),
      counts_(zeros) {}

void JointCounter::CountRows(int64_t begin, int64_t end) {
  const bool is_small = cells_ <= size_t{1} << 16;
  if (is_small && IsNarrow(columns_)) {
    CountNarrowRows(columns_, begin, end, Arrays());
  } else if (is_small) {
    CountBlocks<uint16_t>(begin, end);
  } else {
    CountBlocks<uint32_t>(begin, end);
  }
}

// The copies by turns, so that the increments of neighbouring rows do not wait for one another.
CountArrays JointCounter::Arrays() {
  CountArrays arrays;
  for (size_t i = 0; i < arrays.size(); ++i) arrays[i] = counts_.data() + i % copies_ * cells_;
  return arrays;
}

void JointCounter::Add(const JointCounter& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::span<const uint32_t> JointCounter::Finish() {
  for (size_t copy = 1; copy < copies_; ++copy) {
    for (size_t cell = 0; cell < cells_; ++cell) counts_[cell] += counts_[copy * cells_ + cell];
  }
  return counts_.first(cells_);
}

template <typename Number>
void JointCounter::CountBlocks(int64_t begin, int64_t end) {
  std::array<Number, kBlockRows> cells;
  for (int64_t first_row = begin; first_row < end; first_row += kBlockRows) {
    const std::span<Number> block =
        std::span(cells).first(static_cast<size_t>(std::min(kBlockRows, end - first_row)));
    CellsOfRows(columns_, first_row, block);
    Increment<Number>(block);
  }
}

template <typename Number>
void JointCounter::Increment(std::span<const Number> block) {
  const auto [first, second, third, fourth] = Arrays();
  size_t row = 0;
  for (; row + 4 <= block.size(); row += 4) {
    ++first[block[row]];
    ++second[block[row + 1]];
    ++third[block[row + 2]];
    ++fourth[block[row + 3]];
  }
  for (; row < block.size(); ++row) ++first[block[row]];
}

namespace {

// Everything here is written once and compiled for each instruction set: inlined functions take over the
// target of their caller.

[[gnu::always_inline]] inline void CountGroup(const uint16_t* __restrict cells, uint32_t* first,
                                              uint32_t* second, uint32_t* third, uint32_t* fourth) {
#pragma GCC unroll 4
  for (size_t i = 0; i < kGroupRows; i += 4) {
    ++first[cells[i]];
    ++second[cells[i + 1]];
    ++third[cells[i + 2]];
    ++fourth[cells[i + 3]];
  }
}

template <size_t kColumns>
[[gnu::always_inline]] inline void Count(std::span<const ColumnView> views, int64_t begin, int64_t end,
                                         const CountArrays& counts) {
  const NarrowColumns<kColumns> columns = NarrowColumnsFrom<kColumns>(views, begin);
  const auto [first, second, third, fourth] = counts;
  const size_t rows = static_cast<size_t>(end - begin);
  const size_t groups = rows / kGroupRows;
  alignas(64) uint16_t cells[2][kGroupRows];
  if (groups > 0) CellsOfGroup(columns, 0, cells[0]);
  for (size_t group = 0; group < groups; ++group) {
    if (group + 1 < groups) CellsOfGroup(columns, (group + 1) * kGroupRows, cells[(group + 1) % 2]);
    CountGroup(cells[group % 2], first, second, third, fourth);
  }
  for (size_t row = groups * kGroupRows; row < rows; ++row) ++first[CellOf(columns, row)];
}

[[gnu::always_inline]] inline void CountAny(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                                            const CountArrays& counts) {
  switch (columns.size()) {
    case 1:
      return Count<1>(columns, begin, end, counts);
    case 2:
      return Count<2>(columns, begin, end, counts);
    case 3:
      return Count<3>(columns, begin, end, counts);
    case 4:
      return Count<4>(columns, begin, end, counts);
    case 5:
      return Count<5>(columns, begin, end, counts);
    case kMostNarrowColumns:
      return Count<6>(columns, begin, end, counts);
    default:
      break;
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void CountWithAvx2(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                                           const CountArrays& counts) {
  CountAny(columns, begin, end, counts);
}
#endif

}  // namespace

void CountNarrowRows(std::span<const ColumnView> columns, int64_t begin, int64_t end,
                     const CountArrays& counts, InstructionSet instructions) {
#if defined(__x86_64__)
  if (instructions == InstructionSet::kThisMachines && MachineHasAvx2())
    return CountWithAvx2(columns, begin, end, counts);
#endif
  CountAny(columns, begin, end, counts);
}

namespace {

// The sums over the middle one of three axes.
std::vector<uint32_t> SumOut(std::span<const uint32_t> counts, size_t outer, size_t middle, size_t inner) {
  std::vector<uint32_t> sums(outer * inner);
  const uint32_t* from = counts.data();
  for (size_t i = 0; i < outer; ++i) {
    uint32_t* const to = sums.data() + i * inner;
    for (size_t j = 0; j < middle; ++j, from += inner) {
      for (size_t k = 0; k < inner; ++k) to[k] += from[k];
    }
  }
  return sums;
}

// The same where the axis is the last: sums of runs.
std::vector<uint32_t> SumRuns(std::span<const uint32_t> counts, size_t run) {
  std::vector<uint32_t> sums(counts.size() / run);
  const uint32_t* from = counts.data();
  for (uint32_t& sum : sums) {
    uint32_t total = 0;
    for (size_t j = 0; j < run; ++j) total += from[j];
    sum = total;
    from += run;
  }
  return sums;
}

using Each = std::vector<std::vector<uint32_t>>;

// Which attribute of `from` to sum out for several of `members` at once: the first of those that most of them
// lack, because outer attributes are summed out fastest. None when no two lack the same.
std::optional<uint32_t> MostLacked(const AttributeSet& from, const std::vector<AttributeSet>& to,
                                   const std::vector<size_t>& members) {
  std::optional<uint32_t> best;
  int64_t best_lack = 1;
  for (const uint32_t attribute : from) {
    const int64_t lack = std::ranges::count_if(
        members, [&](size_t member) { return !std::ranges::binary_search(to[member], attribute); });
    if (lack <= best_lack) continue;
    best = attribute;
    best_lack = lack;
  }
  return best;
}

// Projects `counts` of `from` to to[m] for each m of `members`, into each[m].
class Projections {
 public:
  Projections(const Domain& domain, const std::vector<AttributeSet>& to)
      : domain_(domain), to_(to), each_(to.size()) {}

  void Descend(const AttributeSet& from, std::span<const uint32_t> counts, std::vector<size_t> members) {
    while (const std::optional<uint32_t> lacked = MostLacked(from, to_, members)) {
      const auto with_it = std::ranges::partition(
          members, [&](size_t member) { return !std::ranges::binary_search(to_[member], *lacked); });
      AttributeSet rest = from;
      std::erase(rest, *lacked);
      Descend(rest, ProjectCounts(domain_, from, counts, rest), {members.begin(), with_it.begin()});
      members.erase(members.begin(), with_it.begin());
    }
    for (const size_t member : members) each_[member] = ProjectCounts(domain_, from, counts, to_[member]);
  }

  Each Take() && { return std::move(each_); }

 private:
  const Domain& domain_;
  const std::vector<AttributeSet>& to_;
  Each each_;
};

}  // namespace

std::vector<uint32_t> ProjectCounts(const Domain& domain, const AttributeSet& from,
                                    std::span<const uint32_t> counts, const AttributeSet& to) {
  if (from.size() == to.size()) return {counts.begin(), counts.end()};
  // Adjacent attributes that are all kept, or all summed out, form one axis. Outer axes are summed out first:
  // their sums run over long, contiguous stretches.
  AttributeSet left = from;
  std::vector<uint32_t> sums;
  while (left.size() > to.size()) {
    const std::span<const uint32_t> source =
        left.size() == from.size() ? counts : std::span<const uint32_t>(sums);
    const auto is_wanted = [&to](uint32_t attribute) {
      return std::binary_search(to.begin(), to.end(), attribute);
    };
    const auto first = std::find_if_not(left.begin(), left.end(), is_wanted);
    const auto last = std::find_if(first, left.end(), is_wanted);
    const size_t middle = static_cast<size_t>(*domain.CellCount(AttributeSet(first, last)));
    const size_t inner = static_cast<size_t>(*domain.CellCount(AttributeSet(last, left.end())));
    sums = inner == 1 ? SumRuns(source, middle)
                      : SumOut(source, source.size() / (middle * inner), middle, inner);
    left.erase(first, last);
  }
  return sums;
}

std::vector<std::vector<uint32_t>> ProjectToEach(const Domain& domain, const AttributeSet& from,
                                                 std::span<const uint32_t> counts,
                                                 const std::vector<AttributeSet>& to) {
  std::vector<size_t> members(to.size());
  std::iota(members.begin(), members.end(), size_t{0});
  Projections projections(domain, to);
  projections.Descend(from, counts, std::move(members));
  return std::move(projections).Take();
}

}  // namespace curator::dp
