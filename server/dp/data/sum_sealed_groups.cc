#include "dp/data/sum_sealed_groups.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/processor.h"
#include "base/status_macros.h"
#include "dp/data/cell_index.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/joint_plan.h"
#include "dp/data/narrow_cells.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostSums = int64_t{1} << 24;  // and cells
constexpr int64_t kMostNumber = int64_t{1} << 20;
constexpr int64_t kRootOf32Bits = 1 << 15;  // its square leaves room to round
constexpr int64_t kBlockRows = 1024;        // their cells, slots and numbers stay in the first cache
constexpr int64_t kStretchRows = 1 << 16;   // that a core takes at once
constexpr int kMostCores = 16;
constexpr int64_t kWorthAnotherCore = 1 << 22;  // rows: more than a millisecond
constexpr int64_t kMostSlotsOfACore = 1 << 20;  // 8 MiB
constexpr int64_t kFewSlots = 1024;             // up to here sums are kept in several copies

// code / width for every code below 2^24, as a product: with s = 24 + the bits of width - 1 the error of
// `factor` is below width / 2^s, so that of the product is below 1 / width.
struct Quotient {
  uint64_t factor;
  int shift;
};

Quotient QuotientBy(int64_t width) {
  const auto shift = 24 + static_cast<int>(std::bit_width(static_cast<uint64_t>(width - 1)));
  const auto divisor = static_cast<uint64_t>(width);
  return {.factor = ((uint64_t{1} << shift) + divisor - 1) / divisor, .shift = shift};
}

// Where each row's number goes. Without blocks, to the sum of its cell; cells are put together to groups at
// the end. With blocks, to that of the block of its group; rows in no group or block have places of their
// own, so that they take the same steps.
struct Slots {
  int64_t count = 1;
  std::vector<uint32_t> first_of_cell;  // with blocks: the slot of each cell's first block
  int64_t blocks = 1;                   // for each group, that of rows in no block included
};

Slots SlotsFor(const GroupedRows& rows) {
  if (!rows.blocks) return {.count = std::ssize(rows.group_of_cell), .first_of_cell = {}};
  Slots slots{.count = 1, .first_of_cell = {}, .blocks = rows.blocks->blocks() + 1};
  slots.count = (rows.groups + 1) * slots.blocks;
  slots.first_of_cell.reserve(rows.group_of_cell.size());
  for (const int32_t group : rows.group_of_cell) {
    const int64_t counted = group < 0 ? rows.groups : group;
    slots.first_of_cell.push_back(static_cast<uint32_t>(counted * slots.blocks));
  }
  return slots;
}

// Everything from here to RowSums is written once and compiled for each instruction set: inlined functions
// take over the target of their caller. No step depends on a code but by masks and addresses.

// All bits where the code is below, else none.
[[gnu::always_inline]] inline uint32_t MaskOf(uint32_t code, uint32_t below) {
  return uint32_t{0} - static_cast<uint32_t>(code < below);
}

template <typename Code>
[[gnu::always_inline]] inline void LinearNumbers(const Code* __restrict codes, uint32_t below, uint32_t first,
                                                 uint32_t step, int32_t* __restrict numbers, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t code = codes[row];
    numbers[row] = static_cast<int32_t>((first + (code & step)) & MaskOf(code, below));
  }
}

struct Square {
  uint32_t half;  // of what squares are divided by
  int shift;
  uint32_t centre;
};

// `Wide` holds the squares.
template <typename Wide, typename Code>
[[gnu::always_inline]] inline void SquareNumbers(const Code* __restrict codes, uint32_t below, uint32_t first,
                                                 Square square, int32_t* __restrict numbers, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t code = codes[row];
    const auto number = static_cast<int32_t>(first + code);
    const auto magnitude = static_cast<uint32_t>(number < 0 ? -number : number);
    const Wide squared = Wide{magnitude} * Wide{magnitude};
    const auto rounded = static_cast<uint32_t>((squared + square.half) >> square.shift);
    numbers[row] = static_cast<int32_t>((rounded - square.centre) & MaskOf(code, below));
  }
}

template <typename Code>
[[gnu::always_inline]] inline void AddBlocks(const Code* __restrict codes, uint32_t below, Quotient quotient,
                                             uint32_t outside, uint32_t* __restrict slots, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    const uint32_t code = codes[row];
    const uint32_t inside = MaskOf(code, below);
    const auto block = static_cast<uint32_t>((uint64_t{code} * quotient.factor) >> quotient.shift);
    slots[row] += (block & inside) | (outside & ~inside);
  }
}

