#include "rpc/convert_workload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "google/protobuf/struct.pb.h"
#include "rpc/convert_schema.h"
#include "service/workloads/resolve_expression.h"

namespace curator::rpc {
namespace {

constexpr double kDefaultConfidenceLevel = 0.95;
template <typename Repeated>
std::vector<std::string> Names(const Repeated& names) {
  return {names.begin(), names.end()};
}

template <typename Repeated>
std::vector<std::vector<std::string>> NameSets(const Repeated& sets) {
  std::vector<std::vector<std::string>> result;
  for (const v1::AttributeNames& set : sets) result.push_back(Names(set.names()));
  return result;
}

// Whole numbers with all their digits, because integers are read without an exponent; others in the shortest
// form, which never changes: a request that is repeated has the same bytes.
std::string TextOf(double number) {
  constexpr double kMostExact = 0x1p53;
  if (std::floor(number) == number && std::abs(number) <= kMostExact)
    return absl::StrCat(static_cast<int64_t>(number));
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return std::string(buffer.data(), end);
}

absl::StatusOr<std::string> ValueFromProto(const google::protobuf::Value& value, const std::string& path) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    case google::protobuf::Value::kNumberValue:
      return TextOf(value.number_value());
    case google::protobuf::Value::kBoolValue:
      return std::string(value.bool_value() ? "true" : "false");
    default:
      return InvalidField(path, "must be a string or a number");
  }
}

absl::StatusOr<service::ValueInterval> IntervalFromProto(const v1::Interval& interval,
                                                         const std::string& path) {
  service::ValueInterval result;
  if (interval.has_from()) {
    ASSIGN_OR_RETURN(result.from, ValueFromProto(interval.from(), path + ".from"));
  }
  if (interval.has_to()) {
    ASSIGN_OR_RETURN(result.to, ValueFromProto(interval.to(), path + ".to"));
  }
  return result;
}

absl::StatusOr<service::Condition> ConditionFromProto(const v1::Condition& condition,
                                                      const std::string& path) {
  service::Condition result{.attribute = condition.attribute(), .values = {}, .between = {}};
  for (int i = 0; i < condition.in_size(); ++i) {
    ASSIGN_OR_RETURN(std::string value, ValueFromProto(condition.in(i), absl::StrCat(path, ".in[", i, "]")));
    result.values.push_back(std::move(value));
  }
  if (condition.has_between()) {
    ASSIGN_OR_RETURN(result.between, IntervalFromProto(condition.between(), path + ".between"));
  }
  if (condition.has_compare()) {
    service::Comparison& compare = result.compare.emplace();
    ASSIGN_OR_RETURN(compare.op, rpc::FromProto(condition.compare().operator_(), path + ".compare.operator"));
    ASSIGN_OR_RETURN(compare.value, ValueFromProto(condition.compare().value(), path + ".compare.value"));
  }
  result.is_missing = condition.is_missing();
  return result;
}

template <typename Repeated>
absl::StatusOr<std::vector<service::Condition>> ConditionsFromProto(const Repeated& conditions,
                                                                    const std::string& path) {
  std::vector<service::Condition> result;
  for (int i = 0; i < conditions.size(); ++i) {
    ASSIGN_OR_RETURN(service::Condition condition,
                     ConditionFromProto(conditions[i], absl::StrCat(path, "[", i, "]")));
    result.push_back(std::move(condition));
  }
  return result;
}

// How deep and how large an expression may still be; the recursion ends with the levels.
struct ExpressionLimits {
  size_t levels_left = service::kDeepestExpression;
  size_t& conditions_left;
};
absl::StatusOr<service::Expression> ExpressionFromProto(const v1::Expression& expression,
                                                        const std::string& path, ExpressionLimits limits);

absl::Status AddOperands(const v1::Expressions& expressions, const std::string& path,
                         const ExpressionLimits& limits, service::Expression& result) {
  if (expressions.expressions().empty()) return InvalidField(path, "has no expression");
  for (int i = 0; i < expressions.expressions_size(); ++i) {
    ASSIGN_OR_RETURN(
        service::Expression operand,
        ExpressionFromProto(expressions.expressions(i), absl::StrCat(path, ".expressions[", i, "]"), limits));
    result.operands.push_back(std::move(operand));
  }
  return absl::OkStatus();
}

