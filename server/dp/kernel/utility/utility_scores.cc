#include "dp/kernel/utility/utility_scores.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/accounting/overloaded.h"
#include "dp/data/cell_index.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/kernel/utility/normal_groups.h"

namespace curator::dp {
namespace {

// The cells of a table's records, unit by unit.
struct CellsByUnit {
  std::vector<uint32_t> cells;
  std::vector<size_t> starts;  // unit u's records are starts[u] .. starts[u + 1] - 1

  size_t units() const { return starts.size() - 1; }
  std::span<const uint32_t> of(size_t unit) const {
    return std::span(cells).subspan(starts[unit], starts[unit + 1] - starts[unit]);
  }
};

// `table` must know its units.
CellsByUnit GroupByUnit(const SealedTable& table, const AttributeSet& set) {
  const ReadableScope readable(table);
  std::vector<ColumnView> columns;
  for (const uint32_t attribute : set) columns.push_back(readable.columns().columns[attribute]);
  std::vector<uint32_t> cells(static_cast<size_t>(table.rows()));
  CellsOfRows(columns, 0, std::span(cells));

  CellsByUnit grouped;
  grouped.starts.resize(static_cast<size_t>(*table.units()) + 1);
  for (const uint32_t unit : readable.unit_of_row()) ++grouped.starts[unit + 1];
  for (size_t i = 1; i < grouped.starts.size(); ++i) grouped.starts[i] += grouped.starts[i - 1];
  std::vector<size_t> next(grouped.starts.begin(), grouped.starts.end() - 1);
  grouped.cells.resize(cells.size());
  for (size_t row = 0; row < cells.size(); ++row)
    grouped.cells[next[readable.unit_of_row()[row]]++] = cells[row];
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

// Sums up groups and adds their contributions.
class NormalGroupScores {
 public:
  explicit NormalGroupScores(const LatticeNormalGroups& utility)
      : utility_(utility),
        likelihood_(utility.parameters),
        low_(static_cast<double>(utility.low)),
        log_likelihoods_(utility.parameters.size()),
        scores_(utility.parameters.size()) {}

  // `times` groups of these members.
  void Add(std::span<const uint32_t> codes, int64_t times) {
    Int128 sum = 0;
    Int128 squares = 0;
    for (const uint32_t code : codes) {
      const Int128 value = utility_.values[code];
      sum += value;
      squares += value * value;
    }
    const auto n = static_cast<int64_t>(codes.size());
    if (n == 0) return;
    // Exact: values are at most 2^30 and members fewer than 2^31, so n squares and sum^2 are below 2^123.
    const auto scatter = static_cast<double>(n * squares - sum * sum) / static_cast<double>(n);
    likelihood_.Evaluate({.members = n,
                          .mean = static_cast<double>(sum) / static_cast<double>(n) * utility_.step,
                          .squares = scatter * utility_.step * utility_.step},
                         log_likelihoods_);
    const double best = *std::ranges::max_element(log_likelihoods_);
    for (size_t j = 0; j < scores_.size(); ++j) {
      const double steps =
          (log_likelihoods_[j] - best) * static_cast<double>(int64_t{1} << kUtilityLatticeBits);
      scores_[j] +=
          times * static_cast<int64_t>(std::max(steps, low_) - 0.5);  // at most 0: rounds to nearest
    }
  }

  std::vector<int64_t> Take() && { return std::move(scores_); }

 private:
  const LatticeNormalGroups& utility_;
  NormalGroupLikelihood likelihood_;
  double low_;
  std::vector<double> log_likelihoods_;
  std::vector<int64_t> scores_;
};

std::vector<int64_t> NormalScores(const LatticeNormalGroups& utility, const CellsByUnit& records) {
  NormalGroupScores scores(utility);
  for (size_t unit = 0; unit < records.units(); ++unit) scores.Add(records.of(unit), 1);
  return std::move(scores).Take();
}

// Where each record is a group of its own.
std::vector<int64_t> NormalScores(const LatticeNormalGroups& utility, std::span<const int64_t> counts) {
  NormalGroupScores scores(utility);
  for (uint32_t code = 0; code < counts.size(); ++code) scores.Add(std::span(&code, 1), counts[code]);
  return std::move(scores).Take();
}

std::vector<int64_t> QuantileScores(const LatticeQuantile& utility, std::span<const int64_t> counts) {
  int64_t records = 0;
  for (const int64_t count : counts) records += count;
  std::vector<int64_t> scores;
  scores.reserve(counts.size());
  int64_t below = 0;
  for (const int64_t count : counts) {
    const int64_t aim = utility.numerator * records;
    const int64_t beyond =
        std::max(utility.denominator * below - aim, aim - utility.denominator * (below + count));
    scores.push_back(-(std::max<int64_t>(0, beyond) << kUtilityLatticeBits));
    below += count;
  }
  return scores;
}

}  // namespace

absl::Status CheckGrouping(const LatticeUtility& utility, const SealedTable& table, const UnitBound& unit) {
  const bool by_unit = !std::holds_alternative<LatticeQuantile>(utility.kind);
  if (!by_unit || unit.max_records == 1 || table.units().has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError("the table does not say which records belong to the same unit");
}

absl::StatusOr<std::vector<int64_t>> ScoresOf(const LatticeUtility& utility, const SealedTable& table,
                                              const Domain& domain) {
  if (table.sizes() != SizesOf(domain)) return absl::FailedPreconditionError("the table has another domain");
  std::vector<int64_t> counts;
  CellsByUnit records;
  const bool grouped = table.units().has_value() && !std::holds_alternative<LatticeQuantile>(utility.kind);
  if (grouped) {
    records = GroupByUnit(table, utility.attributes);
  } else {
    ASSIGN_OR_RETURN(counts, CountMarginal(table, domain, utility.attributes));
  }
  const size_t candidates = utility.candidates;
  std::vector<int64_t> scores = std::visit(
      Overloaded{[&](const LatticeSum& sum) {
                   return grouped ? SumsOverUnits(sum, records, candidates)
                                  : SumsOverRecords(sum, counts, candidates);
                 },
                 [&](const LatticeFrequency& frequency) {
                   if (grouped) return FrequenciesOverUnits(frequency, records, candidates);
                   std::vector<int64_t> whole = counts;
                   for (int64_t& count : whole) count <<= kUtilityLatticeBits;
                   return whole;
                 },
                 [&](const LatticeNormalGroups& groups) {
                   return grouped ? NormalScores(groups, records) : NormalScores(groups, counts);
                 },
                 [&](const LatticeQuantile& quantile) { return QuantileScores(quantile, counts); }},
      utility.kind);
  for (size_t j = 0; j < candidates; ++j) scores[j] += utility.bonuses[j];
  return scores;
}

}  // namespace curator::dp
