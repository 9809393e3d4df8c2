// The units in which privacy is counted, integers so that every machine and compiler decides alike, and
// integer arithmetic that returns an error instead of wrapping.
//
// Epsilon and Rho count steps of 1e-12, Delta steps of 1e-18; all fit an int64. The types are distinct and do
// not convert into each other. Thread-safe: plain values and pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/int128.h"

namespace curator::dp {

// A quotient of integers, numerator >= 0, denominator > 0. Not kept in lowest terms unless Reduced() made it;
// equal when the values are.
struct Rational {
  int64_t numerator = 0;
  int64_t denominator = 1;

  constexpr bool operator==(const Rational& other) const {
    return static_cast<Int128>(numerator) * other.denominator ==
           static_cast<Int128>(other.numerator) * denominator;
  }
};

// The same value in lowest terms; a value out of range is returned unchanged.
Rational Reduced(Rational value);

// One amount of a kind that `Tag` names. Never negative when made by Parse().
template <typename Tag>
class Amount {
 public:
  static constexpr int kDecimals = Tag::kDecimals;

  constexpr Amount() = default;
  constexpr explicit Amount(int64_t units) : units_(units) {}

  // Reads a decimal ("0.1", "3", "2.5e-3") exactly. Errors: INVALID_ARGUMENT, naming `field`, for text that
  // is no decimal, NaN or infinity, a negative amount, an amount finer than one unit, or one beyond int64.
  // Zero is accepted.
  static absl::StatusOr<Amount> Parse(std::string_view text, std::string_view field);

  // The decimal, without needless zeros, that Parse() reads back as the same amount; below 0.0001 as
  // "2.5e-6".
  std::string ToString() const;

  constexpr int64_t units() const { return units_; }
  auto operator<=>(const Amount&) const = default;

 private:
  int64_t units_ = 0;
};

struct EpsilonTag {
  static constexpr int kDecimals = 12;
};
struct RhoTag {
  static constexpr int kDecimals = 12;
};
struct DeltaTag {
  static constexpr int kDecimals = 18;
};

// `units` steps of 10^-decimals as ToString() writes them.
std::string DecimalText(int64_t units, int decimals);

using Epsilon = Amount<EpsilonTag>;
using Rho = Amount<RhoTag>;
using Delta = Amount<DeltaTag>;

inline constexpr int64_t kEpsilonUnitsPerOne = 1'000'000'000'000;
inline constexpr int64_t kRhoUnitsPerOne = 1'000'000'000'000;
inline constexpr int64_t kDeltaUnitsPerOne = 1'000'000'000'000'000'000;

// a + b, and a * b. Errors: OUT_OF_RANGE when the result does not fit 64 bits.
inline absl::StatusOr<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return absl::OutOfRangeError("a cost does not fit 64 bits");
  return sum;
}

inline absl::StatusOr<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return absl::OutOfRangeError("a cost does not fit 64 bits");
  return product;
}

}  // namespace curator::dp
