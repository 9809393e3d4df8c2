// MCF: which records of a cell become records of which other cell, as a minimum-cost flow (Li, Zhang, Wang
// 2018, section 3.3).
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace curator::dp {

// `count` records leave the cell `from` for the cell `to`.
struct Move {
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t count = 0;
  bool operator==(const Move&) const = default;
};

// Whole numbers that sum to that of `counts`, each between the rounded-down and the rounded-up of `goal`
// (non-negative; scaled to the same sum), with the fewest records moved from `counts`: a count within those
// bounds stays, one outside goes to the nearer bound, and what the sum then lacks is made up where the goal
// is farthest away.
std::vector<int64_t> WholeGoal(std::span<const int64_t> counts, std::span<const double> goal);

// Moves that turn `counts` into `goal` (the same sum), over a table with attributes of these sizes,
// row-major. Each record that moves leaves a cell with too many for one with too few, so the fewest move; of
// such solutions, the one that changes the fewest values in all. In the network a unit that changes one
// attribute goes from its cell over a hub, where the cells meet that differ in that attribute only, at cost
// 1. Solved by LEMON's network simplex.
std::vector<Move> LeastChanges(const std::vector<int64_t>& sizes, std::span<const int64_t> counts,
                               std::span<const int64_t> goal);

// The same for large tables: the fewest records move, and first those that need change one attribute only,
// one attribute after another, then two, then more; so a few values more may change than need be.
std::vector<Move> FewChanges(const std::vector<int64_t>& sizes, std::span<const int64_t> counts,
                             std::span<const int64_t> goal);

}  // namespace curator::dp
