// Source: McSherry, Talwar 2007, "Mechanism Design via Differential Privacy"; drawn by inversion with lazy
// bits.
//
// With m the largest score, w_i = exp(-factor (m - s_i)) in (0, 1] and C_i = w_0 + ... + w_i: one uniform
// real U, and the answer is the i with C_{i-1} <= U C_{n-1} < C_i, which has probability w_i / C_{n-1}.
//
// Exactness. Every w_i is known as an integer interval [lower_i, lower_i + width] in some unit, U as an
// interval, and an answer is given only when it is the same for all values in them; otherwise U gets another
// word and the weights get as many more bits. Rejection from a uniform proposal would be exact too, but its
// time reveals how the scores are spread; here the first, almost always last, round does the same work for
// all scores.
//
// Range. m - s_i < 2^64 and factor = a/b with a, b < 2^63: exact as rationals, and in the first round in
// fixed point that saturates where w_i is below its unit (fixed_point_exp.h). Sums: at most 2^28 weights of
// at most 2^63 + width fit 128 bits.
#include "dp/noise/exponential_mechanism.h"

#include <gmpxx.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/noise/bit_source.h"
#include "dp/noise/exact_uniform.h"
#include "dp/noise/fixed_point_exp.h"

namespace curator::dp {
namespace {

// exp(-factor gap) in units of 2^-63: at least what LowerWeight() says, and at most kWeightWidth units more.
constexpr uint64_t kWeightWidth = 2 * (kExpError + 32 * LinearExponent::kError);

// Without a branch on the gap, so that its time does not reveal scores.
uint64_t LowerWeight(const LinearExponent& exponent, uint64_t gap) {
  constexpr uint64_t kError = kWeightWidth / 2;
  const uint64_t weight = ExpOfMinus(exponent(gap));
  return (weight - kError) & (0 - static_cast<uint64_t>(weight > kError));
}

// The i with C_{i-1} <= U C_{n-1} < C_i, if it is the same for all sums C that lie within `lower` and `upper`
// (both rise) and all U that begin with the bits drawn so far.
std::optional<size_t> Invert(const ExactUniform& uniform, std::span<const mpz_class> lower,
                             std::span<const mpz_class> upper) {
  const mpz_class from = uniform.prefix() * lower.back();         // times 2^-bit_count: from <= U C
  const mpz_class below = (uniform.prefix() + 1) * upper.back();  // U C < below
  for (size_t i = 0; i < lower.size(); ++i) {
    if ((lower[i] << uniform.bit_count()) < below) continue;
    const mpz_class before = i == 0 ? mpz_class(0) : upper[i - 1];
    if ((before << uniform.bit_count()) > from) return std::nullopt;
    return i;
  }
  return std::nullopt;
}

// All ones or zero: choices by masks take the same time either way, so that time does not reveal the scores.
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

// Blocks are drawn from enclosures L_b <= W_b <= H_b. The first enclosure is the product of two factors, each
// to at least 63 bits: the block's sum of weights relative to its own largest score, and the exponential of
// the distance from that score to the largest of all. Where that leaves the choice open, the weights of all
// candidates are summed in as many bits as U has, and 64 more.

namespace {

mpz_class BigInteger(Uint128 value) {
  mpz_class result(static_cast<uint64_t>(value >> 64));
  result <<= 64;
  return result + mpz_class(static_cast<uint64_t>(value));
}

// largest - score, without overflow.
uint64_t Gap(int64_t largest, int64_t score) {
  return static_cast<uint64_t>(largest) - static_cast<uint64_t>(score);
}

// exp(-factor gap) with `bits` fraction bits.
ExpEnclosure Weight(Rational factor, uint64_t gap, unsigned bits) {
  mpq_class exponent(mpz_class(factor.numerator) * mpz_class(gap), mpz_class(factor.denominator));
  exponent.canonicalize();
  return EncloseExpOfMinus(exponent, bits);
}

// Cumulative sums over blocks.
struct Sums {
  std::vector<mpz_class> lower;
  std::vector<mpz_class> upper;

