// The constraints of a schema as factors of a product over cliques: the pairs of codes that no record has
// weigh nothing, whatever is measured.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/synthesis/models/product_component.h"

namespace curator::dp {

// Positions in domain.constraints(), ascending: of constraints between `attributes` whose pairs fit into
// cliques of at most `max_cells` cells together and separators of at most `max_separator`. Each is taken
// where it fits beside those before it.
std::vector<size_t> HeldConstraints(const Domain& domain, const AttributeSet& attributes, int64_t max_cells,
                                    int64_t max_separator);

// The pairs of attributes of these constraints.
std::vector<AttributeSet> PairsOf(const Domain& domain, const std::vector<size_t>& held);

// 0 for each pair of codes that a constraint allows, kLogOfZero for the others; one factor for each.
std::vector<LogFactor> ZerosOf(const Domain& domain, const std::vector<size_t>& held);

// Lines for display, none where no constraint is between `attributes`: which records keep to, and which not.
std::vector<std::string> DescribeConstraints(const Domain& domain, const AttributeSet& attributes,
                                             const std::vector<size_t>& held);

}  // namespace curator::dp
