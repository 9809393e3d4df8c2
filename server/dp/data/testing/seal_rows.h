// Small sealed tables for tests and benchmarks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// A table of the given rows, each a unit of its own. Errors: those of SealedTableBuilder. Thread-safe.
inline absl::StatusOr<SealedTableHandle> SealRows(const Domain& domain,
                                                  const std::vector<std::vector<uint32_t>>& rows) {
  SealedTableBuilder builder(domain);
  for (const std::vector<uint32_t>& row : rows) RETURN_IF_ERROR(builder.AppendRow(row));
  return std::move(builder).Build();
}

}  // namespace curator::dp