absl::StatusOr<service::Expression> ExpressionFromProto(const v1::Expression& expression,
                                                        const std::string& path, ExpressionLimits limits) {
  if (limits.levels_left-- == 0)
    return InvalidField(path, absl::StrCat("is deeper than ", service::kDeepestExpression, " levels"));
  service::Expression result;
  switch (expression.expression_case()) {
    case v1::Expression::kCondition: {
      if (limits.conditions_left-- == 0)
        return InvalidField(path, absl::StrCat("is more than the ", service::kMostConditionsOfExpression,
                                               " conditions that an expression may have"));
      ASSIGN_OR_RETURN(result.condition, ConditionFromProto(expression.condition(), path + ".condition"));
      return result;
    }
    case v1::Expression::kAllOf:
      result.kind = service::Expression::Kind::kAllOf;
      RETURN_IF_ERROR(AddOperands(expression.all_of(), path + ".all_of", limits, result));
      return result;
    case v1::Expression::kAnyOf:
      result.kind = service::Expression::Kind::kAnyOf;
      RETURN_IF_ERROR(AddOperands(expression.any_of(), path + ".any_of", limits, result));
      return result;
    case v1::Expression::kNot: {
      result.kind = service::Expression::Kind::kNot;
      ASSIGN_OR_RETURN(service::Expression operand,
                       ExpressionFromProto(expression.not_(), path + ".not", limits));
      result.operands.push_back(std::move(operand));
      return result;
    }
    case v1::Expression::EXPRESSION_NOT_SET:
      break;
  }
  return InvalidField(path, "needs a condition, all_of, any_of or not");
}

service::MarginalsQuery FromProto(const v1::Marginals& marginals) {
  service::MarginalsQuery query{.sets = NameSets(marginals.sets()), .k = {}, .attributes = {}};
  if (marginals.has_all_k_way()) {
    query.k = marginals.all_k_way().k();
    query.attributes = Names(marginals.all_k_way().attributes());
    if (marginals.all_k_way().has_max_cells()) query.max_cells = marginals.all_k_way().max_cells();
  }
  return query;
}

absl::StatusOr<service::RangesQuery> FromProto(const v1::Ranges& ranges, const std::string& path) {
  service::RangesQuery query{.attributes = Names(ranges.attributes()), .boxes = {}};
  for (int i = 0; i < ranges.boxes_size(); ++i) {
    std::vector<service::ValueInterval> sides;
    for (int j = 0; j < ranges.boxes(i).sides_size(); ++j) {
      ASSIGN_OR_RETURN(
          service::ValueInterval side,
          IntervalFromProto(ranges.boxes(i).sides(j), absl::StrCat(path, ".boxes[", i, "].sides[", j, "]")));
      sides.push_back(std::move(side));
    }
    query.boxes.push_back(std::move(sides));
  }
  return query;
}

absl::StatusOr<service::ThresholdsQuery> FromProto(const v1::Thresholds& thresholds,
                                                   const std::string& path) {
  service::ThresholdsQuery query;
  ASSIGN_OR_RETURN(query.conditions, ConditionsFromProto(thresholds.conditions(), path + ".conditions"));
  query.at_least.assign(thresholds.at_least().begin(), thresholds.at_least().end());
  query.k = thresholds.k();
  query.by = Names(thresholds.by());
  return query;
}

absl::StatusOr<service::ParitiesQuery> FromProto(const v1::Parities& parities, const std::string& path) {
  service::ParitiesQuery query{.sets = NameSets(parities.sets()), .k = {}, .attributes = {}};
  if (parities.has_up_to_k_way()) {
    if (parities.up_to_k_way().has_max_cells()) {
      return InvalidField(path + ".up_to_k_way.max_cells",
                          "is for marginals: each parity is one answer, whatever its attributes");
    }
    query.k = parities.up_to_k_way().k();
    query.attributes = Names(parities.up_to_k_way().attributes());
  }
  return query;
}

absl::StatusOr<service::PredicatesQuery> FromProto(const v1::Predicates& predicates,
                                                   const std::string& path) {
  service::PredicatesQuery query;
  for (int i = 0; i < predicates.predicates_size(); ++i) {
    ASSIGN_OR_RETURN(service::PredicateRequest predicate,
                     rpc::FromProto(predicates.predicates(i), absl::StrCat(path, ".predicates[", i, "]")));
    query.predicates.push_back(std::move(predicate));
  }
  query.by = Names(predicates.by());
  return query;
}

