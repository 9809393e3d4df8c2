// The local search of covering_design.h.
#pragma once

#include <vector>

#include "dp/synthesis/dpsyn/covering_design.h"

namespace curator::dp {

// Blocks that hold every target of `request`, as `blocks` do, and perhaps fewer of them.
std::vector<AttributeSet> WithFewerBlocks(const CoverRequest& request, std::vector<AttributeSet> blocks);

}  // namespace curator::dp
