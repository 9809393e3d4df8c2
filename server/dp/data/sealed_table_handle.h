// A private table as the rest of the program sees it: a handle without access to any record.
//
// The class is defined in dp/data/sealed_table.h, which only dp/kernel, dp/data and records may include.
#pragma once

#include <memory>

namespace curator::dp {

class SealedTable;

// Shared and immutable; may be copied and destroyed on any thread.
using SealedTableHandle = std::shared_ptr<const SealedTable>;

}  // namespace curator::dp
