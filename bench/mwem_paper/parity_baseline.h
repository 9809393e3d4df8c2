// The method that measures every parity of low order with uniform accuracy, and fits weights of maximum
// entropy to them (Barak et al. 2007, with multiplicative weights instead of its linear program).
#pragma once

#include <vector>

#include "bench/mwem_paper/bench_world.h"

namespace curator::bench {

// One group for each set of 1..k attributes of a binary domain: records with an even number of ones less
// those with an odd number.
std::vector<dp::QueryGroup> Parities(const dp::Domain& domain, int k);

// The weight of every cell of a binary domain. 5% of epsilon buys the number of records, the rest all
// parities at once.
std::vector<double> FitAllParities(const BenchTable& table, double epsilon, int k, int seed);

}  // namespace curator::bench
