#include "service/workloads/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/text.h"
#include "dp/domain/attribute_set.h"

namespace curator::service {
namespace {

constexpr size_t kMostColumnNameBytes = 1024;

absl::Status CheckName(const std::string& path, const std::string& name, std::set<std::string>& names) {
  RETURN_IF_ERROR(CheckLine(path, name));
  if (name.empty() || name.size() > kMostColumnNameBytes)
    return InvalidField(path, absl::StrCat("must have 1 to ", kMostColumnNameBytes, " bytes"));
  if (!names.insert(name).second)
    return InvalidField(path, absl::StrCat("repeats the name \"", name, "\" of a column before it"));
  return absl::OkStatus();
}

absl::Status CheckStatistic(const std::string& path, const dp::AskedStatistics& asked, int32_t statistic) {
  const auto number = static_cast<int32_t>(asked.statistics.size());
  if (statistic >= 0 && statistic < number) return absl::OkStatus();
  return InvalidField(
      path, absl::StrCat("must be a position among the ", number, " statistics: 0 to ", number - 1));
}

absl::Status CheckSource(const std::string& path, const dp::Domain& domain, const dp::AskedStatistics& asked,
                         const OutputSource& source) {
  if (const auto* statistic = std::get_if<int32_t>(&source))
    return CheckStatistic(path + ".source.statistic", asked, *statistic);
  const std::string& name = std::get<std::string>(source);
  for (const uint32_t attribute : asked.by) {
    if (domain.attributes()[attribute].name() == name) return absl::OkStatus();
  }
  return InvalidField(
      path + ".source.attribute",
      absl::StrCat("must be an attribute that the groups are made of; \"", name, "\" is none"));
}

// `sizes` are those of the whole condition.
struct ConditionSizes {
  size_t comparisons = 0;
  size_t all = 0;  // also what joins or denies others: each takes a step, however little is below it
};

absl::Status CheckCondition(const std::string& path, const dp::AskedStatistics& asked,
                            const GroupCondition& condition, int depth, ConditionSizes& sizes) {
  ++sizes.all;
  if (depth > kMostConditionDepth)
    return InvalidField("selection.having", absl::StrCat("is nested deeper than ", kMostConditionDepth));
  if (condition.kind == GroupCondition::Kind::kCompare) {
    if (++sizes.comparisons > kMostGroupConditions) {
      return InvalidField("selection.having",
                          absl::StrCat("has more than ", kMostGroupConditions, " comparisons"));
    }
    if (std::isnan(condition.compare.value)) return InvalidField(path + ".compare.value", "must be a number");
    return CheckStatistic(path + ".compare.statistic", asked, condition.compare.statistic);
  }
  if (condition.operands.empty()) return InvalidField(path, "needs at least one condition");
  if (condition.kind == GroupCondition::Kind::kNot && condition.operands.size() != 1)
    return InvalidField(path, "denies exactly one condition");
  for (size_t i = 0; i < condition.operands.size(); ++i) {
    std::string below = path + ".not";
    if (condition.kind == GroupCondition::Kind::kAllOf)
      below = absl::StrCat(path, ".all_of.conditions[", i, "]");
    if (condition.kind == GroupCondition::Kind::kAnyOf)
      below = absl::StrCat(path, ".any_of.conditions[", i, "]");
    RETURN_IF_ERROR(CheckCondition(below, asked, condition.operands[i], depth + 1, sizes));
  }
  return absl::OkStatus();
}

absl::Status CheckNumbers(const Selection& selection) {
  if (selection.columns.size() > kMostOutputColumns)
    return InvalidField("selection.columns", absl::StrCat("must be at most ", kMostOutputColumns));
  if (selection.order_by.size() > kMostSortKeys)
    return InvalidField("selection.order_by", absl::StrCat("must be at most ", kMostSortKeys));
  if (selection.limit.value_or(0) < 0) return InvalidField("selection.limit", "must not be negative");
  if (selection.offset.value_or(0) < 0) return InvalidField("selection.offset", "must not be negative");
  return absl::OkStatus();
}

// A statistic may be shown under several names: then its answers are sent as often.
absl::Status CheckShown(const dp::Domain& domain, const dp::AskedStatistics& asked,
                        const Selection& selection) {
  const int64_t groups = dp::NumberOfGroups(domain, asked);
  const int64_t shown = std::ssize(StatisticsShown(domain, asked, selection));
  if (groups <= dp::kMostStatisticAnswers / shown) return absl::OkStatus();
  return InvalidField("selection.columns",
                      absl::StrCat("show ", shown, " statistics of each of ", groups, " groups; at most ",
                                   dp::kMostStatisticAnswers, " answers are shown: name each once"));
}

// Conditions are evaluated once for each group, sort keys compared as often as sorting takes.
absl::Status CheckSteps(int64_t groups, size_t conditions, size_t keys) {
  const auto sorting = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(groups)));
  const int64_t each = static_cast<int64_t>(conditions) + static_cast<int64_t>(keys) * sorting;
  if (each == 0 || groups <= kMostSelectionSteps / each) return absl::OkStatus();
  return InvalidField("selection", absl::StrCat("has too many conditions and sort keys for ", groups,
                                                " groups: name fewer, or select among the answers yourself"));
}

