// Tables of units, each with records of its own, and their neighbours: for tests.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

using UnitRecords = std::vector<std::vector<uint32_t>>;  // one record after another
using Units = std::vector<UnitRecords>;

// A table that knows its units; those without records are not in it.
inline SealedTableHandle SealUnits(const Domain& domain, const Units& units) {
  SealedTableBuilder builder(domain, RowOwner::kUnit);
  uint32_t number = 0;
  for (const UnitRecords& unit : units) {
    for (const std::vector<uint32_t>& record : unit) (void)builder.AppendRow(record, number);
    if (!unit.empty()) ++number;
  }
  return std::move(builder).Build().value();
}

// At most `most` records, none included.
inline UnitRecords RandomUnit(const Domain& domain, int64_t most, std::mt19937_64& random) {
  UnitRecords unit(random() % static_cast<uint64_t>(most + 1));
  for (std::vector<uint32_t>& record : unit) {
    for (const Attribute& attribute : domain.attributes())
      record.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(attribute.size())));
  }
  return unit;
}

// Two tables that differ in one unit, and the others' units.
struct NeighbouringUnits {
  Units one;
  Units other;
};

// Neighbours under `unit`: from nothing to one unit of as many records as it may own, all in the first or all
// in the last cell, then `random_pairs` at random.
inline std::vector<NeighbouringUnits> NeighboursInOneUnit(const Domain& domain, const UnitBound& unit,
                                                          int random_pairs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> last;
  for (const Attribute& attribute : domain.attributes())
    last.push_back(static_cast<uint32_t>(attribute.size() - 1));
  const auto most = static_cast<size_t>(unit.max_records);
  const UnitRecords all_first(most, std::vector<uint32_t>(domain.size(), 0));
  const UnitRecords all_last(most, last);
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  std::vector<NeighbouringUnits> pairs = {
      {{}, {all_first}}, {{}, {all_last}}, {{all_last}, {all_last, replaces ? UnitRecords{} : all_first}}};
  if (replaces) pairs.push_back({{all_first}, {all_last}});
  for (int i = 0; i < random_pairs; ++i) {
    Units others(random() % 6);
    for (UnitRecords& other : others) other = RandomUnit(domain, unit.max_records, random);
    NeighbouringUnits pair{others, others};
    pair.one.push_back(RandomUnit(domain, unit.max_records, random));
    if (replaces) pair.other.push_back(RandomUnit(domain, unit.max_records, random));
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace curator::dp
