#include "dp/synthesis/prior/iterative_estimation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status_macros.h"
#include "dp/synthesis/models/portable_math.h"
#include "dp/synthesis/models/lambda_steps.h"

namespace curator::dp {
namespace {

// See EstimateWeighed().
constexpr double kFirmest = 256;

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

// Adds what is left of the answers at the end.
absl::StatusOr<Convergence> WithDistances(Convergence convergence,
                                          std::span<const MarginalOfRecords> marginals,
                                          std::span<const std::vector<double>> shares,
                                          std::span<const double> weights, Pacer& pacer) {
  for (size_t i = 0; i < marginals.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<double> mass,
                     MassInCells(marginals[i].cell_of_record, shares[i].size(), weights, pacer));
    convergence.distance += Distance(mass, shares[i]) / static_cast<double>(marginals.size());
    convergence.unreachable = std::max(convergence.unreachable, UnreachableShare(marginals[i], shares[i]));
  }
  return convergence;
}

// The prior times a product of factors. Exponents are kept beside the weights, which may vanish on the way
// and come back.
class FactoredWeights {
 public:
  explicit FactoredWeights(std::span<double> weights)
      : prior_(weights.begin(), weights.end()), exponents_(weights.size()), weights_(weights) {}

  // Maximises over the factors of one marginal; `logarithms` are theirs. Returns how far the marginal moved,
  // in L1.
  absl::StatusOr<double> Maximise(const MarginalOfRecords& marginal, std::span<const double> shares,
                                  double gain, std::span<double> logarithms, Pacer& pacer) {
    ASSIGN_OR_RETURN(const std::vector<double> mass,
                     MassInCells(marginal.cell_of_record, shares.size(), weights_, pacer));
    std::vector<double> steps(shares.size());
    double moved = 0;
    for (size_t cell = 0; cell < shares.size(); ++cell) {
      if (marginal.reachable[cell] == 0) continue;
      const double goal = gain * shares[cell] - logarithms[cell];
      steps[cell] = std::clamp(RelaxedStep(gain, mass[cell], goal), -kMostStep, kMostStep);
      logarithms[cell] += steps[cell];
      moved += std::abs(PortableExp(steps[cell]) - 1) * mass[cell];
    }
    RETURN_IF_ERROR(pacer.InPieces(weights_.size(), [&](size_t start, size_t length) {
      for (size_t record = start; record < start + length; ++record)
        exponents_[record] += steps[marginal.cell_of_record[record]];
    }));
    RETURN_IF_ERROR(Normalise(pacer));
    return moved;
  }

 private:
  // Makes the weights sum to 1: the exact maximisation over the factor that all records share.
  absl::Status Normalise(Pacer& pacer) {
    double largest = -std::numeric_limits<double>::infinity();
    RETURN_IF_ERROR(pacer.InPieces(prior_.size(), [&](size_t start, size_t length) {
      for (size_t record = start; record < start + length; ++record) {
        if (prior_[record] > 0) largest = std::max(largest, exponents_[record]);
      }
    }));
    double sum = 0;
    RETURN_IF_ERROR(pacer.InPieces(weights_.size(), [&](size_t start, size_t length) {
      for (size_t record = start; record < start + length; ++record) {
        exponents_[record] -= largest;
        weights_[record] = prior_[record] * PortableExp(std::min(0.0, exponents_[record]));
        sum += weights_[record];
      }
    }));
    return pacer.InPieces(weights_.size(), [&](size_t start, size_t length) {
      for (double& weight : weights_.subspan(start, length)) weight /= sum;
    });
  }

  std::vector<double> prior_;
  std::vector<double> exponents_;
  std::span<double> weights_;
};

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
  return WithDistances(convergence, marginals, shares, weights, pacer);
}

absl::StatusOr<Convergence> EstimateWeighed(std::span<const MarginalOfRecords> marginals,
                                            std::span<const std::vector<double>> shares, const Trust& trust,
                                            const EstimationRule& rule, std::span<double> weights,
                                            Pacer& pacer) {
  const double gain = std::min(kFirmest, 1 / (trust.deviation * trust.deviation * trust.trust));
  std::vector<std::vector<double>> logarithms;
  for (const std::vector<double>& marginal : shares) logarithms.emplace_back(marginal.size());
  FactoredWeights factored(weights);
  Convergence convergence;
  for (bool moves = true; moves && convergence.sweeps < rule.most_sweeps; ++convergence.sweeps) {
    convergence.last_movement = 0;
    for (size_t i = 0; i < marginals.size(); ++i) {
      ASSIGN_OR_RETURN(const double moved,
                       factored.Maximise(marginals[i], shares[i], gain, logarithms[i], pacer));
      convergence.last_movement = std::max(convergence.last_movement, moved);
    }
    moves = convergence.last_movement > rule.settled;
  }
  return WithDistances(convergence, marginals, shares, weights, pacer);
}

}  // namespace curator::dp