absl::StatusOr<service::StatisticRequest> FromProto(const v1::Statistic& statistic, const std::string& path) {
  switch (statistic.statistic_case()) {
    case v1::Statistic::kCount:
      return service::StatisticRequest{.kind = dp::StatisticKind::kCount, .of = statistic.count().of()};
    case v1::Statistic::kSum:
      return service::StatisticRequest{.kind = dp::StatisticKind::kSum, .of = statistic.sum()};
    case v1::Statistic::kMean:
      return service::StatisticRequest{.kind = dp::StatisticKind::kMean, .of = statistic.mean()};
    case v1::Statistic::kVariance:
      return service::StatisticRequest{.kind = dp::StatisticKind::kVariance, .of = statistic.variance()};
    case v1::Statistic::kMedian:
      return service::StatisticRequest{.kind = dp::StatisticKind::kQuantile, .of = statistic.median()};
    case v1::Statistic::kQuantiles: {
      const v1::Quantiles& quantiles = statistic.quantiles();
      if (quantiles.at().empty()) return InvalidField(path + ".quantiles.at", "names no quantile, as 0.25");
      return service::StatisticRequest{
          .kind = dp::StatisticKind::kQuantile, .of = quantiles.of(), .at = Names(quantiles.at())};
    }
    case v1::Statistic::kDistinctUnits:
      return service::StatisticRequest{.kind = dp::StatisticKind::kDistinctUnits};
    case v1::Statistic::STATISTIC_NOT_SET:
      break;
  }
  return InvalidField(path, "needs count, sum, mean, variance, median, quantiles or distinct_units");
}

absl::StatusOr<dp::QuantileWay> QuantileWayOf(v1::Strategy strategy, const std::string& path) {
  switch (strategy) {
    case v1::STRATEGY_UNSPECIFIED:
      return dp::QuantileWay::kAuto;
    case v1::STRATEGY_TREE:
      return dp::QuantileWay::kTree;
    case v1::STRATEGY_SELECTION:
      return dp::QuantileWay::kSelection;
    default:
      return InvalidField(path,
                          "of statistics it says how quantiles are measured: STRATEGY_TREE or "
                          "STRATEGY_SELECTION, or unset");
  }
}

absl::StatusOr<service::StatisticsQuery> FromProto(const v1::QuerySet& set, const v1::Statistics& statistics,
                                                   const std::string& path) {
  service::StatisticsQuery query;
  ASSIGN_OR_RETURN(query.quantiles, QuantileWayOf(set.strategy(), path + ".strategy"));
  for (int i = 0; i < statistics.statistics_size(); ++i) {
    ASSIGN_OR_RETURN(
        service::StatisticRequest statistic,
        FromProto(statistics.statistics(i), absl::StrCat(path, ".statistics.statistics[", i, "]")));
    query.statistics.push_back(std::move(statistic));
  }
  query.by = Names(statistics.by());
  ASSIGN_OR_RETURN(query.where, rpc::FromProto(statistics.where(), path + ".statistics.where"));
  return query;
}

absl::StatusOr<dp::Strategy> FromProto(v1::Strategy strategy, const std::string& path) {
  switch (strategy) {
    case v1::STRATEGY_UNSPECIFIED:
      return dp::Strategy::kAuto;
    case v1::STRATEGY_DIRECT:
      return dp::Strategy::kDirect;
    case v1::STRATEGY_BASE_HISTOGRAM:
      return dp::Strategy::kBaseHistogram;
    case v1::STRATEGY_TREE:
      return dp::Strategy::kTree;
    case v1::STRATEGY_RESIDUAL:
      return dp::Strategy::kResidual;
    case v1::STRATEGY_PARITY:
      return dp::Strategy::kParity;
    default:
      return InvalidField(path,
                          "must be STRATEGY_DIRECT, STRATEGY_BASE_HISTOGRAM, STRATEGY_TREE, "
                          "STRATEGY_RESIDUAL or STRATEGY_PARITY, or unset; STRATEGY_SELECTION is for "
                          "quantiles");
  }
}

