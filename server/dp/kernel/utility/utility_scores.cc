#include "dp/kernel/utility/utility_scores.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/data/cell_index.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/kernel/utility/group_scores.h"

namespace curator::dp {
namespace {

// The cells of a table's records, unit by unit or group by group.
struct CellsByUnit {
  std::vector<uint32_t> cells;
  std::vector<size_t> starts;  // unit u's records are starts[u] .. starts[u + 1] - 1

  size_t units() const { return starts.size() - 1; }
  std::span<const uint32_t> of(size_t unit) const {
    return std::span(cells).subspan(starts[unit], starts[unit + 1] - starts[unit]);
  }
};

// `table` must know its groups; where units own several rows, they are the groups.
CellsByUnit BringTogether(const SealedTable& table, const AttributeSet& set) {
  const ReadableScope readable(table);
  std::vector<ColumnView> columns;
  for (const uint32_t attribute : set) columns.push_back(readable.columns().columns[attribute]);
  std::vector<uint32_t> cells(static_cast<size_t>(table.rows()));
  CellsOfRows(columns, 0, std::span(cells));

  CellsByUnit grouped;
  grouped.starts.resize(static_cast<size_t>(*table.groups()) + 1);
  for (const uint32_t unit : readable.group_of_row()) ++grouped.starts[unit + 1];
  for (size_t i = 1; i < grouped.starts.size(); ++i) grouped.starts[i] += grouped.starts[i - 1];
  std::vector<size_t> next(grouped.starts.begin(), grouped.starts.end() - 1);
  grouped.cells.resize(cells.size());
  for (size_t row = 0; row < cells.size(); ++row)
    grouped.cells[next[readable.group_of_row()[row]]++] = cells[row];
  return grouped;
}

// Adds `times` times the contribution of a unit whose values sum to `sums`.
void AddContribution(const LatticeSum& utility, std::span<const int64_t> sums, int64_t times,
                     std::vector<int64_t>& scores) {
  const int64_t reference =
      utility.reference == Reference::kBestCandidate ? *std::max_element(sums.begin(), sums.end()) : 0;
  for (size_t j = 0; j < scores.size(); ++j)
    scores[j] += times * std::clamp(sums[j] - reference, utility.low, utility.high);
}

std::vector<int64_t> SumsOverRecords(const LatticeSum& utility, std::span<const int64_t> counts,
                                     size_t candidates) {
  std::vector<int64_t> scores(candidates);
  for (size_t x = 0; x < counts.size(); ++x)
    AddContribution(utility, std::span(utility.values).subspan(x * candidates, candidates), counts[x],
                    scores);
  return scores;
}

std::vector<int64_t> SumsOverUnits(const LatticeSum& utility, const CellsByUnit& records, size_t candidates) {
  std::vector<int64_t> scores(candidates);
  std::vector<int64_t> sums(candidates);
  for (size_t unit = 0; unit < records.units(); ++unit) {
    std::fill(sums.begin(), sums.end(), 0);
    for (const uint32_t x : records.of(unit)) {
      const std::span<const int64_t> values =
          std::span(utility.values).subspan(size_t{x} * candidates, candidates);
      for (size_t j = 0; j < candidates; ++j) sums[j] += values[j];
    }
    AddContribution(utility, sums, 1, scores);
  }
  return scores;
}

std::vector<int64_t> FrequenciesOverUnits(const LatticeFrequency& utility, const CellsByUnit& records,
                                          size_t candidates) {
  std::vector<int64_t> scores(candidates);
  std::vector<int64_t> counts(candidates);
  for (size_t unit = 0; unit < records.units(); ++unit) {
    for (const uint32_t x : records.of(unit)) ++counts[x];
    for (const uint32_t x : records.of(unit)) {
      scores[x] += std::min(counts[x], utility.most_per_unit) << kUtilityLatticeBits;
      counts[x] = 0;  // added once
    }
  }
  return scores;
}

bool IsAroundRecords(const LatticeUtility& utility) {
  const auto* groups = std::get_if<LatticeGroups>(&utility.kind);
  return groups != nullptr && groups->role == GroupRole::kAroundRecord;
}

std::vector<GroupSums> SumsOfGroups(const LatticeGroups& question, const CellsByUnit& records) {
  std::vector<GroupSums> groups;
  groups.reserve(records.units());
  for (size_t unit = 0; unit < records.units(); ++unit)
    groups.push_back(SumsOf(question.grid, question.weights, records.of(unit)));
  return groups;
}

std::vector<int64_t> ScoresByUnit(const LatticeUtility& utility, const CellsByUnit& records,
                                  Executor& executor) {
  const size_t candidates = utility.candidates;
  if (const auto* sum = std::get_if<LatticeSum>(&utility.kind))
    return SumsOverUnits(*sum, records, candidates);
  if (const auto* frequency = std::get_if<LatticeFrequency>(&utility.kind))
    return FrequenciesOverUnits(*frequency, records, candidates);
  const auto& groups = std::get<LatticeGroups>(utility.kind);
  return ScoresOfGroups(groups, SumsOfGroups(groups, records), executor);
}

// Where each record is a unit by itself.
std::vector<int64_t> ScoresByRecord(const LatticeUtility& utility, std::span<const int64_t> counts,
                                    Executor& executor) {
  if (const auto* sum = std::get_if<LatticeSum>(&utility.kind))
    return SumsOverRecords(*sum, counts, utility.candidates);
  if (const auto* quantile = std::get_if<LatticeQuantile>(&utility.kind))
    return QuantileScores(*quantile, counts);
  if (std::holds_alternative<LatticeFrequency>(utility.kind)) {
    std::vector<int64_t> whole(counts.begin(), counts.end());
    for (int64_t& count : whole) count <<= kUtilityLatticeBits;
    return whole;
  }
  const auto& question = std::get<LatticeGroups>(utility.kind);
  std::vector<GroupSums> groups;
  for (uint32_t code = 0; code < counts.size(); ++code) {
    groups.push_back(SumsOf(question.grid, question.weights, std::span(&code, 1)));
    groups.back().times = counts[code];
  }
  return ScoresOfGroups(question, groups, executor);
}

}  // namespace

std::vector<int64_t> QuantileScores(const LatticeQuantile& quantile, std::span<const int64_t> counts) {
  int64_t records = 0;
  for (const int64_t count : counts) records += count;
  std::vector<int64_t> scores;
  scores.reserve(counts.size());
  int64_t below = 0;
  for (const int64_t count : counts) {
    const int64_t aim = quantile.numerator * records;
    const int64_t beyond =
        std::max(quantile.denominator * below - aim, aim - quantile.denominator * (below + count));
    scores.push_back(-(std::max<int64_t>(0, beyond) << kUtilityLatticeBits));
    below += count;
  }
  return scores;
}

absl::Status CheckGrouping(const LatticeUtility& utility, const SealedTable& table, const UnitBound& unit) {
  if (IsAroundRecords(utility)) {
    if (table.groups().has_value() && !table.units().has_value()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "the table does not have records that are units of their own and lie in groups");
  }
  const bool by_unit = !std::holds_alternative<LatticeQuantile>(utility.kind);
  if (!by_unit || unit.max_records == 1 || table.units().has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError("the table does not identify the unit of each record");
}

absl::StatusOr<std::vector<int64_t>> ScoresOf(const LatticeUtility& utility, const SealedTable& table,
                                              const Domain& domain, Executor& executor) {
  if (table.sizes() != SizesOf(domain)) return absl::FailedPreconditionError("the table has another domain");
  const bool by_unit = table.units().has_value() && !std::holds_alternative<LatticeQuantile>(utility.kind);
  std::vector<int64_t> scores;
  if (by_unit || IsAroundRecords(utility)) {
    scores = ScoresByUnit(utility, BringTogether(table, utility.attributes), executor);
  } else {
    ASSIGN_OR_RETURN(const std::vector<int64_t> counts, CountMarginal(table, domain, utility.attributes));
    scores = ScoresByRecord(utility, counts, executor);
  }
  for (size_t j = 0; j < scores.size(); ++j) scores[j] += utility.bonuses[j];
  return scores;
}

}  // namespace curator::dp
