// A real number of 600 bits, rounded to nearest: what tests compute with when they check the accountant by
// formulas of their own. It shares nothing with Interval but the library underneath.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <string>

#include "dp/accounting/interval.h"

namespace curator::dp::testing {

class Real {
 public:
  Real() : Real(0.0) {}
  Real(double value) {  // NOLINT: numbers are written as they are in formulas
    mpfr_init2(value_, kBits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Real(const Real& other) {
    mpfr_init2(value_, kBits);
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Real& operator=(const Real& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  static Real OfUnits(int64_t units, int64_t per_one) { return OfInteger(units) / OfInteger(per_one); }
  static Real Of(Rational value) { return OfUnits(value.numerator, value.denominator); }
  static Real OfInteger(int64_t value) {
    Real result;
    mpfr_set_si(result.value_, value, MPFR_RNDN);
    return result;
  }

  double AsDouble() const { return mpfr_get_d(value_, MPFR_RNDN); }
  // The least integer at or above.
  int64_t Ceiling() const { return mpfr_get_si(value_, MPFR_RNDU); }
  int64_t Floor() const { return mpfr_get_si(value_, MPFR_RNDD); }

  friend Real operator+(const Real& a, const Real& b) { return With(a, b, mpfr_add); }
  friend Real operator-(const Real& a, const Real& b) { return With(a, b, mpfr_sub); }
  friend Real operator*(const Real& a, const Real& b) { return With(a, b, mpfr_mul); }
  friend Real operator/(const Real& a, const Real& b) { return With(a, b, mpfr_div); }
  friend Real operator-(const Real& a) { return Real(0) - a; }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator>(const Real& a, const Real& b) { return b < a; }

  friend Real exp(const Real& a) { return With(a, mpfr_exp); }
  friend Real log(const Real& a) { return With(a, mpfr_log); }
  friend Real sqrt(const Real& a) { return With(a, mpfr_sqrt); }
  friend Real erfc(const Real& a) { return With(a, mpfr_erfc); }

 private:
  static constexpr mpfr_prec_t kBits = 600;

  template <typename Function>
  static Real With(const Real& a, const Real& b, const Function& function) {
    Real result;
    function(result.value_, a.value_, b.value_, MPFR_RNDN);
    return result;
  }
  template <typename Function>
  static Real With(const Real& a, const Function& function) {
    Real result;
    function(result.value_, a.value_, MPFR_RNDN);
    return result;
  }

  mpfr_t value_;
};

// The least value of a function that falls and then rises on [low, high], by golden section.
template <typename Function>
Real Minimum(Real low, Real high, const Function& function) {
  const Real golden = (sqrt(Real(5)) - 1) / 2;
  Real c = high - golden * (high - low);
  Real d = low + golden * (high - low);
  Real at_c = function(c);
  Real at_d = function(d);
  for (int i = 0; i < 120; ++i) {
    if (at_c < at_d) {
      high = d;
      d = c;
      at_d = at_c;
      c = high - golden * (high - low);
      at_c = function(c);
    } else {
      low = c;
      c = d;
      at_c = at_d;
      d = low + golden * (high - low);
      at_d = function(d);
    }
  }
  return function((low + high) / 2);
}

}  // namespace curator::dp::testing
