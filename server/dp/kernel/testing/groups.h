// Small models of groups and tables of them, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/utility.h"

namespace curator::dp {

// Codes of one attribute, group by group.
using CodesOfGroups = std::vector<std::vector<uint32_t>>;

// A table of one attribute: the groups are its units, or its rows are and lie in the groups.
inline SealedTableHandle SealGroups(const Domain& domain, const CodesOfGroups& groups, RowOwner owner) {
  SealedTableBuilder builder(domain, owner);
  uint32_t number = 0;
  for (const std::vector<uint32_t>& group : groups) {
    for (const uint32_t code : group) (void)builder.AppendRow(std::span(&code, 1), number);
    if (!group.empty()) ++number;
  }
  return std::move(builder).Build().value();
}

// Responses of codes 0..4 between -2 and 3, and a grid that reaches from far too narrow to far too wide.
inline NormalGroups SmallNormalModel() {
  return {.values = {-2, -1, 0, 2.5, 3},
          .low = -2,
          .high = 3,
          .means = {-2, 0, 0.5, 3},
          .betweens = {0.05, 1, 4},
          .withins = {0.5, 1, 3}};
}

inline BinomialGroups SmallBinomialModel() {
  return {.successes = {1, 0, 0, 1, 0},
          .edge = 0.02,
          .means = {0.02, 0.3, 0.9},
          .correlations = {0.01, 0.2, 0.7}};
}

inline std::vector<uint32_t> RandomGroup(size_t most, uint32_t codes, std::mt19937_64& random) {
  std::vector<uint32_t> group(random() % (most + 1));
  // Half of the groups are of one code: there one more record of another code does most.
  const bool is_alike = random() % 2 == 0;
  const auto first = static_cast<uint32_t>(random() % codes);
  for (uint32_t& code : group) code = is_alike ? first : static_cast<uint32_t>(random() % codes);
  return group;
}

}  // namespace curator::dp
