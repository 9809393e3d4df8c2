#include "dp/workload/statistics/asked_statistics.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/number_column.h"
#include "dp/queries/marginals.h"
#include "dp/workload/statistics/quantile_reading.h"

namespace curator::dp {
namespace {

bool IsColumnOf(const Domain& domain, uint32_t column) {
  return column < domain.size() + domain.measures().size();
}

const std::string& NameOfColumn(const Domain& domain, uint32_t column) {
  return column < domain.size() ? domain.attributes()[column].name()
                                : domain.measures()[column - domain.size()].name();
}

// "0.25", "0.5", "0.125".
std::string DecimalOf(int32_t thousandths) {
  std::string digits = absl::StrCat(1000 + thousandths).substr(1);
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  return absl::StrCat("0.", digits);
}

// Of the set, as the caller writes it.
std::string FieldOf(size_t position, StatisticKind kind) {
  const std::string statistic = absl::StrCat("statistics[", position, "]");
  switch (kind) {
    case StatisticKind::kCount:
      return statistic + ".count.of";
    case StatisticKind::kSum:
      return statistic + ".sum";
    case StatisticKind::kMean:
      return statistic + ".mean";
    case StatisticKind::kVariance:
      return statistic + ".variance";
    case StatisticKind::kQuantile:
      return statistic + ".quantiles.of";
    case StatisticKind::kDistinctUnits:
      return statistic + ".distinct_units";
  }
  return statistic;
}

absl::Status ValidateColumn(const Domain& domain, const Statistic& statistic, const std::string& field) {
  if (!statistic.column) {
    if (statistic.kind == StatisticKind::kCount || statistic.kind == StatisticKind::kDistinctUnits)
      return absl::OkStatus();
    return InvalidField(field, "names no column");
  }
  if (!IsColumnOf(domain, *statistic.column))
    return InvalidField(field, absl::StrCat("the table has no column ", *statistic.column));
  const std::string& name = NameOfColumn(domain, *statistic.column);
  if (statistic.kind == StatisticKind::kDistinctUnits)
    return InvalidField(field, "counts persons or groups, not values of a column");
  if (statistic.kind == StatisticKind::kQuantile) {
    if (HasOrderedNumbers(domain, *statistic.column)) return absl::OkStatus();
    return InvalidField(field, absl::StrCat("\"", name,
                                            "\" is no column of numbers; quantiles are of a measure, a "
                                            "numeric or an integer attribute"));
  }
  if (NumberColumnAt(domain, *statistic.column)) return absl::OkStatus();
  const absl::StatusOr<NumberColumn> found = FindNumberColumn(domain, name);
  return InvalidField(field, found.ok() ? absl::StrCat("\"", name, "\" is no column of numbers")
                                        : std::string(found.status().message()));
}

absl::Status ValidateStatistic(const Schema& schema, const Statistic& statistic, size_t position) {
  const std::string field = FieldOf(position, statistic.kind);
  RETURN_IF_ERROR(ValidateColumn(schema.domain, statistic, field));
  if (statistic.kind == StatisticKind::kQuantile &&
      (statistic.thousandths < 1 || statistic.thousandths > 999)) {
    return InvalidField(absl::StrCat("statistics[", position, "].quantiles.at"),
                        "must lie strictly between 0 and 1, with at most three digits after the point");
  }
  if (statistic.kind == StatisticKind::kDistinctUnits && std::holds_alternative<RecordUnit>(schema.unit)) {
    return InvalidField(field,
                        "each record of this dataset is a unit of its own: ask for the count of records");
  }
  return absl::OkStatus();
}

// Two that have the same answer.
bool AreSame(const Statistic& one, const Statistic& other) {
  return one.kind == other.kind && one.column == other.column &&
         (one.kind != StatisticKind::kQuantile || one.thousandths == other.thousandths);
}

absl::Status ValidateGroups(const Domain& domain, const AskedStatistics& asked) {
  if (const absl::Status set = domain.CheckSet(asked.by); !set.ok())
    return InvalidField("by", std::string(set.message()));
  if (const absl::Status set = domain.CheckSet(asked.where); !set.ok())
    return InvalidField("where", std::string(set.message()));
  const std::optional<int64_t> cells = domain.CellCount(Union(asked.by, asked.where));
  if (!cells || *cells > kMostGroupCells) {
    return InvalidField("by",
                        absl::StrCat("the groups and the condition are made of ",
                                     cells ? absl::StrCat(*cells) : "more than 2^62", " cells; at most ",
                                     kMostGroupCells, " are allowed: name fewer attributes"));
  }
  const bool rise = std::ranges::adjacent_find(asked.cells, std::greater_equal<>()) == asked.cells.end();
  const int64_t condition_cells = domain.CellCount(asked.where).value_or(0);
  if (!rise || (!asked.cells.empty() && (asked.where.empty() || asked.cells.back() >= condition_cells)))
    return InvalidField("where", "has cells that do not rise or are none of its attributes");
  if (NumberOfAnswers(domain, asked) > kMostStatisticAnswers) {
    return InvalidField("by", absl::StrCat("makes ", NumberOfAnswers(domain, asked), " answers; at most ",
                                           kMostStatisticAnswers, " are given in one request"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string NameOf(const Domain& domain, const Statistic& statistic) {
  if (statistic.kind == StatisticKind::kDistinctUnits) return "distinct units";
  if (!statistic.column) return "count";
  const std::string& column = NameOfColumn(domain, *statistic.column);
  switch (statistic.kind) {
    case StatisticKind::kCount:
      return absl::StrCat("count(", column, ")");
    case StatisticKind::kSum:
      return absl::StrCat("sum(", column, ")");
    case StatisticKind::kMean:
      return absl::StrCat("mean(", column, ")");
    case StatisticKind::kVariance:
      return absl::StrCat("variance(", column, ")");
    case StatisticKind::kQuantile:
    case StatisticKind::kDistinctUnits:
      break;
  }
  return absl::StrCat("quantile(", column, ", ", DecimalOf(statistic.thousandths), ")");
}

int64_t NumberOfQuantiles(std::span<const AskedStatistics> sets) {
  int64_t quantiles = 0;
  for (const AskedStatistics& asked : sets) {
    quantiles += std::ranges::count(asked.statistics, StatisticKind::kQuantile, &Statistic::kind);
  }
  return quantiles;
}

int64_t NumberOfGroups(const Domain& domain, const AskedStatistics& asked) {
  return domain.CellCount(asked.by).value_or(0);
}

int64_t NumberOfAnswers(const Domain& domain, const AskedStatistics& asked) {
  return NumberOfGroups(domain, asked) * static_cast<int64_t>(asked.statistics.size());
}

std::string Describe(const Domain& domain, const AskedStatistics& asked) {
  constexpr size_t kMostNamed = 6;
  std::string text;
  for (size_t i = 0; i < std::min(asked.statistics.size(), kMostNamed); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ", ", NameOf(domain, asked.statistics[i]));
  if (asked.statistics.size() > kMostNamed)
    absl::StrAppend(&text, " and ", asked.statistics.size() - kMostNamed, " more");
  if (!asked.by.empty()) {
    absl::StrAppend(&text, " by ", NamesOf(domain, asked.by), " (", NumberOfGroups(domain, asked),
                    " groups)");
  }
  if (!asked.where.empty()) absl::StrAppend(&text, " where ", asked.condition);
  return text;
}

absl::Status Validate(const Schema& schema, const AskedStatistics& asked) {
  if (asked.statistics.empty()) return InvalidField("statistics", "asks for nothing");
  if (asked.statistics.size() > kMostStatistics) {
    return InvalidField("statistics",
                        absl::StrCat("asks for ", asked.statistics.size(), " statistics; at most ",
                                     kMostStatistics, " are answered in one request"));
  }
  for (size_t i = 0; i < asked.statistics.size(); ++i) {
    RETURN_IF_ERROR(ValidateStatistic(schema, asked.statistics[i], i));
    for (size_t before = 0; before < i; ++before) {
      if (AreSame(asked.statistics[before], asked.statistics[i])) {
        return InvalidField("statistics",
                            absl::StrCat("asks for ", NameOf(schema.domain, asked.statistics[i]), " twice"));
      }
    }
  }
  return ValidateGroups(schema.domain, asked);
}

}  // namespace curator::dp