// The columns and public numbers of one request, as the loops use them.
struct Loops {
  std::vector<ColumnView> cells;
  std::optional<ColumnView> numbers;
  uint32_t codes = 0;
  uint32_t first = 0;
  uint32_t step = 0;
  std::optional<Square> square;
  bool is_square_wide = false;  // squares need more than 32 bits
  std::optional<ColumnView> blocks;
  uint32_t block_codes = 0;
  uint32_t outside = 0;  // the block of rows that are in none
  Quotient quotient{};
};

template <typename Code>
[[gnu::always_inline]] inline void FillNumbersFrom(const Loops& loops, const std::byte* codes,
                                                   std::span<int32_t> numbers) {
  const auto* const start = reinterpret_cast<const Code*>(codes);
  if (!loops.square) {
    LinearNumbers(start, loops.codes, loops.first, loops.step, numbers.data(), numbers.size());
  } else if (loops.is_square_wide) {
    SquareNumbers<uint64_t>(start, loops.codes, loops.first, *loops.square, numbers.data(), numbers.size());
  } else {
    SquareNumbers<uint32_t>(start, loops.codes, loops.first, *loops.square, numbers.data(), numbers.size());
  }
}

template <typename Code>
[[gnu::always_inline]] inline void AddBlocksFrom(const Loops& loops, const std::byte* codes,
                                                 std::span<uint32_t> slots) {
  AddBlocks(reinterpret_cast<const Code*>(codes), loops.block_codes, loops.quotient, loops.outside,
            slots.data(), slots.size());
}

const std::byte* CodesFrom(const ColumnView& column, int64_t first_row) {
  return column.codes + first_row * static_cast<int64_t>(BytesOf(column.width));
}

[[gnu::always_inline]] inline void Numbers(const Loops& loops, int64_t first_row,
                                           std::span<int32_t> numbers) {
  const std::byte* const codes = CodesFrom(*loops.numbers, first_row);
  if (loops.numbers->width == CodeWidth::kOneByte) return FillNumbersFrom<uint8_t>(loops, codes, numbers);
  if (loops.numbers->width == CodeWidth::kTwoBytes) return FillNumbersFrom<uint16_t>(loops, codes, numbers);
  return FillNumbersFrom<uint32_t>(loops, codes, numbers);
}

[[gnu::always_inline]] inline void Blocks(const Loops& loops, int64_t first_row, std::span<uint32_t> slots) {
  const std::byte* const codes = CodesFrom(*loops.blocks, first_row);
  if (loops.blocks->width == CodeWidth::kOneByte) return AddBlocksFrom<uint8_t>(loops, codes, slots);
  if (loops.blocks->width == CodeWidth::kTwoBytes) return AddBlocksFrom<uint16_t>(loops, codes, slots);
  return AddBlocksFrom<uint32_t>(loops, codes, slots);
}

// The arrays that neighbouring rows are added to by turns.
constexpr size_t kCopies = 4;
using SumArrays = std::array<int64_t*, kCopies>;

[[gnu::always_inline]] inline void AddGroup(const uint16_t* __restrict cells,
                                            const int32_t* __restrict numbers, int64_t* one, int64_t* two,
                                            int64_t* three, int64_t* four) {
#pragma GCC unroll 4
  for (size_t i = 0; i < kGroupRows; i += kCopies) {
    one[cells[i]] += numbers[i];
    two[cells[i + 1]] += numbers[i + 1];
    three[cells[i + 2]] += numbers[i + 2];
    four[cells[i + 3]] += numbers[i + 3];
  }
}

