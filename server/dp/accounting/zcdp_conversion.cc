#include "dp/accounting/zcdp_conversion.h"

namespace curator::dp {
namespace {

// Halvings of an interval of ln(alpha - 1): more than a double could tell apart, and the result is only
// second-order sensitive to the order.
constexpr int kHalvings = 140;

// The root in x = alpha - 1 > 0 of a falling function whose sign `is_positive`, called with x and ln x,
// tells.
template <typename Predicate>
Interval RootOfFalling(const Predicate& is_positive) {
  Interval low(-90);  // e^-90 < 1e-39 and e^90 > 1e39: orders beyond these are of no use with 1e-18 <= delta
  Interval high(90);
  for (int i = 0; i < kHalvings; ++i) {
    const Interval log_x = ((low + high) / Interval(2)).Midpoint();
    (is_positive(Exp(log_x), log_x) ? low : high) = log_x;
  }
  return Exp(low).Midpoint();
}

}  // namespace

Interval ConversionPenalty(const Interval& order_minus_one, const Interval& delta) {
  const Interval log_order = Log1p(order_minus_one);
  return -(Log(delta) + log_order) / order_minus_one + Log(order_minus_one) - log_order;
}

Interval BestOrderMinusOneForRho(const Interval& rho, const Interval& delta) {
  const Interval target = -Log(delta);
  return RootOfFalling(
      [&](const Interval& x, const Interval&) { return target.CertainlyAbove(rho * x * x + Log1p(x)); });
}

Interval BestOrderMinusOneForEpsilon(const Interval& epsilon, const Interval& delta) {
  // With rho = M/(alpha-1)^2, M = ln(1/(alpha delta)):
  //   epsilon = M (2 alpha - 1)/(alpha-1)^2 + ln(1 - 1/alpha), falling.
  const Interval log_inverse = -Log(delta);
  return RootOfFalling([&](const Interval& x, const Interval& log_x) {
    const Interval log_order = Log1p(x);
    const Interval excess = log_inverse - log_order;
    const Interval value = excess * (Interval(2) * x + Interval(1)) / (x * x) + log_x - log_order;
    return value.CertainlyAbove(epsilon);
  });
}

Interval EpsilonOfZcdp(const Interval& rho, const Interval& delta) {
  const Interval x = BestOrderMinusOneForRho(rho, delta);
  const Interval epsilon = (x + Interval(1)) * rho + ConversionPenalty(x, delta);
  return Interval(0).CertainlyAbove(epsilon) ? Interval(0) : epsilon;
}

Interval LargestZcdp(const Interval& epsilon, const Interval& delta) {
  const Interval x = BestOrderMinusOneForEpsilon(epsilon, delta);
  return (epsilon - ConversionPenalty(x, delta)) / (x + Interval(1));
}

}  // namespace curator::dp
