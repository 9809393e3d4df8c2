#include "dp/synthesis/prior/iterative_estimation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/status_macros.h"
#include "dp/synthesis/models/measured_set.h"
#include "dp/synthesis/models/portable_math.h"

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
    moves = convergence.last_movement > rule.converged;
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
    moves = convergence.last_movement > rule.converged;
  }
  return WithDistances(convergence, marginals, shares, weights, pacer);
}

namespace {

// Makes `y` sum to exactly what it should, up to rounding.
void ScaleToOne(std::vector<double>& y) {
  const double sum = std::accumulate(y.begin(), y.end(), 0.0);
  for (double& cell : y) cell /= sum;
}

// Cells in the order in which answer / mass rises, so that the first ones are cut (or raised) first.
std::vector<size_t> ByRatio(const std::vector<double>& clipped, std::span<const double> mass) {
  std::vector<size_t> order;
  for (size_t cell = 0; cell < clipped.size(); ++cell) {
    if (mass[cell] > 0) order.push_back(cell);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return clipped[a] * mass[b] < clipped[b] * mass[a]; });
  return order;
}

// min(clipped, factor * mass), with the factor at which it sums to 1. Where even all of the answers of cells
// with mass do not reach 1, the cells without mass share the rest by their answers.
std::vector<double> CutToOne(const std::vector<double>& clipped, std::span<const double> mass) {
  const std::vector<size_t> order = ByRatio(clipped, mass);
  double kept = 0;
  double mass_left = 0;
  for (const size_t cell : order) mass_left += mass[cell];
  std::vector<double> y(clipped.size());
  size_t next = 0;
  for (; next < order.size(); ++next) {
    const size_t cell = order[next];
    // Does a factor that takes this answer whole leave room for all others?
    if (kept + clipped[cell] / mass[cell] * mass_left >= 1) break;
    y[cell] = clipped[cell];
    kept += clipped[cell];
    mass_left -= mass[cell];
  }
  if (next < order.size()) {
    const double factor = (1 - kept) / mass_left;
    for (; next < order.size(); ++next) y[order[next]] = factor * mass[order[next]];
    return y;
  }
  double outside = 0;
  for (size_t cell = 0; cell < clipped.size(); ++cell) outside += mass[cell] > 0 ? 0 : clipped[cell];
  for (size_t cell = 0; cell < clipped.size(); ++cell) {
    if (!(mass[cell] > 0) && outside > 0) y[cell] = clipped[cell] * (1 - kept) / outside;
  }
  return y;
}

// max(clipped, factor * mass), with the factor at which it sums to 1.
std::vector<double> RaiseToOne(const std::vector<double>& clipped, std::span<const double> mass) {
  const std::vector<size_t> order = ByRatio(clipped, mass);
  std::vector<double> y = clipped;
  double fixed = std::accumulate(clipped.begin(), clipped.end(), 0.0);
  double mass_raised = 0;
  double factor = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    fixed -= clipped[order[i]];
    mass_raised += mass[order[i]];
    factor = (1 - fixed) / mass_raised;
    const bool is_last = i + 1 == order.size();
    if (is_last || factor * mass[order[i + 1]] <= clipped[order[i + 1]]) break;
  }
  for (const size_t cell : order) y[cell] = std::max(clipped[cell], factor * mass[cell]);
  return y;
}

}  // namespace

absl::StatusOr<std::vector<double>> MassInCells(std::span<const uint32_t> cell_of_record, size_t cells,
                                                std::span<const double> weights, Pacer& pacer) {
  std::vector<double> mass(cells);
  RETURN_IF_ERROR(pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
    for (size_t record = start; record < start + length; ++record) {
      const uint32_t cell = cell_of_record[record];
      if (cell != kUncovered) mass[cell] += weights[record];
    }
  }));
  return mass;
}

absl::Status LeastEntropyUpdate(std::span<const uint32_t> cell_of_record, std::span<const double> target,
                                std::span<double> weights, Pacer& pacer) {
  // The uncovered records are one more cell, the last.
  const size_t rest = target.size();
  const auto cell_at = [&](size_t record) {
    const uint32_t cell = cell_of_record[record];
    return cell == kUncovered ? rest : size_t{cell};
  };
  std::vector<double> wanted(target.begin(), target.end());
  wanted.push_back(std::max(0.0, 1 - std::accumulate(target.begin(), target.end(), 0.0)));
  std::vector<double> mass(rest + 1);
  std::vector<double> records(rest + 1);
  RETURN_IF_ERROR(pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
    for (size_t record = start; record < start + length; ++record) {
      mass[cell_at(record)] += weights[record];
      ++records[cell_at(record)];
    }
  }));
  std::vector<double> factor(rest + 1);
  std::vector<double> even(rest + 1);
  for (size_t cell = 0; cell <= rest; ++cell) {
    if (mass[cell] > 0) {
      factor[cell] = wanted[cell] / mass[cell];
    } else if (records[cell] > 0) {
      even[cell] = wanted[cell] / records[cell];
    }
  }
  return pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
    for (size_t record = start; record < start + length; ++record)
      weights[record] = weights[record] * factor[cell_at(record)] + even[cell_at(record)];
  });
}

std::vector<double> ProjectAnswers(std::span<const double> noisy, std::span<const uint8_t> reachable,
                                   std::span<const double> mass, Projection projection) {
  std::vector<double> clipped(noisy.size());
  double sum = 0;
  for (size_t cell = 0; cell < noisy.size(); ++cell) {
    clipped[cell] = reachable[cell] != 0 ? std::max(0.0, noisy[cell]) : 0.0;
    sum += clipped[cell];
  }
  std::vector<double> y;
  if (!(sum > 0)) {
    y.assign(mass.begin(), mass.end());
  } else if (projection == Projection::kScale) {
    y = std::move(clipped);
  } else {
    y = sum > 1 ? CutToOne(clipped, mass) : RaiseToOne(clipped, mass);
  }
  ScaleToOne(y);
  return y;
}

}  // namespace curator::dp
