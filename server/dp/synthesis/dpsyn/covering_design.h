// Covering designs: few sets of attributes, each of few cells, that together hold every wanted pair or triple
// (Gordon, Kuperberg, Patashnik 1995, for equal sizes).
//
// Made from public facts; the same on every machine. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

struct CoverRequest {
  std::vector<int64_t> sizes;         // of the attributes 0, 1, ...
  std::vector<AttributeSet> targets;  // all of two attributes, or all of three
  int64_t most_cells = 256;           // of a block; a target that has more becomes a block of its own
  size_t most_blocks = 4096;
  int64_t search_steps = 200'000;  // of the local search
};

// Sets that hold every target, in lexicographic order; empty when they would be more than most_blocks.
// Greedy: a block grows by the attribute that covers most for its size; blocks that others make needless go.
// For pairs of attributes of equal size, the lines of a finite affine plane are tried as well. Then a local
// search: one block is left out, and attributes are exchanged between blocks and the rest, towards targets
// that are not covered, until all are (and the next block is left out) or the steps are used up.
std::vector<AttributeSet> CoveringDesign(const CoverRequest& request);

// The fewest blocks of `width` attributes that can hold every `strength` of `attributes`:
// ceil(v/k ceil(v-1 / k-1 ...)) (Schonheim 1964). 1 when the block holds all.
int64_t SchonheimBound(int64_t attributes, int64_t width, int64_t strength);

// Every target, as sets of `strength` attributes, of which some set of `sets` holds all.
std::vector<AttributeSet> SubsetsWithin(std::span<const AttributeSet> sets, size_t strength);

}  // namespace curator::dp
