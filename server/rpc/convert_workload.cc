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

template <typename Repeated>
absl::StatusOr<std::vector<service::Condition>> ConditionsFromProto(const Repeated& conditions,
                                                                    const std::string& path) {
  std::vector<service::Condition> result;
  for (int i = 0; i < conditions.size(); ++i) {
    const std::string own_path = absl::StrCat(path, "[", i, "]");
    service::Condition condition{.attribute = conditions[i].attribute(), .values = {}, .between = {}};
    for (int j = 0; j < conditions[i].in_size(); ++j) {
      ASSIGN_OR_RETURN(std::string value,
                       ValueFromProto(conditions[i].in(j), absl::StrCat(own_path, ".in[", j, "]")));
      condition.values.push_back(std::move(value));
    }
    if (conditions[i].has_between()) {
      ASSIGN_OR_RETURN(condition.between, IntervalFromProto(conditions[i].between(), own_path + ".between"));
    }
    result.push_back(std::move(condition));
  }
  return result;
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
    ASSIGN_OR_RETURN(std::vector<service::Condition> all_of,
                     ConditionsFromProto(predicates.predicates(i).all_of(),
                                         absl::StrCat(path, ".predicates[", i, "].all_of")));
    query.predicates.push_back(std::move(all_of));
  }
  query.by = Names(predicates.by());
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
    default:
      return InvalidField(path,
                          "must be STRATEGY_DIRECT, STRATEGY_BASE_HISTOGRAM or STRATEGY_TREE, or unset");
  }
}

absl::StatusOr<service::QuerySetRequest> FromProto(const v1::QuerySet& set, const std::string& path) {
  service::QuerySetRequest request;
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
    case v1::QuerySet::QUERIES_NOT_SET:
      return InvalidField(path, "needs marginals, ranges, prefixes, thresholds, parities or predicates");
  }
  return request;
}

}  // namespace

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

dp::Target FromProto(const v1::Target& target) {
  return {.max_error = target.max_error(),
          .confidence = target.has_confidence() ? target.confidence() : kDefaultConfidenceLevel};
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
    if (counter.Fits() || tense == PriceTense::kHasCost) {
      cost.set_remaining(dp::FormatCounter(counter.counter, counter.remaining_before - counter.cost));
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
    case dp::Strategy::kAuto:
      break;
  }
  return v1::STRATEGY_UNSPECIFIED;
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