// Adds the numbers of the rows begin..end-1 to the sums of their cells, over columns of one byte.
template <size_t kColumns>
[[gnu::always_inline]] inline void AddNarrow(const Loops& loops, int64_t begin, int64_t end,
                                             const SumArrays& sums) {
  const NarrowColumns<kColumns> columns = NarrowColumnsFrom<kColumns>(loops.cells, begin);
  const auto [one, two, three, four] = sums;
  const size_t rows = static_cast<size_t>(end - begin);
  const size_t groups = rows / kGroupRows;
  alignas(64) uint16_t cells[2][kGroupRows];
  alignas(64) int32_t numbers[2][kGroupRows];
  const auto group_begin = [begin](size_t group) { return begin + static_cast<int64_t>(group * kGroupRows); };
  if (groups > 0) {
    CellsOfGroup(columns, 0, cells[0]);
    Numbers(loops, begin, numbers[0]);
  }
  for (size_t group = 0; group < groups; ++group) {
    if (group + 1 < groups) {
      CellsOfGroup(columns, (group + 1) * kGroupRows, cells[(group + 1) % 2]);
      Numbers(loops, group_begin(group + 1), numbers[(group + 1) % 2]);
    }
    AddGroup(cells[group % 2], numbers[group % 2], one, two, three, four);
  }
  const size_t rest = rows - groups * kGroupRows;
  Numbers(loops, group_begin(groups), std::span(numbers[0]).first(rest));
  for (size_t i = 0; i < rest; ++i) one[CellOf(columns, groups * kGroupRows + i)] += numbers[0][i];
}

[[gnu::always_inline]] inline void AddAnyNarrow(const Loops& loops, int64_t begin, int64_t end,
                                                const SumArrays& sums) {
  switch (loops.cells.size()) {
    case 1:
      return AddNarrow<1>(loops, begin, end, sums);
    case 2:
      return AddNarrow<2>(loops, begin, end, sums);
    case 3:
      return AddNarrow<3>(loops, begin, end, sums);
    case 4:
      return AddNarrow<4>(loops, begin, end, sums);
    case 5:
      return AddNarrow<5>(loops, begin, end, sums);
    case kMostNarrowColumns:
      return AddNarrow<6>(loops, begin, end, sums);
    default:
      break;
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void AddNarrowWithAvx2(const Loops& loops, int64_t begin, int64_t end,
                                               const SumArrays& sums) {
  AddAnyNarrow(loops, begin, end, sums);
}
[[gnu::target("avx2")]] void NumbersWithAvx2(const Loops& loops, int64_t first_row,
                                             std::span<int32_t> numbers) {
  Numbers(loops, first_row, numbers);
}
[[gnu::target("avx2")]] void BlocksWithAvx2(const Loops& loops, int64_t first_row,
                                            std::span<uint32_t> slots) {
  Blocks(loops, first_row, slots);
}
#endif

void NumbersHere(const Loops& loops, int64_t first_row, std::span<int32_t> numbers) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return NumbersWithAvx2(loops, first_row, numbers);
#endif
  Numbers(loops, first_row, numbers);
}

void BlocksHere(const Loops& loops, int64_t first_row, std::span<uint32_t> slots) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return BlocksWithAvx2(loops, first_row, slots);
#endif
  Blocks(loops, first_row, slots);
}

void AddNarrowHere(const Loops& loops, int64_t begin, int64_t end, const SumArrays& sums) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return AddNarrowWithAvx2(loops, begin, end, sums);
#endif
  AddAnyNarrow(loops, begin, end, sums);
}

// Whether AddNarrow() can add a request's rows: most requests.
bool IsNarrow(const Loops& loops, const Slots& slots) {
  const auto is_narrow = [](const ColumnView& column) { return column.width == CodeWidth::kOneByte; };
  return !loops.blocks && loops.numbers && !loops.cells.empty() && loops.cells.size() <= kMostNarrowColumns &&
         slots.count <= int64_t{1} << 16 && std::ranges::all_of(loops.cells, is_narrow);
}

// Neighbouring rows often share a slot.
size_t CopiesFor(int64_t slots) {
  return slots <= kFewSlots ? kCopies : 1;
}

// The sums of the rows that one core has taken. Not thread-safe; what it refers to must outlive it.
class RowSums {
 public:
  RowSums(const Loops& loops, const Slots& slots)
      : loops_(loops),
        slots_(slots),
        is_narrow_(IsNarrow(loops, slots)),
        copies_(CopiesFor(slots.count)),
        sums_(static_cast<size_t>(slots.count) * copies_) {
    numbers_.fill(static_cast<int32_t>(loops.first));  // where rows have no numbers of their own
  }

  // Adds the rows begin..end-1.
  void AddRows(int64_t begin, int64_t end) {
    if (is_narrow_) return AddNarrowHere(loops_, begin, end, Arrays());
    for (int64_t first_row = begin; first_row < end; first_row += kBlockRows) {
      const auto rows = static_cast<size_t>(std::min(kBlockRows, end - first_row));
      if (loops_.numbers) NumbersHere(loops_, first_row, std::span(numbers_).first(rows));
      if (loops_.blocks) {
        AddToBlocks(first_row, rows);
      } else if (slots_.count == 1) {
        for (size_t row = 0; row < rows; ++row) sums_[0] += numbers_[row];
      } else if (slots_.count <= int64_t{1} << 16) {
        AddToCells<uint16_t>(first_row, rows);
      } else {
        AddToCells<uint32_t>(first_row, rows);
      }
    }
  }

