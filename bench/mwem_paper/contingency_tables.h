// Small contingency tables, and how far a model is from one.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/mwem_paper/bench_world.h"

namespace curator::bench {

// micro.csv of that folder, of binary attributes. Exits when it is not there.
BenchTable BinaryTable(const std::string& name);

// All attributes.
dp::AttributeSet Every(const dp::Domain& domain);

// Of the data from the model, in natural units. `weights`: of all cells, not all zero. Models may deny cells;
// no cell counts as less than 1e-9 of a uniform one.
double RelativeEntropy(const BenchTable& table, const std::vector<double>& weights);

}  // namespace curator::bench
