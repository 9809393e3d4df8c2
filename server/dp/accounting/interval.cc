#include "dp/accounting/interval.h"

#include <limits>

#include "absl/status/status.h"

namespace curator::dp {
namespace {

constexpr mpfr_prec_t kPrecisionBits = 320;

// MPFR caches constants per thread; each thread frees them when it ends.
struct ConstantsOfThisThread {
  ~ConstantsOfThisThread() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  void Use() const {}
};
thread_local const ConstantsOfThisThread constants_of_this_thread;

// mpfr_min and mpfr_max prefer a number to a NaN; here a NaN must survive.
void KeepLower(mpfr_t best, const mpfr_t candidate) {
  if (mpfr_nan_p(candidate) || mpfr_less_p(candidate, best)) mpfr_set(best, candidate, MPFR_RNDD);
}
void KeepUpper(mpfr_t best, const mpfr_t candidate) {
  if (mpfr_nan_p(candidate) || mpfr_greater_p(candidate, best)) mpfr_set(best, candidate, MPFR_RNDU);
}

absl::StatusOr<int64_t> ToInt64(mpfr_t value) {
  if (mpfr_nan_p(value)) return absl::OutOfRangeError("an amount is not a number");
  if (mpfr_sgn(value) < 0) return absl::OutOfRangeError("an amount is negative");
  if (mpfr_cmp_ui_2exp(value, 1, 63) >= 0) return absl::OutOfRangeError("an amount does not fit 64 bits");
  return static_cast<int64_t>(mpfr_get_ui(value, MPFR_RNDZ));
}

}  // namespace

static_assert(sizeof(unsigned long) == sizeof(int64_t));

Interval::Interval() {
  constants_of_this_thread.Use();
  mpfr_init2(lower_, kPrecisionBits);
  mpfr_init2(upper_, kPrecisionBits);
}

Interval::Interval(int64_t value) : Interval() {
  mpfr_set_si(lower_, value, MPFR_RNDD);
  mpfr_set_si(upper_, value, MPFR_RNDU);
}

Interval::Interval(const Interval& other) : Interval() {
  *this = other;
}

Interval& Interval::operator=(const Interval& other) {
  if (this == &other) return *this;
  mpfr_set(lower_, other.lower_, MPFR_RNDD);
  mpfr_set(upper_, other.upper_, MPFR_RNDU);
  return *this;
}

Interval::~Interval() {
  mpfr_clear(lower_);
  mpfr_clear(upper_);
}

Interval Interval::Of(Rational value) {
  return Interval(value.numerator) / Interval(value.denominator);
}

Interval Interval::OfDouble(double value) {
  Interval result;
  mpfr_set_d(result.lower_, value, MPFR_RNDD);
  mpfr_set_d(result.upper_, value, MPFR_RNDU);
  return result;
}

Interval Interval::Pi() {
  Interval result;
  mpfr_const_pi(result.lower_, MPFR_RNDD);
  mpfr_const_pi(result.upper_, MPFR_RNDU);
  return result;
}

Interval Interval::ZeroUpTo(const Interval& bound) {
  Interval result = bound;
  if (!bound.IsNan()) mpfr_set_zero(result.lower_, 1);
  return result;
}

Interval operator+(const Interval& a, const Interval& b) {
  Interval result;
  mpfr_add(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_add(result.upper_, a.upper_, b.upper_, MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a, const Interval& b) {
  Interval result;
  mpfr_sub(result.lower_, a.lower_, b.upper_, MPFR_RNDD);
  mpfr_sub(result.upper_, a.upper_, b.lower_, MPFR_RNDU);
  return result;
}

Interval operator-(const Interval& a) {
  return Interval(0) - a;
}

Interval operator*(const Interval& a, const Interval& b) {
  Interval result;
  if (mpfr_sgn(a.lower_) > 0 && mpfr_sgn(b.lower_) > 0) {  // the common case needs no corners
    mpfr_mul(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
    mpfr_mul(result.upper_, a.upper_, b.upper_, MPFR_RNDU);
    return result;
  }
  Interval corner;
  mpfr_mul(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_mul(result.upper_, a.lower_, b.lower_, MPFR_RNDU);
  const auto consider = [&](const mpfr_t x, const mpfr_t y) {
    mpfr_mul(corner.lower_, x, y, MPFR_RNDD);
    mpfr_mul(corner.upper_, x, y, MPFR_RNDU);
    KeepLower(result.lower_, corner.lower_);
    KeepUpper(result.upper_, corner.upper_);
  };
  consider(a.lower_, b.upper_);
  consider(a.upper_, b.lower_);
  consider(a.upper_, b.upper_);
  return result;
}

Interval operator/(const Interval& a, const Interval& b) {
  Interval inverse;
  if (b.IsNan() || (mpfr_sgn(b.lower_) <= 0 && mpfr_sgn(b.upper_) >= 0)) return inverse;  // NaN
  Interval result;
  Interval corner;
  mpfr_div(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_div(result.upper_, a.lower_, b.lower_, MPFR_RNDU);
  const auto consider = [&](const mpfr_t x, const mpfr_t y) {
    mpfr_div(corner.lower_, x, y, MPFR_RNDD);
    mpfr_div(corner.upper_, x, y, MPFR_RNDU);
    KeepLower(result.lower_, corner.lower_);
    KeepUpper(result.upper_, corner.upper_);
  };
  consider(a.lower_, b.upper_);
  consider(a.upper_, b.lower_);
  consider(a.upper_, b.upper_);
  return result;
}

Interval Sqrt(const Interval& a) {
  Interval result;
  mpfr_sqrt(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_sqrt(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Exp(const Interval& a) {
  Interval result;
  mpfr_exp(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_exp(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Expm1(const Interval& a) {
  Interval result;
  mpfr_expm1(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_expm1(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Log(const Interval& a) {
  Interval result;
  mpfr_log(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_log(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Log1p(const Interval& a) {
  Interval result;
  mpfr_log1p(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_log1p(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Sinh(const Interval& a) {
  Interval result;
  mpfr_sinh(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_sinh(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Tanh(const Interval& a) {
  // Near 1 MPFR would look for the first bit below 1, which for large arguments takes a precision as large as
  // they are.
  if (mpfr_cmp_ui(a.lower_, 1) > 0) return Interval(1) - Interval(2) / (Exp(Interval(2) * a) + Interval(1));
  Interval result;
  mpfr_tanh(result.lower_, a.lower_, MPFR_RNDD);
  mpfr_tanh(result.upper_, a.upper_, MPFR_RNDU);
  return result;
}

Interval Erfc(const Interval& a) {  // falling: the ends change places
  Interval result;
  mpfr_erfc(result.lower_, a.upper_, MPFR_RNDD);
  mpfr_erfc(result.upper_, a.lower_, MPFR_RNDU);
  return result;
}

Interval Max(const Interval& a, const Interval& b) {
  if (a.IsNan()) return a;
  if (b.IsNan()) return b;
  Interval result;
  mpfr_max(result.lower_, a.lower_, b.lower_, MPFR_RNDD);
  mpfr_max(result.upper_, a.upper_, b.upper_, MPFR_RNDU);
  return result;
}

Interval Interval::Midpoint() const {
  Interval result;
  mpfr_add(result.lower_, lower_, upper_, MPFR_RNDN);
  mpfr_div_2ui(result.lower_, result.lower_, 1, MPFR_RNDN);
  mpfr_set(result.upper_, result.lower_, MPFR_RNDN);
  return result;
}

bool Interval::IsNan() const {
  return mpfr_nan_p(lower_) || mpfr_nan_p(upper_);
}

bool Interval::CertainlyAtMost(const Interval& other) const {
  return !IsNan() && !other.IsNan() && mpfr_lessequal_p(upper_, other.lower_);
}

bool Interval::CertainlyAbove(const Interval& other) const {
  return !IsNan() && !other.IsNan() && mpfr_greater_p(lower_, other.upper_);
}

absl::StatusOr<int64_t> Interval::RoundedUp() const {
  if (IsNan()) return absl::OutOfRangeError("an amount is not a number");
  Interval integer;
  mpfr_ceil(integer.upper_, upper_);
  return ToInt64(integer.upper_);
}

absl::StatusOr<int64_t> Interval::RoundedDown() const {
  if (IsNan()) return absl::OutOfRangeError("an amount is not a number");
  Interval integer;
  mpfr_floor(integer.lower_, lower_);
  if (mpfr_cmp_ui_2exp(integer.lower_, 1, 63) >= 0) return std::numeric_limits<int64_t>::max();
  return ToInt64(integer.lower_);
}

double Interval::Lower() const {
  return IsNan() ? std::numeric_limits<double>::quiet_NaN() : mpfr_get_d(lower_, MPFR_RNDD);
}

double Interval::Upper() const {
  return IsNan() ? std::numeric_limits<double>::quiet_NaN() : mpfr_get_d(upper_, MPFR_RNDU);
}

const Interval& TighterUpperBound(const Interval& a, const Interval& b) {
  if (a.IsNan()) return b;
  if (b.IsNan()) return a;
  return mpfr_lessequal_p(a.upper_, b.upper_) ? a : b;
}

Interval Quotient(std::initializer_list<int64_t> numerators, std::initializer_list<int64_t> denominators) {
  Interval numerator(1);
  for (const int64_t factor : numerators) numerator = numerator * Interval(factor);
  Interval denominator(1);
  for (const int64_t factor : denominators) denominator = denominator * Interval(factor);
  return numerator / denominator;
}

}  // namespace curator::dp
