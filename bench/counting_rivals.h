// What counting is compared with: the same marginals of the same codes, counted by numpy and by PostgreSQL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/coded_columns.h"
#include "dp/domain/domain.h"

namespace curator::bench {

// Processor time of one thread, and a checksum that all counters must agree on: over all marginals, the sum
// of count times (cell number mod 1009).
struct Counted {
  double seconds = 0;
  uint64_t checksum = 0;
};

uint64_t ChecksumOf(const std::vector<std::vector<int64_t>>& counts);

struct NumpyCounted {
  Counted whole;   // each index over all rows at once
  Counted blocks;  // in blocks of 65,536 rows, which stay in a cache
  std::string version;
};

// numpy.bincount over a row-major index of the codes, by /usr/bin/python3 in a process of its own; the better
// of two passes. `columns` are of one byte each. UNAVAILABLE, saying what to install, where there is no
// numpy.
absl::StatusOr<NumpyCounted> CountWithNumpy(const dp::ColumnsView& columns,
                                            std::span<const dp::AttributeSet> sets);

struct PostgresCounted {
  Counted counted;
  double load_seconds = 0;  // COPY and VACUUM ANALYZE, elapsed
  std::string plan;         // how the first query was planned
};

// SELECT ..., count(*) ... GROUP BY for each set, in a fresh cluster with an unlogged table of smallint
// columns that lies in its buffers, one backend without parallel workers.
absl::StatusOr<PostgresCounted> CountWithPostgres(const dp::ColumnsView& columns,
                                                  std::span<const dp::AttributeSet> sets);

}  // namespace curator::bench
