// The exact exponential mechanism over integer scores: selection with probability proportional to
// exp(factor * score), over scores in memory or over scores that are computed block by block.
//
// Source: McSherry, Talwar 2007, "Mechanism Design via Differential Privacy". DrawExponential() is
// thread-safe for distinct `bits`; a BlockwiseSelection is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/int128.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"

namespace curator::dp {

inline constexpr size_t kMaxCandidates = size_t{1} << 28;

// The index i with probability exp(factor * scores[i]) / sum over j of exp(factor * scores[j]), exactly,
// whatever the gaps: any int64 scores, any rational factor >= 0 (0: uniform). Ties are equally likely.
//
// For scores of sensitivity D, factor = epsilon / (2 D) makes the selection epsilon-DP (McSherry, Talwar
// 2007), and factor = epsilon / D suffices where every score moves in the same direction.
//
// Time and memory are linear in the number of candidates, and (but for an event of probability below 2^-20 at
// 10^6 candidates) the same for all scores. Errors: INVALID_ARGUMENT, naming "scores" when there are none or
// more than kMaxCandidates, or "factor" for a negative numerator or a denominator that is not positive.
absl::StatusOr<size_t> DrawExponential(BitSource& bits, std::span<const int64_t> scores, Rational factor);

struct BlockChoice {
  size_t block = 0;
  size_t index = 0;  // in it
  bool operator==(const BlockChoice&) const = default;
};

// The exact exponential mechanism over more candidates than are held at once: their scores are computed block
// by block.
//
// With w_i = exp(factor score_i) and W_b their sum over block b, block b is
// drawn with probability W_b / sum of W, and candidate i of it with probability w_i / W_b: together w_i / sum
// of w, exactly. Both draws are by inversion with lazy bits, as DrawExponential() is; the first one from
// enclosures of the W_b. Where these leave the choice open (probability below 2^-30 at 2^24 candidates), all
// scores are computed again for narrower ones.
//
// The time of a draw depends on the scores: the sums over blocks are GMP integers, whose length and work
// follow from them, and once in 2^30 draws all are computed again. An observer from whom the scores must be
// hidden must not be able to time a single draw.
//
// Memory: 48 bytes a block, about 100 more while a block is drawn, and 24 bytes for each candidate of the
// block that is being scored.
class BlockwiseSelection {
 public:
  // The scores of a block: the same at every call, until Rescore() announces a change. A block may have none.
  using Scores = std::function<absl::StatusOr<std::vector<int64_t>>(size_t block)>;

  // Computes the scores of each block once. Errors: INVALID_ARGUMENT, naming "scores" when there are none or
  // more than kMaxCandidates, or "factor" for a negative numerator or a denominator that is not positive;
  // those of `scores`.
  static absl::StatusOr<BlockwiseSelection> Create(size_t blocks, Scores scores, Rational factor);

  // A candidate with probability exp(factor * its score) / the sum over all. Computes the scores of its block
  // once more.
  // Errors: INVALID_ARGUMENT when no candidate is left; those of `scores`.
  absl::StatusOr<BlockChoice> Draw(BitSource& bits) const;

  // Recomputes the summary of a block whose scores have changed. Errors: those of `scores`.
  absl::Status Rescore(size_t block);

 private:
  // W_b exp(-factor largest) lies within lower .. lower + candidates * kWeightWidth, in units of 2^-63.
  struct Block {
    int64_t largest = 0;
    Uint128 lower = 0;
    size_t candidates = 0;
  };

  BlockwiseSelection(size_t blocks, Scores scores, Rational factor)
      : scores_(std::move(scores)), factor_(factor), blocks_(blocks) {}

  absl::StatusOr<size_t> DrawBlock(BitSource& bits) const;
  int64_t Largest() const;

  Scores scores_;
  Rational factor_;
  std::vector<Block> blocks_;
};

}  // namespace curator::dp
