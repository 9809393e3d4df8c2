#include "dp/queries/grouped_sums.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/domain/row_major.h"

namespace curator::dp {
namespace {

// Of GroupedQuantile: codes times groups, each of which is counted and scored.
constexpr int64_t kMostCodesOfGroups = int64_t{1} << 24;

absl::Status TooManyCells(std::optional<int64_t> cells) {
  return absl::InvalidArgumentError(absl::StrCat("the groups are made of ",
                                                 cells ? absl::StrCat(*cells) : "more than 2^62",
                                                 " cells; at most ", kMostGroupCells, " are allowed"));
}

// The number of cells of the groups' attributes.
absl::StatusOr<int64_t> GroupCells(const Domain& domain, const AttributeSet& attributes) {
  RETURN_IF_ERROR(domain.CheckSet(attributes));
  const std::optional<int64_t> cells = domain.CellCount(attributes);
  if (!cells || *cells > kMostGroupCells) return TooManyCells(cells);
  return *cells;
}

// For each cell of the marginal over `where` whether it is one of `cells`.
absl::StatusOr<std::vector<bool>> Wanted(const Domain& domain, const AttributeSet& where,
                                         const std::vector<uint32_t>& cells) {
  const auto total = static_cast<size_t>(domain.CellCount(where).value_or(0));
  if (where.empty()) return std::vector<bool>(total, true);
  if (std::ranges::adjacent_find(cells, std::greater_equal<>()) != cells.end())
    return absl::InvalidArgumentError("the cells of a condition must rise strictly");
  if (!cells.empty() && cells.back() >= total) {
    return absl::InvalidArgumentError(
        absl::StrCat("cell ", cells.back(), " is not one of the ", total, " of the condition's attributes"));
  }
  std::vector<bool> wanted(total, false);
  for (const uint32_t cell : cells) wanted[cell] = true;
  return wanted;
}

int64_t SizeOfColumn(const Domain& domain, uint32_t column) {
  if (column < domain.size()) return domain.attributes()[column].run_size();
  return domain.measures()[column - domain.size()].steps() + 1;
}

bool IsColumn(const Domain& domain, uint32_t column) {
  return column < domain.size() + domain.measures().size();
}

absl::Status CheckColumn(const Domain& domain, uint32_t column) {
  if (IsColumn(domain, column)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the table has no column ", column));
}

// The numbers of the column minus the centre: the smallest and the largest.
SummandRange Deviations(const NumberColumn& column, int64_t centre) {
  return {.low = column.low - centre, .high = column.low + column.steps - centre};
}

int64_t Nearest(int64_t value, int64_t step) {
  return (value + step / 2) / step;
}

// Squares of a column's deviations, in steps of StepOfSquares().
SummandRange SquaresOf(const NumberColumn& column, int64_t centre) {
  const SummandRange deviations = Deviations(column, centre);
  const int64_t least = std::max({int64_t{0}, deviations.low, -deviations.high});
  const int64_t most = std::max(-deviations.low, deviations.high);
  const int64_t step = StepOfSquares(column, centre);
  return {.low = Nearest(least * least, step), .high = Nearest(most * most, step)};
}

}  // namespace

absl::StatusOr<RecordGroups> GroupsBy(const Domain& domain, const AttributeSet& by, const AttributeSet& where,
                                      const std::vector<uint32_t>& cells) {
  RETURN_IF_ERROR(domain.CheckSet(by));
  RETURN_IF_ERROR(domain.CheckSet(where));
  RecordGroups groups{.attributes = Union(by, where), .group_of_cell = {}, .groups = 1};
  ASSIGN_OR_RETURN(const int64_t total, GroupCells(domain, groups.attributes));
  ASSIGN_OR_RETURN(const std::vector<bool> wanted, Wanted(domain, where, cells));
  groups.groups = domain.CellCount(by).value_or(1);

  const std::vector<int64_t> sizes = domain.SizesOf(groups.attributes);
  const std::vector<int64_t> strides_by = StridesWithin(groups.attributes, sizes, by);
  const std::vector<int64_t> strides_where = StridesWithin(groups.attributes, sizes, where);
  groups.group_of_cell.reserve(static_cast<size_t>(total));
  std::vector<uint32_t> codes(sizes.size());
  for (int64_t cell = 0; cell < total; ++cell) {
    CodesOfCell(sizes, cell, codes);
    int64_t group = 0;
    int64_t condition = 0;
    for (size_t i = 0; i < codes.size(); ++i) {
      group += strides_by[i] * codes[i];
      condition += strides_where[i] * codes[i];
    }
    groups.group_of_cell.push_back(wanted[static_cast<size_t>(condition)] ? static_cast<int32_t>(group)
                                                                          : kInNoGroup);
  }
  return groups;
}

int64_t StepOfSquares(const NumberColumn& column, int64_t centre) {
  const SummandRange deviations = Deviations(column, centre);
  const auto most = static_cast<uint64_t>(std::max(-deviations.low, deviations.high));
  const uint64_t least = (most * most + kLargestSummand - 1) / kLargestSummand;
  return static_cast<int64_t>(std::bit_ceil(least));
}

int64_t CentreOfSquares(const NumberColumn& column, int64_t centre) {
  const SummandRange squares = SquaresOf(column, centre);
  return squares.low + (squares.high - squares.low) / 2;
}

int64_t AddedBy(const SummedValue& value, const NumberColumn& column, int64_t code) {
  const int64_t deviation = column.low + code - value.centre;
  switch (value.kind) {
    case SummedValue::Kind::kOne:
      return 1;
    case SummedValue::Kind::kValue:
      return deviation;
    case SummedValue::Kind::kSquare:
      break;
  }
  return Nearest(deviation * deviation, StepOfSquares(column, value.centre)) -
         CentreOfSquares(column, value.centre);
}

absl::StatusOr<SummandRange> RangeOf(const Domain& domain, const SummedValue& value) {
  if (value.column) RETURN_IF_ERROR(CheckColumn(domain, *value.column));
  const std::optional<NumberColumn> column =
      value.column ? NumberColumnAt(domain, *value.column) : std::nullopt;
  if (value.column && !column)
    return absl::InvalidArgumentError(absl::StrCat("column ", *value.column, " has no numbers to add"));
  if (value.kind == SummedValue::Kind::kOne) return SummandRange{.low = 1, .high = 1};
  if (!column) return absl::InvalidArgumentError("a sum of values needs a column");
  // Compared before anything is subtracted: neither number may overflow.
  constexpr int64_t kFar = int64_t{1} << 61;
  const bool is_near =
      std::max(column->low, value.centre) < kFar && std::min(column->low, value.centre) > -kFar;
  const SummandRange deviations = is_near ? Deviations(*column, value.centre) : SummandRange{-kFar, kFar};
  if (std::max(-deviations.low, deviations.high) > kLargestSummand) {
    return absl::InvalidArgumentError(absl::StrCat("a record of \"", column->name, "\" could add more than ",
                                                   kLargestSummand, " steps of ", column->resolution,
                                                   ": sum its values minus a number between its bounds"));
  }
  if (value.kind == SummedValue::Kind::kValue) return deviations;
  const SummandRange squares = SquaresOf(*column, value.centre);
  const int64_t centre = CentreOfSquares(*column, value.centre);
  return SummandRange{.low = squares.low - centre, .high = squares.high - centre};
}

int64_t CodesOf(const Domain& domain, uint32_t column) {
  return SizeOfColumn(domain, column);
}

int64_t NumberOfBlocks(const Domain& domain, const CodeBlocks& blocks) {
  return (CodesOf(domain, blocks.column) + blocks.width - 1) / blocks.width;
}

int64_t NumberOfSums(const Domain& domain, const GroupedSum& sum) {
  return sum.groups.groups * (sum.blocks ? NumberOfBlocks(domain, *sum.blocks) : 1);
}

absl::Status Validate(const Domain& domain, const RecordGroups& groups) {
  ASSIGN_OR_RETURN(const int64_t cells, GroupCells(domain, groups.attributes));
  if (static_cast<int64_t>(groups.group_of_cell.size()) != cells) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", groups.group_of_cell.size(), " group numbers for ", cells, " cells"));
  }
  if (groups.groups < 1 || groups.groups > kMostGroupCells) {
    return absl::InvalidArgumentError(
        absl::StrCat("there must be 1 to ", kMostGroupCells, " groups: ", groups.groups));
  }
  const auto is_group = [&groups](int32_t group) { return group >= kInNoGroup && group < groups.groups; };
  if (std::ranges::all_of(groups.group_of_cell, is_group)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a cell is in none of the ", groups.groups, " groups"));
}

absl::Status Validate(const Domain& domain, const GroupedSum& sum) {
  RETURN_IF_ERROR(Validate(domain, sum.groups));
  RETURN_IF_ERROR(RangeOf(domain, sum.value).status());
  if (sum.value.kind == SummedValue::Kind::kOne && sum.value.centre != 0)
    return absl::InvalidArgumentError("a sum of ones has no centre");
  if (sum.value.column && sum.value.centre != 0) {
    const std::optional<NumberColumn> column = NumberColumnAt(domain, *sum.value.column);
    if (sum.value.centre < column->low || sum.value.centre > column->low + column->steps)
      return absl::InvalidArgumentError(
          absl::StrCat("the centre ", sum.value.centre, " is neither 0 nor a number of the column"));
  }
  if (!sum.blocks) return absl::OkStatus();
  RETURN_IF_ERROR(CheckColumn(domain, sum.blocks->column));
  if (sum.blocks->width < 1 || sum.blocks->width > kMaxAttributeSize)
    return absl::InvalidArgumentError(
        absl::StrCat("the width of a block must be from 1 to ", kMaxAttributeSize, ": ", sum.blocks->width));
  if (NumberOfSums(domain, sum) <= kMostGroupCells) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("there are ", NumberOfSums(domain, sum), " sums; at most ",
                                                 kMostGroupCells, " are allowed"));
}

absl::Status Validate(const Domain& domain, const GroupedQuantile& quantile) {
  RETURN_IF_ERROR(Validate(domain, quantile.groups));
  RETURN_IF_ERROR(CheckColumn(domain, quantile.column));
  if (quantile.numerator < 1 || quantile.numerator >= quantile.denominator)
    return absl::InvalidArgumentError("a quantile must lie strictly between 0 and 1");
  const int64_t codes = CodesOf(domain, quantile.column);
  if (codes <= kMostCodesOfGroups / quantile.groups.groups) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a quantile of ", codes, " codes in each of ",
                                                 quantile.groups.groups, " groups compares more than ",
                                                 kMostCodesOfGroups, " of them, which is the limit"));
}

}  // namespace curator::dp