  void Add(const mpz_class& least, const mpz_class& most) {
    lower.push_back(lower.empty() ? least : lower.back() + least);
    upper.push_back(upper.empty() ? most : upper.back() + most);
  }
};

}  // namespace

absl::StatusOr<BlockwiseSelection> BlockwiseSelection::Create(size_t blocks, Scores scores, Rational factor) {
  if (factor.numerator < 0 || factor.denominator <= 0)
    return InvalidField("factor", "must be a quotient n/d with n >= 0 and d > 0");
  BlockwiseSelection selection(blocks, std::move(scores), factor);
  size_t candidates = 0;
  for (size_t block = 0; block < blocks; ++block) {
    RETURN_IF_ERROR(selection.Rescore(block));
    candidates += selection.blocks_[block].candidates;
    if (candidates > kMaxCandidates) return InvalidField("scores", "must be at most 2^28 of them");
  }
  if (candidates == 0) return InvalidField("scores", "must be at least one");
  return selection;
}

absl::Status BlockwiseSelection::Rescore(size_t block) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> scores, scores_(block));
  Block summary{.candidates = scores.size()};
  if (!scores.empty()) {
    summary.largest = scores.front();
    for (const int64_t score : scores) summary.largest = std::max(summary.largest, score);
    const LinearExponent exponent(static_cast<uint64_t>(factor_.numerator),
                                  static_cast<uint64_t>(factor_.denominator));
    for (const int64_t score : scores) summary.lower += LowerWeight(exponent, Gap(summary.largest, score));
  }
  blocks_[block] = summary;
  return absl::OkStatus();
}

int64_t BlockwiseSelection::Largest() const {
  std::optional<int64_t> largest;
  for (const Block& block : blocks_) {
    if (block.candidates > 0) largest = std::max(largest.value_or(block.largest), block.largest);
  }
  return largest.value_or(0);
}

absl::StatusOr<size_t> BlockwiseSelection::DrawBlock(BitSource& bits) const {
  const int64_t largest = Largest();
  BitBuffer buffer(bits, 1);
  ExactUniform uniform(buffer, buffer.NextWord());
  Sums sums;
  for (const Block& block : blocks_) {
    if (block.candidates == 0) {
      sums.Add(0, 0);
      continue;
    }
    const ExpEnclosure scale = Weight(factor_, Gap(largest, block.largest), 128);
    const Uint128 most = block.lower + static_cast<Uint128>(kWeightWidth) * block.candidates;
    sums.Add(scale.lower * BigInteger(block.lower), scale.upper * BigInteger(most));
  }
  if (const std::optional<size_t> choice = Invert(uniform, sums.lower, sums.upper)) return *choice;
  while (true) {
    uniform.DrawAnotherWord();
    sums = {};
    for (size_t block = 0; block < blocks_.size(); ++block) {
      ASSIGN_OR_RETURN(const std::vector<int64_t> scores, scores_(block));
      mpz_class lower;
      mpz_class upper;
      for (const int64_t score : scores) {
        const ExpEnclosure weight = Weight(factor_, Gap(largest, score), uniform.bit_count() + 64);
        lower += weight.lower;
        upper += weight.upper;
      }
      sums.Add(lower, upper);
    }
    if (const std::optional<size_t> choice = Invert(uniform, sums.lower, sums.upper)) return *choice;
  }
}

absl::StatusOr<BlockChoice> BlockwiseSelection::Draw(BitSource& bits) const {
  if (std::ranges::all_of(blocks_, [](const Block& block) { return block.candidates == 0; }))
    return InvalidField("scores", "must be at least one");
  BlockChoice choice;
  ASSIGN_OR_RETURN(choice.block, DrawBlock(bits));
  ASSIGN_OR_RETURN(const std::vector<int64_t> scores, scores_(choice.block));
  ASSIGN_OR_RETURN(choice.index, DrawExponential(bits, scores, factor_));
  return choice;
}

}  // namespace curator::dp
