// Neighbouring tables, random and extreme, for the exact audit of the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dp/data/sealed_table_handle.h"
#include "dp/domain/domain.h"

namespace curator::statistics {

struct Neighbours {
  std::string what;  // for people
  dp::SealedTableHandle table;
  dp::SealedTableHandle neighbour;  // differs from `table` in one unit
};

// Pairs that differ in one unit of at most `unit.max_records` records: from nothing to one unit, from n
// records of a cell to n + 1, the unit's records all in the first or all in the last category of everything
// (where a missing value is coded), replaced by ones in the opposite corner, by fewer, by none; and `random`
// further pairs (AuditSize(random) of them) from AuditSeed(seed). The attributes of `domain` have at least
// two values.
std::vector<Neighbours> NeighboursOf(const dp::Domain& domain, const dp::UnitBound& unit, size_t random,
                                     uint64_t seed);

}  // namespace curator::statistics
