// Iterative Distribution Estimation (Tao, Bater, Machanavajjhala 2021, Algorithm 1) over weighted records.
//
// From a prior, the marginals are visited in turn: the noisy answers are projected to a distribution over the
// marginal's cells, and the weights take the step of least relative entropy to it. (The paper visits them at
// random; in turn needs no randomness and is iterative proportional fitting when the answers are consistent.)
//
// A step gives the distribution that has the wanted answers and is otherwise as near as possible to the one
// before, in relative entropy. Distributions are weights over finitely many records (or all cells of a
// domain), which sum to 1. A partial workload of L1 norm 1 is a set of disjoint cells: it is given as the
// cell of each record.
//
// Everything here is a function of public noisy answers, with the same bits on every machine. Thread-safe:
// functions change nothing but their arguments.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// The cell of a record that no query of the partial workload counts.
inline constexpr uint32_t kUncovered = std::numeric_limits<uint32_t>::max();

// The mass of `weights` in each of `cells` cells. CANCELLED as in Pacer.
absl::StatusOr<std::vector<double>> MassInCells(std::span<const uint32_t> cell_of_record, size_t cells,
                                                std::span<const double> weights, Pacer& pacer);

// Definition 3.1 of the paper: q becomes f(q; W_s, y_s), in place.
//   - In a cell i with mass, weights are scaled to the sum target[i].
//   - In a cell without mass, target[i] is spread evenly over the cell's records.
//   - Uncovered records share 1 - |target|_1 likewise: scaled, or evenly where they have no mass.
// Theorem 3.1: among all distributions with W_s q' = target this one has the least relative entropy to q, as
// long as every cell with a target has mass. Each cell with a target has a record, and so have the uncovered
// ones where the targets sum to less than 1; `target` is not negative and sums to at most 1. CANCELLED as in
// Pacer.
absl::Status LeastEntropyUpdate(std::span<const uint32_t> cell_of_record, std::span<const double> target,
                                std::span<double> weights, Pacer& pacer);

// Which of the minimisers of the L1 distance to the noisy answers is taken: there are many, as any way of
// cutting what exceeds a sum of 1 from cells that keep their sign is one.
enum class Projection {
  kNearest,  // the one of least relative entropy to the distribution before: the paper's two stages in one
  kScale,    // clip at zero, then scale
};

// A y >= 0 that sums to 1, vanishes where `reachable` is 0, and minimises |y - noisy|_1 among those. `mass`
// is what the distribution has in each cell now: it decides between minimisers under kNearest. Where no
// reachable cell has a positive answer, y is `mass`. All three are equally long; `mass` sums to 1 over
// reachable cells.
std::vector<double> ProjectAnswers(std::span<const double> noisy, std::span<const uint8_t> reachable,
                                   std::span<const double> mass, Projection projection);

// One marginal of the records that the weights are of.
struct MarginalOfRecords {
  std::vector<uint32_t> cell_of_record;
  std::vector<uint8_t> reachable;  // for each cell, whether a record lies in it
};

struct EstimationRule {
  int64_t most_sweeps = 100;  // over all marginals
  double converged = 1e-6;    // a sweep in which no marginal moves by more (in L1) is the last
  Projection projection = Projection::kNearest;
};

// How an estimation converged, for display.
struct Convergence {
  int64_t sweeps = 0;
  double last_movement = 0;  // the largest L1 distance that a marginal moved in the last sweep
  double distance = 0;       // the mean over marginals of |answers - estimate|_1 at the end, in shares
  double unreachable = 0;    // the largest share of a marginal's answers in cells that no record lies in
};

// `shares[i]` are the noisy answers of `marginals[i]`, divided by the number of records; `weights` sum to 1
// and become the estimate. CANCELLED as in Pacer.
absl::StatusOr<Convergence> EstimateDistribution(std::span<const MarginalOfRecords> marginals,
                                                 std::span<const std::vector<double>> shares,
                                                 const EstimationRule& rule, std::span<double> weights,
                                                 Pacer& pacer);

// How much answers count: noise that moves each by `deviation` (in shares), beside a prior that is worth
// `trust` records.
struct Trust {
  double deviation = 0;
  double trust = 1;
};

// The same with answers that count only as far as their noise allows: the minimiser of
//   trust * KL(q | prior) + sum over answers ((answer - q's) / deviation)^2 / 2
// among distributions, by exact maximisation over the factors of one marginal after the other. It has one
// minimum also when answers contradict each other. Answers of cells without records are left out. To
// converge, answers are taken to be no firmer than deviation^2 trust = 1/256: what is missed then is small
// beside what a support can represent, and EstimateDistribution() meets answers exactly.
absl::StatusOr<Convergence> EstimateWeighed(std::span<const MarginalOfRecords> marginals,
                                            std::span<const std::vector<double>> shares, const Trust& trust,
                                            const EstimationRule& rule, std::span<double> weights,
                                            Pacer& pacer);

}  // namespace curator::dp
