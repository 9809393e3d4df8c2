// All small units over NumbersDomain(), and tables that differ in one of them: for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/domain/testing_numbers.h"
#include "dp/kernel/testing/units.h"

namespace curator::dp {

// A record of one region: the balance is the least, 0, the largest or missing, and "far" the least where the
// balance is, else the largest.
inline std::vector<std::vector<uint32_t>> ExtremeRecords() {
  std::vector<std::vector<uint32_t>> records;
  for (const uint32_t region : {0u, 1u}) {
    for (const uint32_t balance : {0u, 2u, 5u, 6u})
      records.push_back({region, 0, balance, balance == 0 ? 0u : 2u});
  }
  return records;
}

// Every multiset of at most `most` of these records, none included.
inline std::vector<UnitRecords> ExtremeUnits(int64_t most) {
  const std::vector<std::vector<uint32_t>> records = ExtremeRecords();
  std::vector<UnitRecords> units = {{}};
  std::vector<size_t> last = {0};  // of each unit, its latest record
  size_t start = 0;
  for (int64_t size = 1; size <= most; ++size) {
    const size_t end = units.size();
    for (size_t i = start; i < end; ++i) {
      for (size_t next = last[i]; next < records.size(); ++next) {
        UnitRecords longer = units[i];
        longer.push_back(records[next]);
        units.push_back(std::move(longer));
        last.push_back(next);
      }
    }
    start = end;
  }
  return units;
}

// Tables of `others` and one of ExtremeUnits() more, in their order: the first one has `others` alone.
inline std::vector<SealedTableHandle> ExtremeTables(const Units& others, int64_t most) {
  std::vector<SealedTableHandle> tables;
  for (const UnitRecords& unit : ExtremeUnits(most)) {
    Units units = others;
    units.push_back(unit);
    tables.push_back(SealUnits(NumbersDomain(), units));
  }
  return tables;
}

// The positions of those of `tables` that are neighbours.
inline std::vector<std::pair<size_t, size_t>> NeighboursAmong(size_t tables, NeighbourRelation relation) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t other = 1; other < tables; ++other) {
    const size_t end = relation == NeighbourRelation::kAddRemove ? 1 : other;
    for (size_t one = 0; one < end; ++one) pairs.emplace_back(one, other);
  }
  return pairs;
}

}  // namespace curator::dp
