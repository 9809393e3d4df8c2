// The exact exponential mechanism over more candidates than are held at once: their scores come block by
// block.
//
// Source: McSherry, Talwar 2007. With w_i = exp(factor score_i) and W_b their sum over block b, block b is
// drawn with probability W_b / sum of W, and candidate i of it with probability w_i / W_b: together w_i / sum
// of w, exactly. Both draws are by inversion with lazy bits, as DrawExponential() is; the first one from
// enclosures of the W_b, which are refined, by asking for all scores again, until they settle it (probability
// below 2^-30 at 2^24 candidates).
//
// The time of a draw is not independent of the scores: the sums over blocks are numbers of GMP, whose length
// and work follow from them, and once in 2^30 draws all are computed again. Whoever may learn of the scores
// from the clock must not be able to time a draw by itself.
//
// Not thread-safe. Holds 48 bytes a block, about 100 more while a block is drawn and, while one is looked at,
// 24 bytes for each of its candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/int128.h"
#include "dp/accounting/units.h"
#include "dp/noise/bit_source.h"

namespace curator::dp {

struct BlockChoice {
  size_t block = 0;
  size_t index = 0;  // in it
  bool operator==(const BlockChoice&) const = default;
};

class BlockwiseSelection {
 public:
  // The scores of a block: the same whenever asked, until Rescore() is told otherwise. A block may have none.
  using Scores = std::function<absl::StatusOr<std::vector<int64_t>>(size_t block)>;

  // Asks for each block once. Errors: INVALID_ARGUMENT, naming "scores" when there are none or more than
  // kMaxCandidates, or "factor" for a negative numerator or a denominator that is not positive; those of
  // `scores`.
  static absl::StatusOr<BlockwiseSelection> Create(size_t blocks, Scores scores, Rational factor);

  // A candidate with probability exp(factor * its score) / the sum over all. Asks for its block once more.
  // Errors: INVALID_ARGUMENT when no candidate is left; those of `scores`.
  absl::StatusOr<BlockChoice> Draw(BitSource& bits) const;

  // The scores of this block are others now.
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
