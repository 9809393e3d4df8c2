// Real numbers enclosed from both sides: every operation rounds its lower end down and its upper end up, so
// the true value is always inside. Limits are therefore safe and costs sufficient, with the same result on
// every machine (MPFR, 320 bits: so a Quotient() of products of up to five int64s rounds to the right
// integer).
//
// Anything undefined (0/0, the logarithm of a negative number, a division by an interval around zero) becomes
// NaN at both ends and stays NaN; the conversions to units refuse it. Thread-safe: values; pure functions.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"

namespace curator::dp {

// An upper bound where no finite one is known.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Interval {
 public:
  explicit Interval(int64_t value);
  Interval(const Interval& other);
  Interval& operator=(const Interval& other);
  ~Interval();

  static Interval Of(Rational value);
  template <typename Tag>
  static Interval Of(Amount<Tag> amount);
  // The exact value of the double; NaN for NaN.
  static Interval OfDouble(double value);
  static Interval Pi();
  // The interval from 0 to the upper end of `bound`: an unknown remainder of at most that.
  static Interval ZeroUpTo(const Interval& bound);

  friend Interval operator+(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a, const Interval& b);
  friend Interval operator*(const Interval& a, const Interval& b);
  friend Interval operator/(const Interval& a, const Interval& b);
  friend Interval operator-(const Interval& a);

  // Of two upper bounds of one quantity, the one with the lower upper end; a NaN never wins over a number.
  friend const Interval& TighterUpperBound(const Interval& a, const Interval& b);

  friend Interval Sqrt(const Interval& a);
  friend Interval Exp(const Interval& a);
  friend Interval Expm1(const Interval& a);  // e^a - 1
  friend Interval Log(const Interval& a);
  friend Interval Log1p(const Interval& a);  // ln(1 + a)
  friend Interval Sinh(const Interval& a);
  friend Interval Tanh(const Interval& a);
  friend Interval Erfc(const Interval& a);  // complementary error function

  friend Interval Max(const Interval& a, const Interval& b);

  // One point in the middle. It does not enclose `this`: for searches whose result is verified afterwards.
  Interval Midpoint() const;

  bool IsNan() const;
  // True when the whole of `this` lies below or at / strictly above the whole of `other`. Both false when
  // undecided.
  bool CertainlyAtMost(const Interval& other) const;
  bool CertainlyAbove(const Interval& other) const;

  // The least integer at or above the upper end; the largest int64 at or below the lower end.
  // Errors: OUT_OF_RANGE when there is none, when it is negative, or when the ends are not numbers.
  absl::StatusOr<int64_t> RoundedUp() const;
  absl::StatusOr<int64_t> RoundedDown() const;

  // The ends as doubles, rounded outward: for reports.
  double Lower() const;
  double Upper() const;

 private:
  Interval();

  mpfr_t lower_;
  mpfr_t upper_;
};

// The product of `numerators` over the product of `denominators`. Costs are computed this way, with the units
// per one among the numerators: a quotient that is an integer is then exactly that integer, not one more.
Interval Quotient(std::initializer_list<int64_t> numerators, std::initializer_list<int64_t> denominators);

template <typename Tag>
Interval Interval::Of(Amount<Tag> amount) {
  int64_t units_per_one = 1;
  for (int i = 0; i < Tag::kDecimals; ++i) units_per_one *= 10;
  return Quotient({amount.units()}, {units_per_one});
}

}  // namespace curator::dp
