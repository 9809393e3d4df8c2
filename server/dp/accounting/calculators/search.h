// Searches over doubles. Thread-safe: pure functions.
#pragma once

#include <cmath>
#include <limits>

namespace curator::dp {

// The least positive double, to about 50 bits, at which `holds` is true, when it is false below and true
// above some point; `guess` > 0 only makes it faster. `holds` was true at the returned value, so
// a certifying predicate makes a certified answer. Infinity when it holds nowhere up to 1e300; 1e-300 when it
// holds everywhere above.
template <typename Predicate>
double LeastPositive(double guess, const Predicate& holds) {
  double low = guess;
  double high = guess;
  double factor = 1 + 0x1p-40;
  if (holds(guess)) {
    do {
      high = low;
      low /= factor;
      factor = std::fmin(factor * factor, 1e10);
      if (low < 1e-300) return high;
    } while (holds(low));
  } else {
    do {
      low = high;
      high *= factor;
      factor = std::fmin(factor * factor, 1e10);
      if (high > 1e300) return std::numeric_limits<double>::infinity();
    } while (!holds(high));
  }
  while (high - low > high * 0x1p-50) {
    const double middle = high / low > 4 ? std::sqrt(low) * std::sqrt(high) : low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

// A point near the minimum of `value` over [low, high]: the best of `points` equally spaced ones, refined by
// golden section around it. Any answer is a point of the interval; it is the minimum when `value` falls and
// then rises near the best point.
template <typename Function>
double NearMinimum(double low, double high, int points, const Function& value) {
  const double step = (high - low) / points;
  double best = low;
  double best_value = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= points; ++i) {
    const double x = low + step * i;
    const double y = value(x);
    if (y < best_value) {
      best = x;
      best_value = y;
    }
  }
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = std::fmax(low, best - step);
  double b = std::fmin(high, best + step);
  double c = b - golden * (b - a);
  double d = a + golden * (b - a);
  double value_c = value(c);
  double value_d = value(d);
  while (b - a > 1e-7) {
    if (value_c <= value_d) {
      b = d;
      d = c;
      value_d = value_c;
      c = b - golden * (b - a);
      value_c = value(c);
    } else {
      a = c;
      c = d;
      value_c = value_d;
      d = a + golden * (b - a);
      value_d = value(d);
    }
  }
  const double refined = (a + b) / 2;
  return value(refined) <= best_value ? refined : best;
}

}  // namespace curator::dp