absl::StatusOr<service::QuerySetRequest> FromProto(const v1::QuerySet& set, const std::string& path) {
  service::QuerySetRequest request;
  if (set.has_weight()) request.weight = set.weight();
  if (set.has_statistics()) {
    ASSIGN_OR_RETURN(request.queries, FromProto(set, set.statistics(), path));
    return request;
  }
  ASSIGN_OR_RETURN(request.strategy, FromProto(set.strategy(), path + ".strategy"));
  switch (set.queries_case()) {
    case v1::QuerySet::kMarginals:
      request.queries = FromProto(set.marginals());
      break;
    case v1::QuerySet::kRanges: {
      ASSIGN_OR_RETURN(request.queries, FromProto(set.ranges(), path + ".ranges"));
      break;
    }
    case v1::QuerySet::kPrefixes:
      request.queries = service::PrefixesQuery{.attribute = set.prefixes().attribute()};
      break;
    case v1::QuerySet::kThresholds: {
      ASSIGN_OR_RETURN(request.queries, FromProto(set.thresholds(), path + ".thresholds"));
      break;
    }
    case v1::QuerySet::kParities: {
      ASSIGN_OR_RETURN(request.queries, FromProto(set.parities(), path + ".parities"));
      break;
    }
    case v1::QuerySet::kPredicates: {
      ASSIGN_OR_RETURN(request.queries, FromProto(set.predicates(), path + ".predicates"));
      break;
    }
    case v1::QuerySet::kStatistics:
    case v1::QuerySet::QUERIES_NOT_SET:
      return InvalidField(
          path, "needs marginals, ranges, prefixes, thresholds, parities, predicates or statistics");
  }
  return request;
}

}  // namespace

absl::StatusOr<dp::ComparisonOperator> FromProto(v1::Comparison::Operator op, const std::string& path) {
  switch (op) {
    case v1::Comparison::EQUAL:
      return dp::ComparisonOperator::kEqual;
    case v1::Comparison::NOT_EQUAL:
      return dp::ComparisonOperator::kNotEqual;
    case v1::Comparison::LESS:
      return dp::ComparisonOperator::kLess;
    case v1::Comparison::LESS_OR_EQUAL:
      return dp::ComparisonOperator::kLessOrEqual;
    case v1::Comparison::GREATER:
      return dp::ComparisonOperator::kGreater;
    case v1::Comparison::GREATER_OR_EQUAL:
      return dp::ComparisonOperator::kGreaterOrEqual;
    default:
      return InvalidField(path, "must be EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER or GREATER_OR_EQUAL");
  }
}

absl::StatusOr<dp::Spend> FromProto(const v1::Spend& spend) {
  dp::Spend result;
  if (!spend.epsilon().empty()) {
    ASSIGN_OR_RETURN(result.epsilon, dp::Epsilon::Parse(spend.epsilon(), "spend.epsilon"));
  }
  if (!spend.delta().empty()) {
    ASSIGN_OR_RETURN(result.delta, dp::Delta::Parse(spend.delta(), "spend.delta"));
  }
  if (!spend.rho().empty()) {
    ASSIGN_OR_RETURN(result.rho, dp::Rho::Parse(spend.rho(), "spend.rho"));
  }
  return result;
}

v1::Spend ToProto(const dp::Spend& spend) {
  v1::Spend proto;
  if (spend.epsilon) proto.set_epsilon(spend.epsilon->ToString());
  if (spend.delta) proto.set_delta(spend.delta->ToString());
  if (spend.rho) proto.set_rho(spend.rho->ToString());
  return proto;
}

absl::StatusOr<dp::Target> FromProto(const v1::Target& target) {
  if (target.has_rmse() && (target.max_error() != 0 || target.has_confidence()))
    return InvalidField("target.rmse",
                        "is given beside max_error or its confidence: one of them is a target");
  dp::Target result{.max_error = target.max_error(),
                    .confidence = target.has_confidence() ? target.confidence() : kDefaultConfidenceLevel};
  if (target.has_rmse()) result.rmse = target.rmse();
  return result;
}

absl::StatusOr<std::optional<dp::ErrorMeasure>> FromProto(v1::Objective objective) {
  switch (objective) {
    case v1::OBJECTIVE_UNSPECIFIED:
      return std::nullopt;
    case v1::OBJECTIVE_SUM:
      return dp::ErrorMeasure::kMean;
    case v1::OBJECTIVE_WORST:
      return dp::ErrorMeasure::kLargest;
    default:
      return InvalidField("objective", "must be OBJECTIVE_SUM or OBJECTIVE_WORST, or unset");
  }
}

dp::PostProcessing FromProto(const v1::PostProcessing& steps) {
  return {.non_negative = steps.non_negative(), .consistent = steps.consistent(), .integer = steps.integer()};
}