// True, false or, where an answer is no number, unknown.
enum class Truth { kNo, kUndecided, kYes };

Truth TruthOfComparison(double answer, dp::ComparisonOperator op, double value) {
  if (std::isnan(answer)) return Truth::kUndecided;
  const auto truth = [](bool holds) { return holds ? Truth::kYes : Truth::kNo; };
  switch (op) {
    case dp::ComparisonOperator::kEqual:
      return truth(answer == value);
    case dp::ComparisonOperator::kNotEqual:
      return truth(answer != value);
    case dp::ComparisonOperator::kLess:
      return truth(answer < value);
    case dp::ComparisonOperator::kLessOrEqual:
      return truth(answer <= value);
    case dp::ComparisonOperator::kGreater:
      return truth(answer > value);
    case dp::ComparisonOperator::kGreaterOrEqual:
      return truth(answer >= value);
  }
  return Truth::kUndecided;
}

Truth Not(Truth truth) {
  if (truth == Truth::kUndecided) return truth;
  return truth == Truth::kYes ? Truth::kNo : Truth::kYes;
}

// `answers` are those of one group.
Truth TruthOf(const GroupCondition& condition, std::span<const double> answers) {
  if (condition.kind == GroupCondition::Kind::kCompare) {
    const AnswerComparison& compare = condition.compare;
    return TruthOfComparison(answers[static_cast<size_t>(compare.statistic)], compare.op, compare.value);
  }
  if (condition.kind == GroupCondition::Kind::kNot) return Not(TruthOf(condition.operands.front(), answers));
  const bool all = condition.kind == GroupCondition::Kind::kAllOf;
  Truth result = all ? Truth::kYes : Truth::kNo;
  for (const GroupCondition& operand : condition.operands) {
    const Truth truth = TruthOf(operand, answers);
    result = all ? std::min(result, truth) : std::max(result, truth);
  }
  return result;
}

// Compares groups by the keys of an order.
class GroupOrder {
 public:
  GroupOrder(const dp::Domain& domain, const dp::AskedStatistics& asked, const Selection& selection,
             std::span<const double> answers)
      : answers_(answers), statistics_(asked.statistics.size()) {
    const std::vector<int64_t> sizes = domain.SizesOf(asked.by);
    for (const SortKey& sort : selection.order_by) {
      Key key{.descending = sort.descending};
      if (const auto* statistic = std::get_if<int32_t>(&sort.source)) {
        key.statistic = static_cast<size_t>(*statistic);
      } else {
        int64_t stride = 1;
        for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) {
          const dp::Attribute& attribute = domain.attributes()[asked.by[i]];
          if (attribute.name() != std::get<std::string>(sort.source)) continue;
          key.stride = stride;
          key.size = sizes[i];
          key.missing_code = attribute.missing_code();
        }
      }
      keys_.push_back(key);
    }
  }

  bool operator()(int64_t left, int64_t right) const {
    for (const Key& key : keys_) {
      const double a = ValueOf(key, left);
      const double b = ValueOf(key, right);
      const bool a_is_last = std::isnan(a);
      const bool b_is_last = std::isnan(b);
      if (a_is_last != b_is_last) return b_is_last;
      if (a_is_last || a == b) continue;
      return key.descending ? a > b : a < b;
    }
    return false;
  }

 private:
  struct Key {
    bool descending = false;
    std::optional<size_t> statistic = {};
    int64_t stride = 1;  // of an attribute: between groups whose codes differ by one
    int64_t size = 1;
    std::optional<uint32_t> missing_code = {};
  };

  double ValueOf(const Key& key, int64_t group) const {
    if (key.statistic) return answers_[static_cast<size_t>(group) * statistics_ + *key.statistic];
    const int64_t code = group / key.stride % key.size;
    if (key.missing_code && code == *key.missing_code) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(code);
  }

  std::span<const double> answers_;
  size_t statistics_;
  std::vector<Key> keys_;
};

