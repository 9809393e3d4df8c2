#include "dp/accounting/divergence.h"

namespace curator::dp {
namespace {

// The largest sum of a convex function of the shift, 0 at 0, over integer vectors within both sensitivities.
template <typename Function>
Interval WorstOverShifts(const DiscreteLaplaceEvent& event, const Function& of_shift) {
  const int64_t full = event.l1_sensitivity / event.linf_sensitivity;
  const int64_t rest = event.l1_sensitivity % event.linf_sensitivity;
  Interval sum = Interval(full) * of_shift(event.linf_sensitivity);
  if (rest != 0) sum = sum + of_shift(rest);
  return sum;
}

// r - 1 - ln r with r = eta/(e^eta - 1); NaN at eta = 0, where the other bounds are 0.
Interval MeanLossOfBoundedRange(const Interval& range) {
  const Interval ratio = range / Expm1(range);
  return ratio - Interval(1) - Log(ratio);
}

// alpha/(2 alpha - 1) and the like need both.
struct Order {
  Interval minus_one;
  Interval twice_minus_one;
  explicit Order(const Interval& order_minus_one)
      : minus_one(order_minus_one), twice_minus_one(Interval(2) * order_minus_one + Interval(1)) {}
};

}  // namespace

Interval ZcdpOfPure(const Interval& epsilon) {
  return epsilon * Tanh(epsilon / Interval(2));
}

Interval ZcdpOfBoundedRange(const Interval& range) {
  return TighterUpperBound(MeanLossOfBoundedRange(range), range * range / Interval(8));
}

Interval ZcdpOfContinuousLaplace(const Interval& epsilon) {
  return epsilon + Expm1(-epsilon);
}

Interval ZcdpOfDiscreteLaplace(const DiscreteLaplaceEvent& event) {
  const Interval rate = Quotient({event.scale.denominator}, {event.scale.numerator});  // 1/s
  const Interval slope = rate / Sinh(rate);
  const Interval by_coordinate = WorstOverShifts(event, [&](int64_t shift) {
    const Interval epsilon = Interval(shift) * rate;
    return epsilon + slope * Expm1(-epsilon);
  });
  return TighterUpperBound(by_coordinate, ZcdpOfPure(Interval(event.l1_sensitivity) * rate));
}

Interval RenyiOfPure(const Interval& order_minus_one, const Interval& epsilon) {
  // ln((e^(alpha eps) + e^((1 - alpha) eps)) / (1 + e^eps)) / (alpha - 1), with e^((alpha - 1) eps) taken
  // out.
  const Order order(order_minus_one);
  const Interval correction = Log1p(Exp(-(order.twice_minus_one * epsilon))) - Log1p(Exp(-epsilon));
  return TighterUpperBound(epsilon + correction / order.minus_one, epsilon);
}

Interval RenyiOfLaplace(const Interval& order_minus_one, const Interval& epsilon) {
  // ln(alpha/(2 alpha - 1) e^((alpha - 1) eps) + (alpha - 1)/(2 alpha - 1) e^(-alpha eps)) / (alpha - 1),
  // likewise.
  const Order order(order_minus_one);
  const Interval alpha = order.minus_one + Interval(1);
  const Interval mass =
      (alpha + order.minus_one * Exp(-(order.twice_minus_one * epsilon))) / order.twice_minus_one;
  return TighterUpperBound(epsilon + Log(mass) / order.minus_one, epsilon);
}

Interval RenyiOfBoundedRange(const Interval& order_minus_one, const Interval& range) {
  const Interval spread = order_minus_one * range * range / Interval(8);
  return TighterUpperBound(MeanLossOfBoundedRange(range) + spread, range);
}

Interval RenyiOfDiscreteLaplace(const Interval& order_minus_one, const DiscreteLaplaceEvent& event) {
  // With t = 1/s, q = e^-t, w = e^(-(2 alpha - 1) t), the integers up to 0, between, and from D on contribute
  // geometric sums; together
  //   ((1-q)/(1+q)) [ e^((alpha-1) t D) (1/(1-q) + w/(1-w)) + e^(-alpha t D) (1/(1-q) - 1/(1-w)) ].
  // Both coefficients are positive, so its logarithm is convex in D.
  const Order order(order_minus_one);
  const Interval rate = Quotient({event.scale.denominator}, {event.scale.numerator});
  const Interval one_minus_q = -Expm1(-rate);
  const Interval one_minus_w = -Expm1(-(order.twice_minus_one * rate));
  const Interval normalizer = one_minus_q / (Interval(2) - one_minus_q);
  const Interval rising = Interval(1) / one_minus_q + (Interval(1) - one_minus_w) / one_minus_w;
  const Interval falling = Interval(1) / one_minus_q - Interval(1) / one_minus_w;
  const Interval by_coordinate = WorstOverShifts(event, [&](int64_t shift) {
    const Interval epsilon = Interval(shift) * rate;
    const Interval mass = normalizer * (rising + falling * Exp(-(order.twice_minus_one * epsilon)));
    return TighterUpperBound(epsilon + Log(mass) / order.minus_one, epsilon);
  });
  const Interval whole = Interval(event.l1_sensitivity) * rate;
  return TighterUpperBound(by_coordinate, RenyiOfPure(order_minus_one, whole));
}

namespace {

// Halvings of an interval of ln(alpha - 1): finer than a double resolves; the result depends on the order
// only to second order.
constexpr int kHalvings = 140;

// The root in x = alpha - 1 > 0 of a falling function; `is_positive`, called with x and ln x, gives its sign.
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
