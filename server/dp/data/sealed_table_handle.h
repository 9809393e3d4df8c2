// A private table as the rest of the program sees it: something to carry, with nothing to look at.
//
// What is inside is declared in dp/data/sealed_table.h, which only dp/kernel, dp/data and data may include.
#pragma once

#include <memory>

namespace curator::dp {

class SealedTable;

// Shared and immutable; may be copied and destroyed on any thread.
using SealedTableHandle = std::shared_ptr<const SealedTable>;

}  // namespace curator::dp