  void Add(const RowSums& other) {
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  }

  // The sum of each slot.
  std::vector<int64_t> Take() && {
    const auto slots = static_cast<size_t>(slots_.count);
    for (size_t copy = 1; copy < copies_; ++copy) {
      for (size_t slot = 0; slot < slots; ++slot) sums_[slot] += sums_[copy * slots + slot];
    }
    sums_.resize(slots);
    return std::move(sums_);
  }

 private:
  template <typename Number>
  void AddToCells(int64_t first_row, size_t rows) {
    std::array<Number, kBlockRows> cells;
    CellsOfRows(loops_.cells, first_row, std::span(cells).first(rows));
    Scatter<Number>(std::span(cells).first(rows));
  }

  void AddToBlocks(int64_t first_row, size_t rows) {
    std::array<uint32_t, kBlockRows> slots;
    CellsOfRows(loops_.cells, first_row, std::span(slots).first(rows));
    for (size_t row = 0; row < rows; ++row) slots[row] = slots_.first_of_cell[slots[row]];
    BlocksHere(loops_, first_row, std::span(slots).first(rows));
    Scatter<uint32_t>(std::span(slots).first(rows));
  }

  // The copies by turns, so that the additions of neighbouring rows do not wait for one another.
  SumArrays Arrays() {
    SumArrays arrays;
    for (size_t i = 0; i < kCopies; ++i)
      arrays[i] = sums_.data() + i % copies_ * static_cast<size_t>(slots_.count);
    return arrays;
  }

  template <typename Number>
  void Scatter(std::span<const Number> slots) {
    const auto [one, two, three, four] = Arrays();
    size_t row = 0;
    for (; row + kCopies <= slots.size(); row += kCopies) {
      one[slots[row]] += numbers_[row];
      two[slots[row + 1]] += numbers_[row + 1];
      three[slots[row + 2]] += numbers_[row + 2];
      four[slots[row + 3]] += numbers_[row + 3];
    }
    for (; row < slots.size(); ++row) one[slots[row]] += numbers_[row];
  }

  const Loops& loops_;
  const Slots& slots_;
  bool is_narrow_;
  size_t copies_;
  std::vector<int64_t> sums_;
  std::array<int32_t, kBlockRows> numbers_;
};

// Depends on the magnitude of the number of rows and on public sizes. Each core has its own sums.
int CoresFor(int64_t rows, const Slots& slots) {
  const int64_t work = MagnitudeOf(rows);
  return work >= kWorthAnotherCore && slots.count <= std::min(kMostSlotsOfACore, work / 8) ? kMostCores : 1;
}

// Cores take stretches as they come.
std::vector<int64_t> SumsOfSlots(int64_t rows, const Loops& loops, const Slots& slots, Executor& executor) {
  const int cores = CoresFor(rows, slots);
  std::vector<std::optional<RowSums>> of_core(static_cast<size_t>(cores));
  std::atomic<int64_t> next_row = 0;
  executor.RunOnFreeCores(cores, [&](int core) {
    RowSums& sums = of_core[static_cast<size_t>(core)].emplace(loops, slots);
    for (int64_t begin = 0; (begin = next_row.fetch_add(kStretchRows)) < rows;)
      sums.AddRows(begin, std::min(rows, begin + kStretchRows));
  });
  for (size_t core = 1; core < of_core.size(); ++core) {
    if (of_core[core]) of_core[0]->Add(*of_core[core]);
  }
  return std::move(*of_core[0]).Take();
}

