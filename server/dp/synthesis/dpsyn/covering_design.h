// Covering designs: few sets of attributes, each of few cells, that together hold every wanted pair or triple
// (Gordon, Kuperberg, Patashnik 1995, for equal sizes).
//
// Made from public facts; the same on every machine. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

struct CoverRequest {
  std::vector<int64_t> sizes;         // of the attributes 0, 1, ...
  std::vector<AttributeSet> targets;  // all of two attributes, or all of three
  int64_t most_cells = 256;           // of a block; a target that has more becomes a block of its own
  size_t most_blocks = 4096;
  int64_t search_steps = 200'000;  // of the local search
  int64_t last_step = INT64_MAX;   // to which the pacer may count
};

// Sets that hold every target, in lexicographic order; empty when they would be more than most_blocks.
// Greedy: a block grows by the attribute that covers most for its size; redundant blocks are removed.
// For pairs of attributes of equal size, the lines of a finite affine plane are tried as well. Then a local
// search: one block is left out, and attributes are exchanged between blocks and the rest, towards targets
// that are not covered, until all are (and the next block is left out) or the steps are used up.
//
// Time and memory are proportional to the steps that are counted: at most a microsecond for 100, and a byte
// for each. Errors: INVALID_ARGUMENT ("workload") for more than request.last_step; CANCELLED as in Pacer.
absl::StatusOr<std::vector<AttributeSet>> CoveringDesign(const CoverRequest& request, Pacer& pacer);

// The fewest blocks of `width` attributes that can hold every `strength` of `attributes`: ceil(v/k ceil(v-1 /
// k-1 ...)) (Schonheim 1964). 1 when the block holds all.
int64_t SchonheimBound(int64_t attributes, int64_t width, int64_t strength);

// Every target, as sets of `strength` (2 or 3) attributes, of which some set of `sets` holds all, in
// lexicographic order; of more than `most` of them, at least `most`. Of three attributes, the sets cover at
// most 512. Time and memory are proportional to the steps that are counted. Errors: those of
// CoveringDesign(), with `last_step` as in a CoverRequest.
absl::StatusOr<std::vector<AttributeSet>> SubsetsWithin(std::span<const AttributeSet> sets, size_t strength,
                                                        Pacer& pacer, int64_t last_step = INT64_MAX,
                                                        size_t most = SIZE_MAX);

// Counts `steps` on the pacer. Errors: INVALID_ARGUMENT ("workload") beyond `last_step`; CANCELLED as in
// Pacer.
absl::Status AdvanceTo(int64_t last_step, int64_t steps, Pacer& pacer);

// The lines of the finite affine plane over the smallest field of q elements with q^2 >= `points`, cut to the
// points 0..points-1, without lines of fewer than two points; empty when q (a prime, 4, 8 or 16) exceeds
// `width`. Every pair of points is on exactly one line, and no line has more than `width` points.
std::vector<AttributeSet> AffinePlaneLines(size_t points, size_t width);

// The local search: blocks that hold every target of `request`, as `blocks` do, and perhaps fewer of them.
// Errors: those of CoveringDesign().
absl::StatusOr<std::vector<AttributeSet>> WithFewerBlocks(const CoverRequest& request,
                                                          std::vector<AttributeSet> blocks, Pacer& pacer);

// The wanted pairs or triples of attributes, and how many blocks hold each. Not thread-safe.
class TargetIndex {
 public:
  // Targets of two attributes each, or of three each, all below `attributes`.
  TargetIndex(size_t attributes, const std::vector<AttributeSet>& targets);

  // How many blocks hold the target.
  int32_t Count(const AttributeSet& target) const { return counts_[At(target)]; }

  // Adds (+1) or removes (-1) a block.
  void AddBlock(const AttributeSet& block, int32_t change);

  // Wanted targets in no block so far that `attribute` and others of `block` make up.
  int64_t Uncovered(const AttributeSet& block, uint32_t attribute) const {
    return WithCount(block, attribute, 0);
  }

  // For each attribute a, adds to uncovered[a] the wanted, uncovered targets that consist of a, `joining` and
  // members of `block`. After `joining` joins, Uncovered(block, a) is larger by this.
  void AddUncoveredWith(const AttributeSet& block, uint32_t joining, std::vector<int32_t>& uncovered) const;

  // Targets that `attribute`, of `block`, and others of it make up and that are in this block only.
  int64_t OnlyThrough(const AttributeSet& block, uint32_t attribute) const {
    return WithCount(block, attribute, 1);
  }

  // Targets in this block only.
  int64_t OnlyIn(const AttributeSet& block) const;

  // Adds `change` to the targets that `attribute` and others of `block` make up.
  void AddThrough(const AttributeSet& block, uint32_t attribute, int32_t change);

 private:
  static constexpr int32_t kUnwanted = 1 << 20;  // far from 0 and 1, whatever is added

  size_t At(const AttributeSet& target) const {
    return target.size() == 2 ? At(target[0], target[1]) : At(target[0], target[1], target[2]);
  }
  size_t At(uint32_t a, uint32_t b) const { return a * attributes_ + b; }
  size_t At(uint32_t a, uint32_t b, uint32_t c) const { return (a * attributes_ + b) * attributes_ + c; }

  // Visits the places of the targets that `attribute` and others of `block` make up.
  template <typename Visit>
  void Through(const AttributeSet& block, uint32_t attribute, Visit visit) const;

  int64_t WithCount(const AttributeSet& block, uint32_t attribute, int32_t count) const;

  size_t attributes_;
  size_t strength_;
  std::vector<int32_t> counts_;  // by rising attributes; of pairs also by falling ones
};

}  // namespace curator::dp
