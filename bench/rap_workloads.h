// The workloads that results of RAP are reported on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::bench {

struct WorkloadSize {
  size_t marginals = 64;
  int64_t most_cells = 1'000'000;  // of one marginal, where they are random
};

// `name`: "public", the triples of Adult that public RAP programs were run on (64; the first 15, of 62,876
// cells, are those that HDMM was run on); or a number k, random different sets of k attributes by `seed`.
// Fewer sets than `size` asks for where there are fewer. A larger workload of the same seed begins with a
// smaller one.
std::vector<dp::AttributeSet> NamedWorkload(const dp::Domain& domain, const std::string& name,
                                            const WorkloadSize& size, uint64_t seed);

}  // namespace curator::bench
