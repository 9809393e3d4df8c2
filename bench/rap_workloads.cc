#include "rap_workloads.h"

#include <algorithm>
#include <random>
#include <set>

#include "adult_triples.h"

namespace curator::bench {

std::vector<dp::AttributeSet> NamedWorkload(const dp::Domain& domain, const std::string& name,
                                            const WorkloadSize& size, uint64_t seed) {
  std::vector<dp::AttributeSet> sets;
  if (name == "public") {
    sets = PublicTriples();
    sets.resize(std::min(sets.size(), size.marginals));
    return sets;
  }
  const size_t k = std::stoul(name);
  std::mt19937_64 random(seed);
  std::set<dp::AttributeSet> seen;
  for (int tries = 0; sets.size() < size.marginals && tries < 1'000'000; ++tries) {
    std::set<uint32_t> picked;
    while (picked.size() < k) picked.insert(static_cast<uint32_t>(random() % domain.size()));
    const dp::AttributeSet set(picked.begin(), picked.end());
    if (domain.CellCount(set).value_or(size.most_cells + 1) > size.most_cells) continue;
    if (seen.insert(set).second) sets.push_back(set);
  }
  return sets;
}

}  // namespace curator::bench
