#include "service/workloads/resolve_statistics.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/number_column.h"
#include "dp/workload/statistics/quantile_reading.h"
#include "service/workloads/resolve_conditions.h"

namespace curator::service {
namespace {

constexpr int32_t kMedian = 500;

std::string_view FieldOf(dp::StatisticKind kind) {
  switch (kind) {
    case dp::StatisticKind::kCount:
      return "count.of";
    case dp::StatisticKind::kSum:
      return "sum";
    case dp::StatisticKind::kMean:
      return "mean";
    case dp::StatisticKind::kVariance:
      return "variance";
    case dp::StatisticKind::kQuantile:
      return "quantiles.of";
    case dp::StatisticKind::kDistinctUnits:
      break;
  }
  return "distinct_units";
}

// A decimal strictly between 0 and 1 with at most three digits after the point: "0.25", ".5".
std::optional<int32_t> ThousandthsOf(std::string_view text) {
  constexpr size_t kDigits = 3;
  if (text.starts_with("0.")) text.remove_prefix(1);
  if (text.size() < 2 || text.size() > 1 + kDigits || text.front() != '.') return std::nullopt;
  int32_t thousandths = 0;
  for (size_t i = 1; i <= kDigits; ++i) {
    const char digit = i < text.size() ? text[i] : '0';
    if (digit < '0' || digit > '9') return std::nullopt;
    thousandths = 10 * thousandths + (digit - '0');
  }
  return thousandths == 0 ? std::nullopt : std::optional(thousandths);
}

// Quantiles are also of the bins of an attribute of numbers.
absl::StatusOr<uint32_t> QuantileColumn(const dp::Domain& domain, const std::string& name) {
  const absl::StatusOr<dp::NumberColumn> numbers = dp::FindNumberColumn(domain, name);
  if (numbers.ok()) return numbers->column;
  const absl::StatusOr<uint32_t> attribute = domain.IndexOf(name);
  if (!attribute.ok()) return numbers.status();
  if (dp::HasOrderedNumbers(domain, *attribute)) return *attribute;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" has no numbers to take quantiles of; ask its marginal"));
}

// Values that may be missing are counted where they are numbers; what is never missing is counted as records.
absl::StatusOr<std::optional<uint32_t>> CountedColumn(const dp::Domain& domain, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const absl::StatusOr<dp::NumberColumn> numbers = dp::FindNumberColumn(domain, name);
  if (numbers.ok()) return numbers->missing_code ? std::optional(numbers->column) : std::nullopt;
  const absl::StatusOr<uint32_t> attribute = domain.IndexOf(name);
  if (!attribute.ok()) return numbers.status();
  if (!domain.attributes()[*attribute].missing_code()) return std::nullopt;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name,
                   "\" has a bin for missing values: count the records where it "
                   "is not missing, without \"of\""));
}

absl::StatusOr<std::optional<uint32_t>> ColumnOf(const dp::Domain& domain, const StatisticRequest& request) {
  switch (request.kind) {
    case dp::StatisticKind::kCount:
      return CountedColumn(domain, request.of);
    case dp::StatisticKind::kDistinctUnits:
      return std::nullopt;
    case dp::StatisticKind::kQuantile: {
      ASSIGN_OR_RETURN(const uint32_t column, QuantileColumn(domain, request.of));
      return column;
    }
    default: {
      ASSIGN_OR_RETURN(const dp::NumberColumn numbers, dp::FindNumberColumn(domain, request.of));
      return numbers.column;
    }
  }
}

absl::StatusOr<std::vector<int32_t>> QuantilesOf(const StatisticRequest& request, const std::string& path) {
  if (request.kind != dp::StatisticKind::kQuantile || request.at.empty())
    return std::vector<int32_t>{kMedian};
  std::vector<int32_t> thousandths;
  for (size_t i = 0; i < request.at.size(); ++i) {
    const std::optional<int32_t> each = ThousandthsOf(request.at[i]);
    if (!each) {
      return InvalidField(
          absl::StrCat(path, ".quantiles.at[", i, "]"),
          "must be a decimal between 0 and 1 with at most three digits after the point: 0.25");
    }
    thousandths.push_back(*each);
  }
  return thousandths;
}

absl::Status AddStatistics(const dp::Domain& domain, const StatisticRequest& request, const std::string& path,
                           std::vector<dp::Statistic>& statistics) {
  const absl::StatusOr<std::optional<uint32_t>> column = ColumnOf(domain, request);
  if (!column.ok()) {
    return InvalidField(absl::StrCat(path, ".", std::string(FieldOf(request.kind))),
                        std::string(column.status().message()));
  }
  ASSIGN_OR_RETURN(const std::vector<int32_t> quantiles, QuantilesOf(request, path));
  if (statistics.size() + quantiles.size() > dp::kMostStatistics)
    return InvalidField(path, absl::StrCat("is more than ", dp::kMostStatistics,
                                           " statistics, which is the limit of one request"));
  for (const int32_t thousandths : quantiles)
    statistics.push_back({.kind = request.kind, .column = *column, .thousandths = thousandths});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<dp::AskedStatistics> ResolveStatistics(const dp::Schema& schema, const StatisticsQuery& query,
                                                      PredicateAllowance& allowance,
                                                      const std::string& path) {
  if (query.statistics.empty()) return InvalidField(path + ".statistics", "has no statistic");
  dp::AskedStatistics asked;
  for (size_t i = 0; i < query.statistics.size(); ++i) {
    RETURN_IF_ERROR(AddStatistics(schema.domain, query.statistics[i],
                                  absl::StrCat(path, ".statistics[", i, "]"), asked.statistics));
  }
  ASSIGN_OR_RETURN(asked.by, ResolveNames(schema.domain, query.by, path + ".by"));
  absl::StatusOr<ResolvedPredicate> where = ResolvePredicate(schema.domain, query.where, allowance);
  if (!where.ok()) return WithinField(path + ".where", where.status());
  asked.where = std::move(where->attributes);
  asked.cells = std::move(where->cells);
  if (!asked.where.empty()) asked.condition = std::move(where->words);
  asked.quantiles = query.quantiles;
  const absl::Status valid = dp::Validate(schema, asked);
  if (!valid.ok()) return WithinField(path, valid);
  return asked;
}

absl::Status CheckStatisticsTogether(const dp::Domain& domain, std::span<const dp::AskedSet> sets) {
  size_t statistics = 0;
  int64_t answers = 0;
  for (const dp::AskedSet& set : sets) {
    statistics += set.statistics->statistics.size();
    answers += dp::NumberOfAnswers(domain, *set.statistics);
  }
  if (statistics > dp::kMostStatistics) {
    return InvalidField("workload", absl::StrCat("asks for ", statistics, " statistics; at most ",
                                                 dp::kMostStatistics, " are answered in one request"));
  }
  if (answers > dp::kMostStatisticAnswers) {
    return InvalidField("workload", absl::StrCat("asks for ", answers, " answers; at most ",
                                                 dp::kMostStatisticAnswers, " are answered in one request"));
  }
  return absl::OkStatus();
}

}  // namespace curator::service
