// The workloads of published comparisons of strategies: all products of prefixes of some attributes and
// single codes of the others, some attributes at a time.
//
// Adult's three at a time are 21 million queries, more than a request may have. All of them are products of
// the same queries over each attribute, so that the sum of their variances is the product of sums over each
// attribute: this plans them from those sums, with the solver, the integer queries and the choice of noise of
// the server's plans.
//
// Thread-safe: plain values and pure functions of public facts.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/workload/measurement.h"

namespace curator::statistics {

struct ProductWorkload {
  std::vector<int64_t> sizes;  // of the attributes
  size_t prefixes = 0;         // of so many of them, the first ones, all prefixes; of others all codes
  int least_ways = 1;          // how many attributes at a time; 0 is the number of records
  int most_ways = 1;
};

struct ProductForecast {
  double rmse = 0;  // sqrt(the sum of all variances / the number of queries), in records, at rho = 1/2
  double gap = 0;   // the variance may be above the least for its offsets by this part
};

// The forecast of the best plan, for records that are added or removed.
ProductForecast ForecastOf(const ProductWorkload& workload);

int64_t NumberOfQueries(const ProductWorkload& workload);

// The same workload as a query set over CodedDomain(sizes): whole marginals where there are no prefixes.
dp::QuerySet QueriesOf(const ProductWorkload& workload);

}  // namespace curator::statistics