absl::StatusOr<std::optional<dp::Mechanism>> FromProto(v1::Mechanism mechanism) {
  switch (mechanism) {
    case v1::MECHANISM_UNSPECIFIED:
      return std::nullopt;
    case v1::MECHANISM_DISCRETE_LAPLACE:
      return dp::Mechanism::kDiscreteLaplace;
    case v1::MECHANISM_DISCRETE_GAUSSIAN:
      return dp::Mechanism::kDiscreteGaussian;
    default:
      return InvalidField("mechanism",
                          "must be MECHANISM_DISCRETE_LAPLACE or MECHANISM_DISCRETE_GAUSSIAN, or unset");
  }
}

absl::StatusOr<double> ConfidenceLevel(std::optional<double> stated) {
  const double level = stated.value_or(kDefaultConfidenceLevel);
  if (level > 0 && level < 1) return level;
  return InvalidField("confidence_level", "must lie strictly between 0 and 1");
}

v1::Noise ToProto(const service::NoiseSummary& summary) {
  const dp::Rational& parameter = summary.noise.parameter;
  const std::string text = parameter.denominator == 1
                               ? absl::StrCat(parameter.numerator)
                               : absl::StrCat(parameter.numerator, "/", parameter.denominator);
  v1::Noise proto;
  if (summary.noise.mechanism == dp::Mechanism::kDiscreteLaplace) {
    proto.set_mechanism(v1::MECHANISM_DISCRETE_LAPLACE);
    proto.set_scale(text);
  } else {
    proto.set_mechanism(v1::MECHANISM_DISCRETE_GAUSSIAN);
    proto.set_sigma_squared(text);
  }
  proto.set_standard_deviation(summary.standard_deviation);
  proto.set_expected_absolute_error(summary.expected_absolute_error);
  proto.set_confidence_half_width(static_cast<double>(summary.half_width));
  proto.set_confidence_level(summary.level);
  return proto;
}

std::vector<v1::Cost> ToProto(const service::Price& price, PriceTense tense) {
  std::vector<v1::Cost> costs;
  for (const service::PricedCounter& counter : price.counters) {
    v1::Cost cost;
    cost.set_account(counter.account);
    cost.set_rule(ToProto(counter.rule));
    cost.set_counter(counter.counter);
    cost.set_amount(dp::FormatCounter(counter.counter, counter.cost));
    cost.set_share_of_promise(counter.ShareOfPromise());
    if (counter.Fits() || tense == PriceTense::kHasCost) {
      cost.set_remaining(dp::FormatCounter(counter.counter, counter.remaining_before - counter.cost));
      cost.set_share_left(counter.ShareLeft());
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

v1::Strategy ToProto(dp::Strategy strategy) {
  switch (strategy) {
    case dp::Strategy::kDirect:
      return v1::STRATEGY_DIRECT;
    case dp::Strategy::kBaseHistogram:
      return v1::STRATEGY_BASE_HISTOGRAM;
    case dp::Strategy::kTree:
      return v1::STRATEGY_TREE;
    case dp::Strategy::kResidual:
      return v1::STRATEGY_RESIDUAL;
    case dp::Strategy::kParity:
      return v1::STRATEGY_PARITY;
    case dp::Strategy::kAuto:
      break;
  }
  return v1::STRATEGY_UNSPECIFIED;
}

absl::StatusOr<service::PredicateRequest> FromProto(const v1::Predicate& predicate, const std::string& path) {
  service::PredicateRequest result;
  ASSIGN_OR_RETURN(result.all_of, ConditionsFromProto(predicate.all_of(), path + ".all_of"));
  if (!predicate.has_expression()) return result;
  size_t conditions_left = service::kMostConditionsOfExpression;
  ASSIGN_OR_RETURN(result.expression, ExpressionFromProto(predicate.expression(), path + ".expression",
                                                          {.conditions_left = conditions_left}));
  return result;
}

absl::StatusOr<std::vector<service::QuerySetRequest>> FromProto(const v1::Workload& workload) {
  std::vector<service::QuerySetRequest> sets;
  for (int i = 0; i < workload.query_sets_size(); ++i) {
    ASSIGN_OR_RETURN(service::QuerySetRequest set,
                     FromProto(workload.query_sets(i), absl::StrCat("workload.query_sets[", i, "]")));
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace curator::rpc
