// Counting beside streaming reads, numpy and PostgreSQL: the table of docs/results/counting.md.
#pragma once

#include <cstdint>
#include <vector>

namespace curator::bench {

// Prints a table for each number of rows. The program's exit status: not 0 when two counters disagree. A
// rival that is absent is left out, and the table says so.
int CompareCounting(const std::vector<int64_t>& rows);

}  // namespace curator::bench
