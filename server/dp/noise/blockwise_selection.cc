// Blocks are drawn from enclosures L_b <= W_b <= H_b. A first one is had from each block's sum of weights
// relative to its own largest score and the exponential of how far that is below the largest of all; both in
// at least 63 bits. Where that leaves the choice open, the weights of all candidates are summed in as many
// bits as U has, and 64 more.
#include "dp/noise/blockwise_selection.h"

#include <gmpxx.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/noise/bit_buffer.h"
#include "dp/noise/exact_choice.h"
#include "dp/noise/exponential_mechanism.h"

namespace curator::dp {
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

// exp(-factor gap) with so many bits behind the point.
ExpEnclosure Weight(Rational factor, uint64_t gap, unsigned bits) {
  mpq_class exponent(mpz_class(factor.numerator) * mpz_class(gap), mpz_class(factor.denominator));
  exponent.canonicalize();
  return EncloseExpOfMinus(exponent, bits);
}

// Sums over blocks, so far.
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
