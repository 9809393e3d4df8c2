// Query sets as a caller writes them, with the names of attributes and values.
//
// Plain values; proto/curator/v1/workload.proto defines their meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dp/workload/comparisons.h"
#include "dp/workload/measurement.h"
#include "dp/workload/statistics/asked_statistics.h"

namespace curator::service {

// Explicit attribute sets, or all k-way marginals of `attributes` (of all attributes when empty).
struct MarginalsQuery {
  std::vector<std::vector<std::string>> sets;
  std::optional<int> k;
  std::vector<std::string> attributes;
  std::optional<int64_t> max_cells = {};  // of all k-way marginals: those with more cells are left out
};

struct ValueInterval {
  std::optional<std::string> from;
  std::optional<std::string> to;
};

struct RangesQuery {
  std::vector<std::string> attributes;
  std::vector<std::vector<ValueInterval>> boxes;  // all, when empty
};

struct PrefixesQuery {
  std::string attribute;
};

// The attribute is on the left.
struct Comparison {
  dp::ComparisonOperator op = dp::ComparisonOperator::kEqual;
  std::string value;
};

// Exactly one of values, between, compare and is_missing.
struct Condition {
  std::string attribute;
  std::vector<std::string> values;
  std::optional<ValueInterval> between;
  std::optional<Comparison> compare = {};
  bool is_missing = false;
};

// Conditions that are joined, as a tree of at most kDeepestExpression levels.
struct Expression {
  enum class Kind { kCondition, kAllOf, kAnyOf, kNot };
  Kind kind = Kind::kCondition;
  Condition condition = {};               // of kCondition
  std::vector<Expression> operands = {};  // of the others: at least one, of kNot exactly one
};
// A message of this depth is below the 100 levels that protobuf reads.
inline constexpr size_t kDeepestExpression = 40;

// Conditions that must all hold, or an expression; not both. Without either it holds for every record.
struct PredicateRequest {
  std::vector<Condition> all_of;
  std::optional<Expression> expression = {};
};

struct ThresholdsQuery {
  std::vector<Condition> conditions;
  std::vector<int> at_least;
  int k = 0;
  std::vector<std::string> by;
};

// Explicit attribute sets, or all sets of 1 to k of `attributes` (of all attributes when empty).
struct ParitiesQuery {
  std::vector<std::vector<std::string>> sets;
  std::optional<int> k;
  std::vector<std::string> attributes;
};

struct PredicatesQuery {
  std::vector<PredicateRequest> predicates;
  std::vector<std::string> by;
};

// One statistic, or the quantiles `at` of one column.
struct StatisticRequest {
  dp::StatisticKind kind = dp::StatisticKind::kCount;
  std::string of = {};               // a measure or an attribute; empty for all records
  std::vector<std::string> at = {};  // decimals between 0 and 1; of the median none
};

struct StatisticsQuery {
  std::vector<StatisticRequest> statistics;
  std::vector<std::string> by = {};
  PredicateRequest where = {};
  dp::QuantileWay quantiles = dp::QuantileWay::kAuto;
};

struct QuerySetRequest {
  std::variant<MarginalsQuery, RangesQuery, PrefixesQuery, ThresholdsQuery, ParitiesQuery, PredicatesQuery,
               StatisticsQuery>
      queries;
  dp::Strategy strategy = dp::Strategy::kAuto;
  double weight = 1;  // dp::QuerySet::weight
};

}  // namespace curator::service
