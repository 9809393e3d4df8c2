#include "service/workloads/plan_forecasts.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/noise_combination.h"
#include "dp/workload/residual/residual_errors.h"

namespace curator::service {
namespace {

bool IsMarginals(const dp::AskedSet& asked) {
  return asked.query_class == dp::QueryClass::kMarginals;
}

dp::AnswerError WorstOf(const dp::ErrorClasses& classes) {
  dp::AnswerError worst{.variance_factor = 0, .terms = 0};
  for (const dp::ErrorClass& each : classes) {
    if (each.error.variance_factor >= worst.variance_factor) worst = each.error;
  }
  return worst;
}

// Of a normal error.
double MeanAbsoluteOf(double deviation) {
  return deviation * std::sqrt(2 / std::numbers::pi);
}

}  // namespace

PlanForecasts::PlanForecasts(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                             const dp::WorkloadPlan& plan, double level, std::stop_token client_left)
    : domain_(domain),
      asked_(asked),
      plan_(plan),
      client_left_(std::move(client_left)),
      half_widths_(plan.bought.noise, level),
      measured_(domain, plan.shape.joint.measured) {}

absl::StatusOr<SetForecast> PlanForecasts::OfSet(size_t set) {
  RETURN_IF_ERROR(CheckGoesOn(client_left_));
  if (plan_.shape.residual) return OfResiduals(set);
  const dp::Measurement& measurement = plan_.shape.measurements[set];
  const dp::Strategy strategy = measurement.plan.strategy;
  SetForecast forecast;
  forecast.is_measured_marginals = IsMarginals(asked_[set]) && strategy == dp::Strategy::kDirect;
  if (forecast.is_measured_marginals) return forecast;
  forecast.measurement = strategy == dp::Strategy::kParity
                             ? SummaryOfParities(plan_.shape.joint.measured.size())
                             : SummaryOf(domain_, measurement);
  const dp::ErrorClasses& classes = plan_.classes[set];
  for (const dp::ErrorClass& each : classes) forecast.answers += each.answers;
  const dp::AnswerError worst = WorstOf(classes);
  forecast.standard_deviation = dp::MeanDeviation(plan_.bought.noise, classes);
  forecast.largest_standard_deviation = dp::MeanDeviation(plan_.bought.noise, {{worst, 1}});
  ASSIGN_OR_RETURN(forecast.half_width, strategy == dp::Strategy::kParity
                                            ? WorstHalfWidthOfParities(set, worst.variance_factor)
                                            : WorstHalfWidth(set, worst));
  return forecast;
}

SetForecast PlanForecasts::OfResiduals(size_t set) const {
  SetForecast forecast{.measurement = SummaryOf(domain_, plan_.shape.residual->queries),
                       .gap = plan_.shape.residual->gap};
  const dp::ErrorClasses& classes = plan_.classes[set];
  for (const dp::ErrorClass& each : classes) forecast.answers += each.answers;
  const dp::ForecastNoise noise = dp::ForecastNoiseOf(plan_.shape, plan_.bought);
  const dp::AnswerError worst = WorstOf(classes);
  forecast.standard_deviation = dp::MeanDeviation(noise, classes);
  forecast.largest_standard_deviation = dp::MeanDeviation(noise, {{worst, 1}});
  forecast.half_width = dp::HalfWidthOf(std::get<dp::GaussianErrors>(noise), worst, half_widths_.level());
  return forecast;
}

absl::StatusOr<double> PlanForecasts::WorstHalfWidth(size_t set, const dp::AnswerError& worst) {
  const dp::SetPlan& plan = plan_.shape.measurements[set].plan;
  if (worst.terms > 0 || plan.strategy != dp::Strategy::kTree) return half_widths_.Of(worst, nullptr);
  const dp::AttributeSet& attributes = asked_[set].queries.groups.front().attributes;
  const dp::IntervalTree tree(*domain_.CellCount(attributes), plan.branching);
  return half_widths_.Of(worst, dp::WeightsIn(tree));
}

// Classes have no marginals: the first one with the largest factor is looked for.
absl::StatusOr<double> PlanForecasts::WorstHalfWidthOfParities(size_t set, double largest_factor) {
  constexpr double kRounding = 1e-9;
  const dp::QueryGroup* worst = nullptr;
  dp::AnswerError error{.variance_factor = 0};
  for (const dp::QueryGroup& group : asked_[set].queries.groups) {
    const dp::AnswerError own = measured_.parities().ErrorOfCells(group.attributes);
    if (own.variance_factor <= error.variance_factor) continue;
    error = own;
    worst = &group;
    if (error.variance_factor >= largest_factor * (1 - kRounding)) break;
  }
  return half_widths_.Of(error, measured_.WeightsOf(*worst));
}

absl::StatusOr<std::vector<JointMarginalForecast>> PlanForecasts::OfMarginals() {
  if (plan_.residual) return OfResidualMarginals();
  if (dp::AreByParity(plan_.shape.joint.plans)) return OfParityMarginals();
  return std::vector<JointMarginalForecast>();
}

// Forecasts without figures; none where they are too many.
std::vector<JointMarginalForecast> PlanForecasts::PlacesOfMarginals() const {
  std::vector<JointMarginalForecast> marginals;
  for (size_t i = 0; i < asked_.size(); ++i) {
    if (!IsMarginals(asked_[i])) continue;
    for (size_t j = 0; j < asked_[i].queries.groups.size(); ++j) marginals.push_back({.set = i, .group = j});
    if (marginals.size() > kMostForecastMarginals) return {};
  }
  return marginals;
}

absl::StatusOr<std::vector<JointMarginalForecast>> PlanForecasts::OfResidualMarginals() const {
  std::vector<JointMarginalForecast> marginals = PlacesOfMarginals();
  if (marginals.empty()) return marginals;
  ASSIGN_OR_RETURN(const dp::ResidualErrors errors, dp::ResidualErrors::Create(domain_, *plan_.residual));
  for (JointMarginalForecast& marginal : marginals) {
    const double variance = errors.MeanVarianceOf(asked_[marginal.set].queries.groups[marginal.group]);
    marginal.standard_deviation = std::sqrt(variance);
    marginal.expected_absolute_error = MeanAbsoluteOf(marginal.standard_deviation);
    marginal.half_width = dp::HalfWidthOf(dp::GaussianErrors{.variance = variance}, {}, half_widths_.level());
  }
  return marginals;
}

absl::StatusOr<std::vector<JointMarginalForecast>> PlanForecasts::OfParityMarginals() {
  std::vector<JointMarginalForecast> marginals = PlacesOfMarginals();
  const double deviation = dp::ForecastError(plan_.bought.noise).standard_deviation;
  for (JointMarginalForecast& marginal : marginals) {
    RETURN_IF_ERROR(CheckGoesOn(client_left_));
    const dp::QueryGroup& group = asked_[marginal.set].queries.groups[marginal.group];
    const dp::AnswerError error = measured_.parities().ErrorOfCells(group.attributes);
    marginal.standard_deviation = deviation * std::sqrt(error.variance_factor);
    marginal.expected_absolute_error = MeanAbsoluteError(group.attributes, error);
    ASSIGN_OR_RETURN(marginal.half_width, half_widths_.Of(error, measured_.WeightsOf(group)));
  }
  return marginals;
}

// A sum of many values is as good as normal.
double PlanForecasts::MeanAbsoluteError(const dp::AttributeSet& marginal, const dp::AnswerError& error) {
  constexpr size_t kManyValues = 32;
  const auto [known, is_new] = mean_absolute_errors_.try_emplace(
      {static_cast<float>(error.variance_factor), static_cast<float>(error.fourth_factor)});
  if (!is_new) return known->second;
  if (dp::SubsetsOfSize(marginal.size()) > kManyValues) {
    const double deviation = dp::ForecastError(plan_.bought.noise).standard_deviation;
    return known->second = MeanAbsoluteOf(deviation * std::sqrt(error.variance_factor));
  }
  return known->second =
             dp::MeanAbsoluteValue(plan_.bought.noise, measured_.parities().WeightsInCells(marginal));
}

}  // namespace curator::service