Loops LoopsFor(const ColumnsView& table, const GroupedRows& rows) {
  const RowNumbers& numbers = rows.numbers;
  Loops loops;
  loops.first = static_cast<uint32_t>(numbers.first);
  loops.step = numbers.kind == RowNumbers::Kind::kLinear ? ~uint32_t{0} : 0;
  for (const uint32_t attribute : rows.attributes) loops.cells.push_back(table.columns[attribute]);
  if (numbers.column) {
    loops.numbers = table.columns[*numbers.column];
    loops.codes = static_cast<uint32_t>(numbers.codes);
  }
  if (numbers.kind == RowNumbers::Kind::kSquare) {
    loops.square = Square{.half = (uint32_t{1} << numbers.shift) / 2,
                          .shift = numbers.shift,
                          .centre = static_cast<uint32_t>(numbers.centre)};
    const int64_t last = numbers.first + numbers.codes;
    loops.is_square_wide = std::max<int64_t>(-int64_t{numbers.first}, last) >= kRootOf32Bits;
  }
  if (rows.blocks) {
    loops.blocks = table.columns[rows.blocks->column];
    loops.block_codes = static_cast<uint32_t>(rows.blocks->codes);
    loops.outside = static_cast<uint32_t>(rows.blocks->blocks());
    loops.quotient = QuotientBy(rows.blocks->width);
  }
  return loops;
}

absl::Status CheckTable(const SealedTable& table, const Domain& domain) {
  if (table.sizes() == SizesOf(domain)) return absl::OkStatus();
  return absl::FailedPreconditionError("the table has another domain");
}

absl::Status CheckGroups(const Domain& domain, const AttributeSet& attributes,
                         std::span<const int32_t> group_of_cell, int64_t groups) {
  RETURN_IF_ERROR(domain.CheckSet(attributes));
  const std::optional<int64_t> cells = domain.CellCount(attributes);
  if (!cells || *cells > kMostSums || *cells != std::ssize(group_of_cell))
    return absl::InvalidArgumentError("there is not one group number for each cell, of at most 2^24");
  if (groups < 1 || groups > kMostSums) return absl::InvalidArgumentError("there are 1 to 2^24 groups");
  const auto fits = [groups](int32_t group) { return group < groups; };
  if (std::ranges::all_of(group_of_cell, fits)) return absl::OkStatus();
  return absl::InvalidArgumentError("a cell has a group that is not there");
}

absl::Status CheckNumbers(std::span<const int64_t> sizes, const RowNumbers& numbers) {
  if (!numbers.column) {
    if (numbers.kind == RowNumbers::Kind::kSame) return absl::OkStatus();
    return absl::InvalidArgumentError("numbers that follow a code need a column");
  }
  if (*numbers.column >= sizes.size())
    return absl::InvalidArgumentError("numbers of a column that is not there");
  const int64_t last = numbers.first + numbers.codes;
  if (numbers.codes < 0 || numbers.codes > sizes[*numbers.column] || numbers.first < -kMostNumber ||
      last > kMostNumber + 1)
    return absl::InvalidArgumentError("numbers of codes that are not there, or beyond 2^20");
  if (numbers.shift < 0 || numbers.shift > 20)
    return absl::InvalidArgumentError("squares are divided by at most 2^20");
  return absl::OkStatus();
}

absl::Status CheckBlocks(std::span<const int64_t> sizes, const GroupedRows& rows) {
  if (!rows.blocks) return absl::OkStatus();
  const RowBlocks& blocks = *rows.blocks;
  if (blocks.column >= sizes.size())
    return absl::InvalidArgumentError("blocks of a column that is not there");
  if (blocks.codes < 1 || blocks.codes > std::min(kMostSums, sizes[blocks.column]) || blocks.width < 1 ||
      blocks.width > kMostSums || rows.sums() > kMostSums)
    return absl::InvalidArgumentError("blocks of no codes, or more than 2^24 sums");
  return absl::OkStatus();
}

std::vector<int64_t> SumsOfGroups(const GroupedRows& rows, std::span<const int64_t> of_cells) {
  std::vector<int64_t> sums(static_cast<size_t>(rows.groups) + 1);  // the last one: in no group
  for (size_t cell = 0; cell < of_cells.size(); ++cell) {
    const int32_t group = rows.group_of_cell[cell];
    sums[group < 0 ? sums.size() - 1 : static_cast<size_t>(group)] += of_cells[cell];
  }
  sums.pop_back();
  return sums;
}

