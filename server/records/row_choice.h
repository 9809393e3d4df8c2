// Chooses the rows that are kept of a unit with too many of them, where rows have no order.
//
// Each row has a rank, a keyed hash of its unit and its codes, and the rows of the lowest ranks are kept:
// what is kept of a unit depends on its own rows and on nothing else, neither on the order in which rows
// arrive nor on the rows of others. Rows of equal codes have equal ranks: any of them may be kept.
// Units differ in their ranks of equal rows, so that no value is preferred in all of them.
//
// Not thread-safe. Memory: a rank for each row that is kept of units with too many.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "records/segment.h"
#include "records/unit_counts.h"

namespace curator::records {

// At least 16 bytes of a pseudorandom function under a key that only the server has.
using RowHash = std::function<std::string(std::string_view bytes)>;

class RowChoice {
 public:
  RowChoice(RowHash hash, const TableShape& shape);

  // First, for each unit that has more rows than `kept`, which may be 0.
  void Limit(const UnitKey& unit, int64_t kept);
  bool HasLimits() const { return !limits_.empty(); }

  // Then all rows, block by block, in any order.
  void See(const RowBlock& block);

  // Then each row again, once: whether it is kept. Rows of units without a limit are.
  bool Keeps(const RowBlock& block, size_t row);

 private:
  using Rank = std::array<char, 16>;
  struct Limited {
    size_t kept = 0;
    std::vector<Rank> lowest;  // a heap of the lowest ranks so far, the highest of them first
    size_t at_highest = 0;     // rows of the highest of them that are still to be kept
    bool is_decided = false;
  };

  Rank RankOf(const RowBlock& block, size_t row);
  static void Decide(Limited& limited);

  RowHash hash_;
  std::vector<size_t> widths_;  // of the codes of each column, in bytes
  ByUnit<Limited> limits_;
  std::string bytes_;  // of one row
};

}  // namespace curator::records
