#include "dp/accounting/calculators/renyi.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/search.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/zcdp_conversion.h"

namespace curator::dp {
namespace {

// ln(alpha - 1) is searched here.
constexpr double kLeastLogOrder = -8;
constexpr double kMostLogOrder = 28;
constexpr int kSearchPoints = 72;

absl::StatusOr<Interval> RenyiOfMechanism(const Interval& order_minus_one, const Event& mechanism) {
  const Interval order = order_minus_one + Interval(1);
  if (const auto* e = std::get_if<ZcdpEvent>(&mechanism.what)) return order * Interval::Of(e->rho);
  if (const std::optional<Interval> squared_mu = SquaredMuOf(mechanism))
    return order * *squared_mu / Interval(2);
  if (const auto* e = std::get_if<DiscreteLaplaceEvent>(&mechanism.what)) {
    return RenyiOfDiscreteLaplace(order_minus_one, *e);
  }
  const std::optional<Interval> epsilon = EpsilonOf(mechanism);
  if (!epsilon) return absl::FailedPreconditionError("RDP cannot count " + Describe(mechanism));
  if (std::holds_alternative<LaplaceEvent>(mechanism.what)) return RenyiOfLaplace(order_minus_one, *epsilon);
  if (std::holds_alternative<ExponentialMechanismEvent>(mechanism.what)) {
    return RenyiOfBoundedRange(order_minus_one, *epsilon);
  }
  return RenyiOfPure(order_minus_one, *epsilon);
}

absl::StatusOr<double> EpsilonAt(const Interval& order_minus_one, const Schedule& schedule,
                                 const Interval& delta) {
  ASSIGN_OR_RETURN(const Interval divergence, RenyiOf(order_minus_one, schedule));
  const double epsilon = (divergence + ConversionPenalty(order_minus_one, delta)).Upper();
  if (std::isnan(epsilon)) return std::numeric_limits<double>::infinity();
  return std::max(epsilon, 0.0);
}

}  // namespace

absl::StatusOr<Interval> RenyiOf(const Interval& order_minus_one, const Schedule& schedule) {
  Interval sum(0);
  for (const CountedEvent& part : schedule) {
    ASSIGN_OR_RETURN(const Interval divergence, RenyiOfMechanism(order_minus_one, part.event));
    sum = sum + Interval(part.count) * divergence;
  }
  return sum;
}

std::vector<Rational> CommonOrders() {
  std::vector<Rational> orders;
  for (int64_t tenths = 11; tenths < 110; ++tenths) orders.push_back({tenths, 10});
  for (int64_t order = 11; order < 64; ++order) orders.push_back({order, 1});
  for (const int64_t order : {128, 256, 512, 1024}) orders.push_back({order, 1});
  return orders;
}

absl::StatusOr<RenyiEpsilon> RenyiEpsilonOnGrid(const Schedule& schedule, const Interval& delta,
                                                const std::vector<Rational>& orders) {
  RenyiEpsilon best{std::numeric_limits<double>::infinity(), 0};
  for (const Rational& order : orders) {
    const Interval order_minus_one = Quotient({order.numerator - order.denominator}, {order.denominator});
    ASSIGN_OR_RETURN(const double epsilon, EpsilonAt(order_minus_one, schedule, delta));
    if (epsilon < best.epsilon) {
      best = {epsilon, static_cast<double>(order.numerator) / static_cast<double>(order.denominator)};
    }
  }
  return best;
}

absl::StatusOr<RenyiEpsilon> RenyiEpsilonOverReals(const Schedule& schedule, const Interval& delta) {
  RETURN_IF_ERROR(EpsilonAt(Interval(1), schedule, delta).status());
  const auto epsilon_at = [&](double log_order) {
    return *EpsilonAt(Interval::OfDouble(std::exp(log_order)), schedule, delta);
  };
  const double log_order = NearMinimum(kLeastLogOrder, kMostLogOrder, kSearchPoints, epsilon_at);
  return RenyiEpsilon{epsilon_at(log_order), 1 + std::exp(log_order)};
}

}  // namespace curator::dp