// Without what lies in no group or in no block.
std::vector<int64_t> SumsOfBlocks(const GroupedRows& rows, std::span<const int64_t> of_slots) {
  const auto blocks = static_cast<size_t>(rows.blocks->blocks());
  std::vector<int64_t> sums;
  sums.reserve(static_cast<size_t>(rows.sums()));
  for (size_t group = 0; group < static_cast<size_t>(rows.groups); ++group) {
    const auto own = of_slots.subspan(group * (blocks + 1), blocks);
    sums.insert(sums.end(), own.begin(), own.end());
  }
  return sums;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> SumGroups(const SealedTable& table, const Domain& domain,
                                               const GroupedRows& rows, Executor& executor) {
  RETURN_IF_ERROR(CheckTable(table, domain));
  RETURN_IF_ERROR(CheckGroups(domain, rows.attributes, rows.group_of_cell, rows.groups));
  RETURN_IF_ERROR(CheckNumbers(table.sizes(), rows.numbers));
  RETURN_IF_ERROR(CheckBlocks(table.sizes(), rows));
  if (!rows.blocks && !rows.numbers.column) {
    ASSIGN_OR_RETURN(std::vector<int64_t> counts, CountMarginal(table, domain, rows.attributes, executor));
    for (int64_t& count : counts) count *= rows.numbers.first;
    return SumsOfGroups(rows, counts);
  }
  const Slots slots = SlotsFor(rows);
  const ReadableScope readable(table);
  const Loops loops = LoopsFor(readable.columns(), rows);
  const std::vector<int64_t> sums = SumsOfSlots(table.rows(), loops, slots, executor);
  return rows.blocks ? SumsOfBlocks(rows, sums) : SumsOfGroups(rows, sums);
}

namespace {

constexpr uint32_t kBeginsUnit = uint32_t{1} << 31;

// The groups of all rows, unit by unit; kBeginsUnit marks the first row of each. One more entry at the end
// takes the marks of units without rows.
std::vector<uint32_t> GroupsByUnit(const ColumnsView& columns, const AttributeSet& attributes,
                                   std::span<const uint32_t> unit_of_row,
                                   std::span<const uint32_t> group_of_cell) {
  // As many as units could have been, so that their number decides no step.
  std::vector<uint32_t> next(unit_of_row.size() + 1);
  for (const uint32_t unit : unit_of_row) ++next[unit + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];

  std::vector<ColumnView> views;
  for (const uint32_t attribute : attributes) views.push_back(columns.columns[attribute]);
  std::vector<uint32_t> groups(unit_of_row.size() + 1);
  std::array<uint32_t, kBlockRows> cells;
  for (size_t first_row = 0; first_row < unit_of_row.size(); first_row += kBlockRows) {
    const size_t rows = std::min(static_cast<size_t>(kBlockRows), unit_of_row.size() - first_row);
    CellsOfRows(views, static_cast<int64_t>(first_row), std::span(cells).first(rows));
    for (size_t row = 0; row < rows; ++row)
      groups[next[unit_of_row[first_row + row]]++] = group_of_cell[cells[row]];
  }
  // By now each unit's entry is the end of its rows, where the next unit begins.
  groups[0] |= kBeginsUnit;
  for (size_t unit = 0; unit + 1 < next.size(); ++unit) groups[next[unit]] |= kBeginsUnit;
  return groups;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> CountUnitsOfGroups(const SealedTable& table, const Domain& domain,
                                                        const AttributeSet& attributes,
                                                        std::span<const int32_t> group_of_cell,
                                                        int64_t groups) {
  RETURN_IF_ERROR(CheckTable(table, domain));
  RETURN_IF_ERROR(CheckGroups(domain, attributes, group_of_cell, groups));
  if (!table.units())
    return absl::FailedPreconditionError("the table does not identify the unit of each record");
  std::vector<uint32_t> counted;
  counted.reserve(group_of_cell.size());
  for (const int32_t group : group_of_cell)
    counted.push_back(static_cast<uint32_t>(group < 0 ? groups : group));

  static std::mutex counting;  // bounds the memory of all calls, whose part for rows is in no forecast
  const std::lock_guard lock(counting);
  const ReadableScope readable(table);
  const std::vector<uint32_t> by_unit =
      GroupsByUnit(readable.columns(), attributes, readable.unit_of_row(), counted);
  std::vector<int64_t> counts(static_cast<size_t>(groups) + 1);  // the last one: in no group
  std::vector<uint32_t> latest(counts.size());                   // the last unit that was counted there
  uint32_t unit = 0;
  for (size_t row = 0; row + 1 < by_unit.size(); ++row) {
    unit += by_unit[row] >> 31;
    const uint32_t group = by_unit[row] & ~kBeginsUnit;
    counts[group] += static_cast<int64_t>(latest[group] != unit);
    latest[group] = unit;
  }
  counts.pop_back();
  return counts;
}

}  // namespace curator::dp
