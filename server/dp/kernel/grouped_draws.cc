#include "dp/kernel/grouped_draws.h"

#include <bit>
#include <optional>

#include "dp/data/grouped_rows.h"
#include "dp/data/sum_sealed_groups.h"
#include "dp/domain/number_column.h"

namespace curator::dp {
namespace {

RowNumbers NumbersOf(const Domain& domain, const SummedValue& value) {
  if (!value.column) return {};
  const NumberColumn column = *NumberColumnAt(domain, *value.column);
  RowNumbers numbers;
  numbers.column = value.column;
  numbers.codes = column.steps + 1;
  if (value.kind == SummedValue::Kind::kOne) return numbers;
  if (value.kind == SummedValue::Kind::kValue) {
    numbers.kind = RowNumbers::Kind::kLinear;
    numbers.first = static_cast<int32_t>(AddedBy(value, column, 0));
    return numbers;
  }
  numbers.kind = RowNumbers::Kind::kSquare;
  numbers.first = static_cast<int32_t>(column.low - value.centre);
  numbers.shift = std::countr_zero(static_cast<uint64_t>(StepOfSquares(column, value.centre)));
  numbers.centre = static_cast<int32_t>(CentreOfSquares(column, value.centre));
  return numbers;
}

GroupedRows RowsOf(const RecordGroups& groups) {
  return {.attributes = groups.attributes,
          .group_of_cell = groups.group_of_cell,
          .groups = groups.groups,
          .blocks = std::nullopt,
          .numbers = {}};
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ExactSums(const SealedTable& table, const Domain& domain,
                                               const GroupedSum& sum, Executor& executor) {
  GroupedRows rows = RowsOf(sum.groups);
  rows.numbers = NumbersOf(domain, sum.value);
  if (sum.blocks) {
    rows.blocks = RowBlocks{.column = sum.blocks->column,
                            .width = sum.blocks->width,
                            .codes = CodesOf(domain, sum.blocks->column)};
  }
  return SumGroups(table, domain, rows, executor);
}

absl::Status CheckUnits(const SealedTable& table, const UnitBound& unit) {
  if (unit.max_records == 1 || table.units().has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError("the table does not identify the unit of each record");
}

absl::StatusOr<std::vector<int64_t>> ExactUnitCounts(const SealedTable& table, const Domain& domain,
                                                     const RecordGroups& groups, Executor& executor) {
  if (!table.units().has_value()) return SumGroups(table, domain, RowsOf(groups), executor);
  return CountUnitsOfGroups(table, domain, groups.attributes, groups.group_of_cell, groups.groups);
}

absl::StatusOr<std::vector<int64_t>> ExactCodeCounts(const SealedTable& table, const Domain& domain,
                                                     const GroupedQuantile& quantile, Executor& executor) {
  GroupedRows rows = RowsOf(quantile.groups);
  rows.blocks = RowBlocks{.column = quantile.column, .width = 1, .codes = CodesOf(domain, quantile.column)};
  return SumGroups(table, domain, rows, executor);
}

}  // namespace curator::dp
