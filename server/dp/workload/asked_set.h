// A set of queries as the caller asked them, with the labels that distinguish its answers.
//
// Thread-safe: plain values and pure functions of public facts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/workload/measurement.h"
#include "dp/workload/statistics/asked_statistics.h"

namespace curator::dp {

enum class QueryClass {
  kMarginals,
  kRanges,
  kPrefixes,
  kThresholds,
  kParities,
  kPredicates,
  kStatistics,
};

// "marginals", "ranges", ...
std::string_view QueryClassName(QueryClass query_class);

// Each group answers one question or more; each question is answered in one number, or in one for each cell
// of `by`, the last attribute varying fastest.
struct AskedSet {
  QueryClass query_class = QueryClass::kMarginals;
  QuerySet queries;
  std::vector<std::string> words;  // a description of each question; empty where the groups describe them
  AttributeSet by;
  std::optional<AskedStatistics> statistics = {};  // of kStatistics, which has no groups of queries
  bool operator==(const AskedSet&) const = default;
};

// Whether the sets are of statistics. A workload has sets of statistics alone, or none.
bool AreStatistics(std::span<const AskedSet> sets);

// The sets of statistics of a workload, in order.
std::vector<AskedStatistics> StatisticsOf(std::span<const AskedSet> sets);

// The columns that distinguish a set's answers: attributes, "where", "at least", "parity" or "statistic".
std::vector<std::string> ColumnsOf(const Domain& domain, const AskedSet& asked);

// The labels of a cell of the marginal over `by`, the last attribute varying fastest.
std::vector<std::string> LabelsOfCell(const Domain& domain, const AttributeSet& by, int64_t cell);

// Iterates over the answers of a set that is not of statistics: the texts of their columns.
class Labels {
 public:
  // Both must outlive it.
  Labels(const Domain& domain, const AskedSet& asked);

  // The texts of the next answer, which must exist.
  std::vector<std::string> Next();

 private:
  const Domain& domain_;
  const AskedSet& asked_;
  int64_t by_cells_;
  size_t group_ = 0;
  int64_t query_ = 0;     // within the group
  int64_t question_ = 0;  // of the set
  int64_t by_cell_ = 0;
};

// A short description: "4 marginals, 120 cells", "1275 ranges".
std::string Describe(const Domain& domain, const AskedSet& asked);

}  // namespace curator::dp
