// Source: McSherry, Talwar 2007, "Mechanism Design via Differential Privacy"; drawn by inversion with lazy
// bits.
//
// With m the largest score, w_i = exp(-factor (m - s_i)) in (0, 1] and C_i = w_0 + ... + w_i: one uniform
// real U, and the answer is the i with C_{i-1} <= U C_{n-1} < C_i, which has probability w_i / C_{n-1}.
//
// Exactness. Every w_i is known as an integer interval [lower_i, lower_i + width] in some unit, U as an
// interval, and an answer is given only when it is the same for all values in them; otherwise U gets another
// word and the weights get as many more bits. Rejection from a uniform proposal would be exact too, but its
// time tells how the scores are spread; here the first, almost always last, round does the same work for all
// scores.
//
// Range. m - s_i < 2^64 and factor = a/b with a, b < 2^63: exact as rationals, and in the first round in
// fixed point that saturates where w_i is below its unit (linear_exponent.h). Sums: at most 2^28 weights of
// at most 2^63 + width fit 128 bits.
#include "dp/noise/exponential_mechanism.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/int128.h"
#include "dp/noise/bit_buffer.h"
#include "dp/noise/exact_choice.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/linear_exponent.h"

namespace curator::dp {
namespace {

// All ones or zero: choices by masks take the same time either way, so that time does not tell the scores.
uint64_t Mask(bool condition) {
  return 0 - static_cast<uint64_t>(condition);
}

// The gaps m - s_i, without overflow.
std::vector<uint64_t> GapsToLargest(std::span<const int64_t> scores) {
  int64_t largest = scores.front();
  for (const int64_t score : scores) largest = std::max(largest, score);
  std::vector<uint64_t> gaps(scores.size());
  std::transform(scores.begin(), scores.end(), gaps.begin(), [largest](int64_t score) {
    return static_cast<uint64_t>(largest) - static_cast<uint64_t>(score);
  });
  return gaps;
}

// floor(word * value / 2^64) for value < 2^127.
Uint128 Fraction(uint64_t word, Uint128 value) {
  return word * (value >> 64) + ((static_cast<Uint128>(word) * static_cast<uint64_t>(value)) >> 64);
}

// The answer if the 64 bits of `word` and weights in units of 2^-63 decide it.
std::optional<size_t> DecideInFixedPoint(uint64_t word, std::span<const uint64_t> gaps, Rational factor) {
  const LinearExponent exponent(static_cast<uint64_t>(factor.numerator),
                                static_cast<uint64_t>(factor.denominator));
  std::vector<uint64_t> lower(gaps.size());
  Uint128 total = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    lower[i] = LowerWeight(exponent, gaps[i]);
    total += lower[i];
  }
  const Uint128 total_above = total + static_cast<Uint128>(kWeightWidth) * gaps.size();
  // from <= U C < below, as U lies in [word, word + 1) / 2^64.
  const Uint128 from = Fraction(word, total);
  const Uint128 below = Fraction(word, total_above) + (total_above >> 64) + 2;

  size_t answer = 0;  // the number of i with C_i <= U C, if U C is taken as `below`
  Uint128 sum = 0;
  Uint128 sum_before = 0;  // of the weights of those
  for (const uint64_t weight : lower) {
    sum += weight;
    const uint64_t before = Mask(sum < below);
    answer += before & 1;
    sum_before += weight & before;
  }
  if (answer == gaps.size()) return std::nullopt;
  if (sum_before + static_cast<Uint128>(kWeightWidth) * answer > from) return std::nullopt;
  return answer;
}

// The answer if the bits of U drawn so far and weights of as many bits decide it.
std::optional<size_t> DecideExactly(const ExactUniform& uniform, std::span<const uint64_t> gaps,
                                    Rational factor) {
  const unsigned weight_bits = uniform.bit_count() + 64;
  const mpq_class slope(mpz_class(factor.numerator), mpz_class(factor.denominator));
  std::vector<mpz_class> lower(gaps.size());
  std::vector<mpz_class> upper(gaps.size());  // both summed up
  mpz_class lower_sum;
  mpz_class upper_sum;
  for (size_t i = 0; i < gaps.size(); ++i) {
    mpq_class exponent(slope.get_num() * mpz_class(gaps[i]), slope.get_den());
    exponent.canonicalize();
    const ExpEnclosure weight = EncloseExpOfMinus(exponent, weight_bits);
    lower[i] = lower_sum += weight.lower;
    upper[i] = upper_sum += weight.upper;
  }
  return Invert(uniform, lower, upper);
}

}  // namespace

absl::StatusOr<size_t> DrawExponential(BitSource& bits, std::span<const int64_t> scores, Rational factor) {
  if (scores.empty() || scores.size() > kMaxCandidates) {
    return InvalidField("scores", "must be between 1 and 2^28 of them");
  }
  if (factor.numerator < 0 || factor.denominator <= 0) {
    return InvalidField("factor", "must be a quotient n/d with n >= 0 and d > 0");
  }
  const std::vector<uint64_t> gaps = GapsToLargest(scores);
  BitBuffer buffer(bits, 1);
  const uint64_t word = buffer.NextWord();
  if (const std::optional<size_t> answer = DecideInFixedPoint(word, gaps, factor)) return *answer;
  ExactUniform uniform(buffer, word);
  while (true) {
    uniform.DrawAnotherWord();
    if (const std::optional<size_t> answer = DecideExactly(uniform, gaps, factor)) return *answer;
  }
}

}  // namespace curator::dp
