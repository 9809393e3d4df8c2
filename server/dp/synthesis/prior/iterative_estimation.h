// Iterative Distribution Estimation (Tao, Bater, Machanavajjhala 2021, Algorithm 1) over weighted records.
//
// From a prior, the marginals are visited in turn: the noisy answers are projected to a distribution over the
// marginal's cells, and the weights take the step of least relative entropy to it. (The paper visits them at
// random; in turn needs no randomness and is iterative proportional fitting when the answers are consistent.)
//
// Everything here is a function of public noisy answers, with the same bits on every machine. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/prior/least_entropy_update.h"

namespace curator::dp {

// One marginal of the records that the weights are of.
struct MarginalOfRecords {
  std::vector<uint32_t> cell_of_record;
  std::vector<uint8_t> reachable;  // for each cell, whether a record lies in it
};

struct EstimationRule {
  int64_t most_sweeps = 100;  // over all marginals
  double settled = 1e-6;      // a sweep in which no marginal had to move by more (in L1) is the last
  Projection projection = Projection::kNearest;
};

// How it went, for people.
struct Convergence {
  int64_t sweeps = 0;
  double last_movement = 0;  // the largest L1 distance that a marginal had to move in the last sweep
  double distance = 0;       // the mean over marginals of |answers - estimate|_1 at the end, in shares
  double unreachable = 0;    // the largest share of a marginal's answers in cells that no record lies in
};

// `shares[i]` are the noisy answers of `marginals[i]`, divided by the number of records; `weights` sum to 1
// and become the estimate. CANCELLED as in Pacer.
absl::StatusOr<Convergence> EstimateDistribution(std::span<const MarginalOfRecords> marginals,
                                                 std::span<const std::vector<double>> shares,
                                                 const EstimationRule& rule, std::span<double> weights,
                                                 Pacer& pacer);

// How far answers are trusted: noise that moves each by `deviation` (in shares), beside a prior that is worth
// `trust` records.
struct Trust {
  double deviation = 0;
  double trust = 1;
};

// The same with answers that are heeded only as far as their noise lets them be known: the minimiser of
//   trust * KL(q | prior) + sum over answers ((answer - q's) / deviation)^2 / 2
// among distributions, by exact maximisation over the factors of one marginal after the other. It has one
// minimum also when answers contradict each other. Answers of cells without records are left out. For the
// sake of convergence answers are taken to be no firmer than deviation^2 trust = 1/256: what is missed then
// is small beside what a support can represent, and EstimateDistribution() heeds answers whole.
absl::StatusOr<Convergence> EstimateWeighed(std::span<const MarginalOfRecords> marginals,
                                            std::span<const std::vector<double>> shares, const Trust& trust,
                                            const EstimationRule& rule, std::span<double> weights,
                                            Pacer& pacer);

}  // namespace curator::dp
