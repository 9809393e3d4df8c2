// Small tables over sets of attributes, their products and sums: what belief propagation passes on.
//
// Thread-safe: values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// One number for each cell of `attributes`, row-major.
struct AttributeTable {
  AttributeSet attributes;
  std::vector<double> cells;
};

// The sum of left * right over all attributes but `kept`, which lie in either. Errors: CANCELLED as in Pacer.
absl::StatusOr<AttributeTable> SumOfProduct(const Domain& domain, const AttributeTable& left,
                                            const AttributeTable& right, const AttributeSet& kept,
                                            Pacer& pacer);

// Divides each cell of `table` by the cell of `divisor` that it lies in; where that is 0, so is the quotient.
// The divisor's attributes lie in the table's. Errors: CANCELLED as in Pacer.
absl::Status DivideBy(const Domain& domain, const AttributeTable& divisor, AttributeTable& table,
                      Pacer& pacer);

// The cells in which `attribute` has this code, without it; the same table where it has no such attribute.
AttributeTable CellsAt(const Domain& domain, const AttributeTable& table, uint32_t attribute, uint32_t code);

// Fills in the cells of `table` in which `attribute` has this code. `cells` has all its other attributes.
void PutCellsAt(const Domain& domain, const AttributeTable& cells, uint32_t attribute, uint32_t code,
                AttributeTable& table);

}  // namespace curator::dp
