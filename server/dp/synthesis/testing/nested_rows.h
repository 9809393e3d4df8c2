// Small tables whose records lie in groups, for tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// The rows, each a unit of its own, in seven groups by turns.
inline SealedTableHandle SealInGroups(const Domain& domain, const std::vector<std::vector<uint32_t>>& rows) {
  constexpr uint32_t kGroups = 7;
  SealedTableBuilder builder(domain, RowOwner::kItselfInGroup);
  uint32_t number = 0;
  for (const std::vector<uint32_t>& row : rows) (void)builder.AppendRow(row, number++ % kGroups);
  return std::move(builder).Build().value();
}

// The first attribute is the response: its codes stand for themselves.
inline NestedFacts FirstAttributeNested(const Domain& domain) {
  NestedFacts facts{.group_column = "group"};
  for (int64_t code = 0; code < domain.attributes()[0].size(); ++code)
    facts.numbers.push_back(static_cast<double>(code));
  facts.upper = facts.numbers.back();
  return facts;
}

}  // namespace curator::dp
