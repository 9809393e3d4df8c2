#include "rpc/convert_workload.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "rpc/convert_schema.h"

namespace curator::rpc {
namespace {

constexpr double kDefaultConfidenceLevel = 0.95;
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

absl::StatusOr<v1::Noise> ToProto(const dp::NoiseSpec& noise, double confidence_level) {
  const dp::ErrorForecast forecast = dp::ForecastError(noise);
  ASSIGN_OR_RETURN(const int64_t half_width, dp::ConfidenceHalfWidth(noise, confidence_level));
  const std::string parameter =
      noise.parameter.denominator == 1
          ? absl::StrCat(noise.parameter.numerator)
          : absl::StrCat(noise.parameter.numerator, "/", noise.parameter.denominator);
  v1::Noise proto;
  if (noise.mechanism == dp::Mechanism::kDiscreteLaplace) {
    proto.set_mechanism(v1::MECHANISM_DISCRETE_LAPLACE);
    proto.set_scale(parameter);
  } else {
    proto.set_mechanism(v1::MECHANISM_DISCRETE_GAUSSIAN);
    proto.set_sigma_squared(parameter);
  }
  proto.set_standard_deviation(forecast.standard_deviation);
  proto.set_expected_absolute_error(forecast.expected_absolute_error);
  proto.set_confidence_half_width(static_cast<double>(half_width));
  proto.set_confidence_level(confidence_level);
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

}  // namespace curator::rpc
