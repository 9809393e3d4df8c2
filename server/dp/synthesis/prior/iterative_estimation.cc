#include "dp/synthesis/prior/iterative_estimation.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

double Distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

// The share of the positive answers that lies in cells without a record.
double UnreachableShare(const MarginalOfRecords& marginal, std::span<const double> shares) {
  double all = 0;
  double lost = 0;
  for (size_t cell = 0; cell < shares.size(); ++cell) {
    const double positive = std::max(0.0, shares[cell]);
    all += positive;
    if (marginal.reachable[cell] == 0) lost += positive;
  }
  return all > 0 ? lost / all : 0;
}

}  // namespace

absl::StatusOr<Convergence> EstimateDistribution(std::span<const MarginalOfRecords> marginals,
                                                 std::span<const std::vector<double>> shares,
                                                 const EstimationRule& rule, std::span<double> weights,
                                                 Pacer& pacer) {
  Convergence convergence;
  for (bool moves = true; moves && convergence.sweeps < rule.most_sweeps; ++convergence.sweeps) {
    convergence.last_movement = 0;
    for (size_t i = 0; i < marginals.size(); ++i) {
      const MarginalOfRecords& marginal = marginals[i];
      ASSIGN_OR_RETURN(const std::vector<double> mass,
                       MassInCells(marginal.cell_of_record, shares[i].size(), weights, pacer));
      const std::vector<double> target = ProjectAnswers(shares[i], marginal.reachable, mass, rule.projection);
      convergence.last_movement = std::max(convergence.last_movement, Distance(mass, target));
      RETURN_IF_ERROR(LeastEntropyUpdate(marginal.cell_of_record, target, weights, pacer));
    }
    moves = convergence.last_movement > rule.settled;
  }
  for (size_t i = 0; i < marginals.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<double> mass,
                     MassInCells(marginals[i].cell_of_record, shares[i].size(), weights, pacer));
    convergence.distance += Distance(mass, shares[i]) / static_cast<double>(marginals.size());
    convergence.unreachable = std::max(convergence.unreachable, UnreachableShare(marginals[i], shares[i]));
  }
  return convergence;
}

}  // namespace curator::dp
