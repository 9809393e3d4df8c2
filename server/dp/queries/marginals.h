// Sets of attributes whose marginals are counted: enumeration and limits.
//
// Everything here is computed from public facts. Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// What one request may ask for.
struct WorkloadLimits {
  int64_t max_marginals = 100'000;
  int64_t max_cells = int64_t{1} << 26;       // of all marginals together
  int64_t max_cells_of_one = max_cells;       // of each by itself
  int64_t max_attributes = int64_t{1} << 22;  // of all sets that are enumerated, each counted in each set
};

// Every set of `k` of the given `attributes` (all of the domain's when empty), in lexicographic order.
// Errors: INVALID_ARGUMENT with a field: "workload.k" unless 1 <= k <= number of attributes,
// "workload.attributes" for an index outside the domain or given twice, "workload" when the limits are
// exceeded (with the numbers).
absl::StatusOr<std::vector<AttributeSet>> AllKWayMarginals(const Domain& domain, int k,
                                                           std::span<const uint32_t> attributes,
                                                           const WorkloadLimits& limits = {});

struct KWayMarginals {
  std::vector<AttributeSet> sets;
  int64_t left_out = 0;
};

// The same without the marginals of more than `most_cells` cells; the limit of cells is that of the others
// together. Further errors: "workload.max_cells" unless 1 <= most_cells, and when every marginal is left out
// (with the number of cells of the smallest one).
absl::StatusOr<KWayMarginals> KWayMarginalsUpTo(const Domain& domain, int k,
                                                std::span<const uint32_t> attributes, int64_t most_cells,
                                                const WorkloadLimits& limits = {});

// Checks sets that were listed one by one: at least one set; in each, at least one attribute, indices rising
// and inside the domain; no set twice; within the limits. Errors: INVALID_ARGUMENT with a field
// ("workload.marginals[3]", "workload").
absl::Status ValidateMarginals(const Domain& domain, std::span<const AttributeSet> marginals,
                               const WorkloadLimits& limits = {});

// The cells of all marginals together. Errors: INVALID_ARGUMENT ("workload") when the limits are exceeded.
absl::StatusOr<int64_t> TotalCells(const Domain& domain, std::span<const AttributeSet> marginals,
                                   const WorkloadLimits& limits = {});

// "age, sex": the names of a set's attributes, for display.
std::string NamesOf(const Domain& domain, const AttributeSet& set);

}  // namespace curator::dp
