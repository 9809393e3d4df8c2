// What is shown of the answers of one set of statistics: which groups, in which order, with which statistics
// under which names.
//
// It is decided from released answers and public facts alone, after the release is stored. An answer that is
// no number (NaN) is unknown, as NULL is in SQL: a comparison with it is neither true nor false, and it sorts
// last. Equal answers give equal results: groups that are equal in all keys stay in the order of groups.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/comparisons.h"
#include "dp/workload/statistics/asked_statistics.h"

namespace curator::service {

// The name of a grouping attribute, or the position of a statistic in AskedStatistics::statistics.
using OutputSource = std::variant<std::string, int32_t>;

struct OutputColumn {
  std::string name;
  OutputSource source;
  bool operator==(const OutputColumn&) const = default;
};

// The answer of a statistic on the left.
struct AnswerComparison {
  int32_t statistic = 0;
  dp::ComparisonOperator op = dp::ComparisonOperator::kEqual;
  double value = 0;
  bool operator==(const AnswerComparison&) const = default;
};

// A comparison; or operands that are joined, of kNot exactly one.
struct GroupCondition {
  enum class Kind { kCompare, kAllOf, kAnyOf, kNot };
  Kind kind = Kind::kCompare;
  AnswerComparison compare = {};              // of kCompare
  std::vector<GroupCondition> operands = {};  // of the others
  bool operator==(const GroupCondition&) const = default;
};

struct SortKey {
  OutputSource source;
  bool descending = false;
  bool operator==(const SortKey&) const = default;
};

struct Selection {
  std::vector<OutputColumn> columns;  // everything that was asked for when empty
  std::optional<GroupCondition> having;
  std::vector<SortKey> order_by;  // attributes sort by their bins as the schema lists them, missing ones last
  std::optional<int64_t> limit;
  std::optional<int64_t> offset;
  bool operator==(const Selection&) const = default;
};

// Limits of a selection.
inline constexpr size_t kMostOutputColumns = 256;
inline constexpr size_t kMostSortKeys = 64;
inline constexpr size_t kMostGroupConditions = 1024;  // comparisons
inline constexpr int kMostConditionDepth = 64;
inline constexpr int64_t kMostSelectionSteps = int64_t{1} << 28;  // conditions of all groups: about a second

// Whether the selection can be made from the answers of `asked`. To be called before the charge. Errors:
// INVALID_ARGUMENT with a field below "selection" ("selection.order_by[0].source.statistic") for a workload
// that is not one set of statistics ("selection"), names that are empty, repeated or no text, sources that
// are not asked for, NaN on the right of a comparison, a negative limit or offset, and what exceeds the
// limits, of which that of steps is about the number of groups, too, or would show more answers than
// kMostStatisticAnswers.
absl::Status CheckSelection(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                            const Selection& selection);

// The statistics that are shown of each group, in their order: those of the columns; all of `asked`, under
// NameOf(), where no column is a statistic.
struct ShownStatistic {
  size_t position = 0;  // in AskedStatistics::statistics
  std::string name;
  bool operator==(const ShownStatistic&) const = default;
};
std::vector<ShownStatistic> StatisticsShown(const dp::Domain& domain, const dp::AskedStatistics& asked,
                                            const Selection& selection);

// The groups that are shown, in their order. `answers` are the values of all answers: group by group,
// within a group in the order of `asked.statistics`. The selection has been checked. It takes 16 bytes for
// each group. Errors: CANCELLED once `stop` is requested.
absl::StatusOr<std::vector<int64_t>> GroupsShown(const dp::Domain& domain, const dp::AskedStatistics& asked,
                                                 const Selection& selection, std::span<const double> answers,
                                                 const std::stop_token& stop = {});

}  // namespace curator::service
