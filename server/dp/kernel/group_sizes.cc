#include "dp/kernel/group_sizes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "dp/data/cell_index.h"

namespace curator::dp {
namespace {

constexpr size_t kRowsAtOnce = 1024;

// The smaller one, without a branch: which it is depends on records.
template <typename Number>
Number Smaller(Number one, Number other) {
  const auto takes_other = static_cast<Number>(0) - static_cast<Number>(other < one);
  return one ^ ((one ^ other) & takes_other);
}

// Calls take(row, cell) for each row of the readable table, with its cell among those of `set`.
template <typename Take>
void ForEachCell(const ReadableScope& readable, const AttributeSet& set, const Take& take) {
  const size_t rows = readable.group_of_row().size();
  std::vector<ColumnView> columns;
  for (const uint32_t attribute : set) columns.push_back(readable.columns().columns[attribute]);
  std::array<uint32_t, kRowsAtOnce> cells{};
  for (size_t first = 0; first < rows; first += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, rows - first);
    if (!set.empty()) CellsOfRows(columns, static_cast<int64_t>(first), std::span(cells).first(count));
    for (size_t row = 0; row < count; ++row) take(first + row, cells[row]);
  }
}

// What is kept for each group: as many entries as there could be groups, so that their number decides no
// step. Those of no group have the largest cell, and a mean of 0.
constexpr uint32_t kNoCell = std::numeric_limits<uint32_t>::max();

std::vector<uint32_t> LeastCells(const ReadableScope& readable, const AttributeSet& set) {
  std::vector<uint32_t> least(readable.group_of_row().size(), kNoCell);
  ForEachCell(readable, set, [&](size_t row, uint32_t cell) {
    uint32_t& of_group = least[readable.group_of_row()[row]];
    of_group = Smaller(of_group, cell);
  });
  return least;
}

// The bin of each group's mean. Every edge is compared, whatever the mean.
std::vector<uint32_t> BinsOfMeans(const ReadableScope& readable, const MeanBins& mean) {
  std::vector<int64_t> sums(readable.group_of_row().size());
  std::vector<uint32_t> records(sums.size());
  ForEachCell(readable, {mean.attribute}, [&](size_t row, uint32_t code) {
    sums[readable.group_of_row()[row]] += code;
    ++records[readable.group_of_row()[row]];
  });
  std::vector<uint32_t> bins(sums.size());
  for (size_t group = 0; group < sums.size(); ++group) {
    // The whole codes, and what is left of them: fewer than 2^31 records have codes of at most 2^24.
    const int64_t size = int64_t{records[group]} + static_cast<int64_t>(records[group] == 0);
    const int64_t of_group = sums[group] / size * kStepsOfACode + sums[group] % size * kStepsOfACode / size;
    for (const int64_t least : mean.least) bins[group] += static_cast<uint32_t>(of_group >= least);
    --bins[group];  // the first bin is that of a single edge
  }
  return bins;
}

std::vector<int64_t> CountGroups(const ReadableScope& readable, const Domain& domain,
                                 const GroupMarginal& marginal) {
  const auto cells = static_cast<size_t>(CellsOf(domain, marginal));
  const size_t bins = marginal.mean ? marginal.mean->least.size() : 1;
  const std::vector<uint32_t> least = LeastCells(readable, marginal.attributes);
  const std::vector<uint32_t> bin_of =
      marginal.mean ? BinsOfMeans(readable, *marginal.mean) : std::vector<uint32_t>(least.size());
  std::vector<int64_t> counts(cells + 1);  // the last one: of no group
  for (size_t group = 0; group < least.size(); ++group)
    ++counts[Smaller(cells, least[group] * bins + bin_of[group])];
  counts.pop_back();
  return counts;
}

}  // namespace

absl::Status CheckRole(GroupRole role, const SealedTable& table) {
  const bool fits = role == GroupRole::kUnit ? table.units().has_value()
                                             : table.groups().has_value() && !table.units().has_value();
  if (fits) return absl::OkStatus();
  return absl::FailedPreconditionError(role == GroupRole::kUnit
                                           ? "the table does not identify the unit of each record"
                                           : "the table does not have records that are units of their own "
                                             "and lie in groups");
}

std::vector<int64_t> GroupSizes(const SealedTable& table, std::span<const int64_t> least_sizes) {
  const ReadableScope readable(table);
  std::vector<int64_t> sizes(static_cast<size_t>(table.groups().value_or(0)));
  for (const uint32_t group : readable.group_of_row()) ++sizes[group];
  std::vector<int64_t> counts(least_sizes.size());
  for (const int64_t size : sizes) {
    if (size == 0) continue;
    const auto above = std::ranges::upper_bound(least_sizes, size);
    ++counts[static_cast<size_t>(above - least_sizes.begin()) - 1];
  }
  return counts;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> GroupMarginals(const SealedTable& table,
                                                                 const Domain& domain,
                                                                 std::span<const GroupMarginal> marginals) {
  if (table.sizes() != SizesOf(domain)) return absl::FailedPreconditionError("the table has another domain");
  static std::mutex counting;  // bounds the memory of all calls, whose part for rows is in no forecast
  const std::lock_guard lock(counting);
  const ReadableScope readable(table);
  std::vector<std::vector<int64_t>> counts;
  for (const GroupMarginal& marginal : marginals) counts.push_back(CountGroups(readable, domain, marginal));
  return counts;
}

}  // namespace curator::dp
