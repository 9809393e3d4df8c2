// Draws cells in proportion to their weights, each in constant time (Walker's alias method, in Vose's form).
//
// The weights are public, so the sampler needs accuracy, not exactness: probabilities are right to
// about 2^-30 of a cell's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/noise/bit_source.h"

namespace curator::dp {

// Bytes of a table for each cell while it is made; 8 are left.
inline constexpr int64_t kAliasBytes = 20;

// Immutable and thread-safe.
class AliasTable {
 public:
  // At least one weight, none negative, not all zero, at most 2^32 - 1 of them.
  explicit AliasTable(std::span<const float> weights);

  // The cell for two uniform words.
  size_t CellAt(uint64_t first, uint64_t second) const;

 private:
  std::vector<float> kept_;  // the share of its own column that a cell keeps
  std::vector<uint32_t> alias_;
};

// Draws from a table with words that are fetched in blocks. Not thread-safe.
class AliasSampler {
 public:
  // Both must outlive it. `expected` draws: how many words to fetch at once, at most.
  AliasSampler(const AliasTable& table, BitSource& bits, int64_t expected);

  size_t Draw();

 private:
  const AliasTable& table_;
  BitSource& bits_;
  size_t block_;
  size_t next_;
  std::array<uint64_t, 512> words_;
};

}  // namespace curator::dp
