// The order in which views make up a record: each one adds attributes to those that are there.
//
// Functions of public noisy answers; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/synthesis/dpsyn/view_table.h"

namespace curator::dp {

// One step: the view says what its new attributes are, given those that are known already.
struct OrderedView {
  size_t view = 0;
  AttributeSet known;
  AttributeSet added;
};

// Starts with views[first]; then always the view that adds the fewest attributes, at least one (Li, Zhang,
// Wang 2018, "topologically sorted marginals"). Among equals the one in which the new attributes depend most
// on the known ones (the L1 distance of the table from independence of the two), then the first. Ends when
// all attributes of the views are there; some views may not be needed.
std::vector<OrderedView> TopologicalOrder(std::span<const ViewTable> views, size_t first);

}  // namespace curator::dp
