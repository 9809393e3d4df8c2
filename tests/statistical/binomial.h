// Exact inference on a probability from a count: the arithmetic behind every statistical test here.
//
// Never the normal approximation: at one degree of freedom its claimed 1e-6 is truly 2e-3.
#pragma once

#include <cstdint>

namespace curator::statistics {

// P(B >= k) and P(B <= k) for B binomial(n, p), relative error below 1e-9 for n <= 10^9.
double BinomialAtLeast(uint64_t n, uint64_t k, double p);
double BinomialAtMost(uint64_t n, uint64_t k, double p);

// The two-sided p-value of k successes in n trials, for the hypothesis that each has probability p: twice the
// smaller tail, at most 1. Under the hypothesis, P(p-value <= a) <= a.
double BinomialPValue(uint64_t n, uint64_t k, double p);

// Clopper-Pearson: bounds that the true probability passes with probability at most `alpha`, whatever it is.
double ProbabilityLowerBound(uint64_t n, uint64_t k, double alpha);
double ProbabilityUpperBound(uint64_t n, uint64_t k, double alpha);

}  // namespace curator::statistics