// As std::stable_sort(), in pieces: between two of them it is asked whether the client is still there.
absl::Status SortInPieces(std::vector<int64_t>& groups, const GroupOrder& order,
                          const std::stop_token& stop) {
  constexpr ptrdiff_t kSortedAtOnce = 1 << 14;
  const ptrdiff_t size = std::ssize(groups);
  const auto at = [&](ptrdiff_t position) { return groups.begin() + std::min(position, size); };
  for (ptrdiff_t first = 0; first < size; first += kSortedAtOnce) {
    RETURN_IF_ERROR(CheckGoesOn(stop));
    std::stable_sort(at(first), at(first + kSortedAtOnce), std::cref(order));
  }
  for (ptrdiff_t width = kSortedAtOnce; width < size; width *= 2) {
    for (ptrdiff_t first = 0; first + width < size; first += 2 * width) {
      RETURN_IF_ERROR(CheckGoesOn(stop));
      std::inplace_merge(at(first), at(first + width), at(first + 2 * width), std::cref(order));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSelection(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                            const Selection& selection) {
  if (asked.size() != 1 || !asked.front().statistics) {
    return InvalidField("selection",
                        "is for a workload of exactly one set of statistics: rows of others have no groups");
  }
  const dp::AskedStatistics& statistics = *asked.front().statistics;
  RETURN_IF_ERROR(CheckNumbers(selection));
  std::set<std::string> names;
  for (size_t i = 0; i < selection.columns.size(); ++i) {
    const std::string path = absl::StrCat("selection.columns[", i, "]");
    RETURN_IF_ERROR(CheckName(path + ".name", selection.columns[i].name, names));
    RETURN_IF_ERROR(CheckSource(path, domain, statistics, selection.columns[i].source));
  }
  RETURN_IF_ERROR(CheckShown(domain, statistics, selection));
  ConditionSizes sizes;
  if (selection.having)
    RETURN_IF_ERROR(CheckCondition("selection.having", statistics, *selection.having, 1, sizes));
  for (size_t i = 0; i < selection.order_by.size(); ++i) {
    RETURN_IF_ERROR(CheckSource(absl::StrCat("selection.order_by[", i, "]"), domain, statistics,
                                selection.order_by[i].source));
  }
  return CheckSteps(dp::NumberOfGroups(domain, statistics), sizes.all, selection.order_by.size());
}

std::vector<ShownStatistic> StatisticsShown(const dp::Domain& domain, const dp::AskedStatistics& asked,
                                            const Selection& selection) {
  std::vector<ShownStatistic> shown;
  for (const OutputColumn& column : selection.columns) {
    if (const auto* statistic = std::get_if<int32_t>(&column.source))
      shown.push_back({static_cast<size_t>(*statistic), column.name});
  }
  if (!shown.empty()) return shown;
  for (size_t i = 0; i < asked.statistics.size(); ++i)
    shown.push_back({i, dp::NameOf(domain, asked.statistics[i])});
  return shown;
}

absl::StatusOr<std::vector<int64_t>> GroupsShown(const dp::Domain& domain, const dp::AskedStatistics& asked,
                                                 const Selection& selection, std::span<const double> answers,
                                                 const std::stop_token& stop) {
  constexpr int64_t kGroupsBetweenLooks = 1024;  // at the stop token
  const size_t statistics = asked.statistics.size();
  const int64_t groups = dp::NumberOfGroups(domain, asked);
  std::vector<int64_t> shown;
  shown.reserve(static_cast<size_t>(groups));
  for (int64_t group = 0; group < groups; ++group) {
    if (group % kGroupsBetweenLooks == 0) RETURN_IF_ERROR(CheckGoesOn(stop));
    const std::span<const double> own = answers.subspan(static_cast<size_t>(group) * statistics, statistics);
    if (!selection.having || TruthOf(*selection.having, own) == Truth::kYes) shown.push_back(group);
  }
  if (!selection.order_by.empty())
    RETURN_IF_ERROR(SortInPieces(shown, GroupOrder(domain, asked, selection, answers), stop));
  const auto number = static_cast<int64_t>(shown.size());
  const int64_t first = std::min(selection.offset.value_or(0), number);
  const int64_t rows = std::min(selection.limit.value_or(number), number - first);
  shown.erase(shown.begin(), shown.begin() + first);
  shown.resize(static_cast<size_t>(rows));
  return shown;
}

}  // namespace curator::service
