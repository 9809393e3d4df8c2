#include "dp/accounting/calculators/renyi.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/search.h"
#include "dp/accounting/divergence.h"

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

namespace {

absl::Status CannotBeZcdp(const Event& mechanism) {
  return absl::FailedPreconditionError("zCDP cannot count " + Describe(mechanism));
}

// The mechanisms for which the tight and the loose form agree.
std::optional<Interval> PlainZcdp(const Event& mechanism) {
  if (const auto* e = std::get_if<ZcdpEvent>(&mechanism.what)) return Interval::Of(e->rho);
  const std::optional<Interval> squared_mu = SquaredMuOf(mechanism);
  if (squared_mu) return *squared_mu / Interval(2);
  return std::nullopt;
}

absl::StatusOr<Interval> TightZcdpOf(const Event& mechanism) {
  if (const std::optional<Interval> plain = PlainZcdp(mechanism)) return *plain;
  if (const auto* e = std::get_if<DiscreteLaplaceEvent>(&mechanism.what)) return ZcdpOfDiscreteLaplace(*e);
  const std::optional<Interval> epsilon = EpsilonOf(mechanism);
  if (!epsilon) return CannotBeZcdp(mechanism);
  if (std::holds_alternative<LaplaceEvent>(mechanism.what)) return ZcdpOfContinuousLaplace(*epsilon);
  if (std::holds_alternative<ExponentialMechanismEvent>(mechanism.what)) return ZcdpOfBoundedRange(*epsilon);
  return ZcdpOfPure(*epsilon);
}

absl::StatusOr<Interval> LooseZcdpOf(const Event& mechanism) {
  if (const std::optional<Interval> plain = PlainZcdp(mechanism)) return *plain;
  const std::optional<Interval> epsilon = EpsilonOf(mechanism);
  if (!epsilon) return CannotBeZcdp(mechanism);
  const bool bounded_range = std::holds_alternative<ExponentialMechanismEvent>(mechanism.what);
  return *epsilon * *epsilon / Interval(bounded_range ? 8 : 2);
}

template <typename Function>
absl::StatusOr<Interval> Sum(const Schedule& schedule, const Function& rho_of) {
  Interval sum(0);
  for (const CountedEvent& part : schedule) {
    ASSIGN_OR_RETURN(const Interval rho, rho_of(part.event));
    sum = sum + Interval(part.count) * rho;
  }
  return sum;
}

Interval LogOfInverse(const Interval& delta) {
  return -Log(delta);
}

}  // namespace

absl::StatusOr<Interval> TightZcdp(const Schedule& schedule) {
  return Sum(schedule, TightZcdpOf);
}
absl::StatusOr<Interval> LooseZcdp(const Schedule& schedule) {
  return Sum(schedule, LooseZcdpOf);
}

double LooseZcdpEpsilon(const Interval& rho, const Interval& delta) {
  return (rho + Interval(2) * Sqrt(rho * LogOfInverse(delta))).Upper();
}

double ZcdpDelta(const Interval& rho, const Interval& epsilon) {
  // The logarithm's derivative, (2 alpha - 1) rho - epsilon + ln(1 - 1/alpha), rises through 0 at the best
  // order.
  Interval low(-90);
  Interval high(90);
  for (int i = 0; i < 72; ++i) {
    const Interval middle = ((low + high) / Interval(2)).Midpoint();
    const Interval x = Exp(middle);  // alpha - 1
    const Interval slope = (Interval(2) * x + Interval(1)) * rho - epsilon + Log(x) - Log1p(x);
    (Interval(0).CertainlyAbove(slope) ? low : high) = middle;
  }
  const Interval x = Exp(low).Midpoint();
  const Interval alpha = x + Interval(1);
  const Interval log_delta = x * (alpha * rho - epsilon) + alpha * (Log(x) - Log1p(x)) - Log(x);
  return std::min(Exp(log_delta).Upper(), 1.0);
}

double LooseZcdpBudget(const Interval& epsilon, const Interval& delta) {
  const Interval log_inverse = LogOfInverse(delta);
  const Interval root = epsilon / (Sqrt(log_inverse + epsilon) + Sqrt(log_inverse));
  return (root * root).Lower();
}

double GaussianSigmaOfZcdp(double rho) {
  return (Interval(1) / Sqrt(Interval(2) * Interval::OfDouble(rho))).Upper();
}

}  // namespace curator::dp
