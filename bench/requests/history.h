// A long history, written into a ledger that no server has open.
#pragma once

#include <cstdint>
#include <string>

namespace curator::bench {

// Adds `charges` charges to the dataset of kinds.h, each ended without a release, so that nothing of them
// stays open. What they say of themselves is what the charge with the id `pattern` says.
void AddCharges(const std::string& url, const std::string& anchor, const std::string& pattern,
                int64_t charges);

}  // namespace curator::bench
