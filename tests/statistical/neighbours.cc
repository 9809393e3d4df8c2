#include "tests/statistical/neighbours.h"

#include <iterator>
#include <random>
#include <utility>

#include "dp/data/testing/seal_rows.h"
#include "tests/statistical/audit_mode.h"

namespace curator::statistics {
namespace {

using Row = std::vector<uint32_t>;
using Rows = std::vector<Row>;

Row Corner(const dp::Domain& domain, bool last) {
  Row row;
  for (const int64_t size : dp::SizesOf(domain)) row.push_back(last ? static_cast<uint32_t>(size - 1) : 0);
  return row;
}

Row RandomRow(const dp::Domain& domain, std::mt19937_64& random) {
  Row row;
  for (const int64_t size : dp::SizesOf(domain))
    row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(size)));
  return row;
}

Neighbours Pair(const dp::Domain& domain, std::string what, const Rows& others, const Rows& unit,
                const Rows& replaced) {
  Rows table = others;
  table.insert(table.end(), unit.begin(), unit.end());
  Rows neighbour = others;
  neighbour.insert(neighbour.end(), replaced.begin(), replaced.end());
  return {.what = std::move(what),
          .table = dp::SealRows(domain, table).value(),
          .neighbour = dp::SealRows(domain, neighbour).value()};
}

}  // namespace

std::vector<Neighbours> NeighboursOf(const dp::Domain& domain, const dp::UnitBound& unit, size_t random,
                                     uint64_t seed) {
  const auto records = static_cast<size_t>(unit.max_records);
  const Rows none;
  const Rows first(records, Corner(domain, false));
  const Rows last(records, Corner(domain, true));
  std::vector<Neighbours> pairs = {
      Pair(domain, "empty, one unit in the first categories", none, none, first),
      Pair(domain, "empty, one unit in the last categories", none, none, last),
      Pair(domain, "a cell of 5 records, one unit more", Rows(5, Corner(domain, false)), none, first)};
  const bool replaces = unit.relation == dp::NeighbourRelation::kReplaceOne;
  if (replaces) {
    pairs.push_back(
        Pair(domain, "first categories replaced by last ones", Rows(3, Corner(domain, true)), first, last));
    pairs.push_back(
        Pair(domain, "a unit replaced by one of a single record", none, first, {Corner(domain, true)}));
  }
  std::mt19937_64 bits(AuditSeed(seed));
  const auto some_rows = [&](size_t at_most) {
    Rows rows;
    for (size_t count = bits() % (at_most + 1); count > 0; --count) rows.push_back(RandomRow(domain, bits));
    return rows;
  };
  for (size_t i = 0; i < AuditSize(random); ++i) {
    const Rows others = some_rows(40);
    Rows before = some_rows(records);
    const Rows after = some_rows(records);
    if (!replaces) before.clear();
    pairs.push_back(Pair(domain, "random pair " + std::to_string(i), others, before, after));
  }
  return pairs;
}

}  // namespace curator::statistics
