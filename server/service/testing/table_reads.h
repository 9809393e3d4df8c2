// Counts how often sealed tables are made readable in a test program. Linking it replaces mprotect(), which
// every read of a sealed table begins with (dp/data/protected_pages.h).
#pragma once

#include <cstdint>

namespace curator {

// Since the start of the program, by all threads. Thread-safe.
int64_t TableReads();

}  // namespace curator
