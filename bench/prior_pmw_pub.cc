#include "bench/prior_pmw_pub.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

constexpr int kSweeps = 30;

// Of each row, the cell that it lies in.
std::vector<uint32_t> CellsOf(const Domain& domain, const std::vector<std::vector<uint32_t>>& rows,
                              const AttributeSet& set) {
  std::vector<uint32_t> cells;
  for (const auto& row : rows) {
    uint32_t cell = 0;
    for (const uint32_t a : set) cell = cell * static_cast<uint32_t>(domain.attributes()[a].size()) + row[a];
    cells.push_back(cell);
  }
  return cells;
}

// A marginal with the cell of each row, and, once it was measured, its shares.
struct Candidate {
  AttributeSet set;
  std::vector<uint32_t> cells;
  std::vector<double> measured;

  std::vector<double> SharesUnder(const std::vector<double>& weights, size_t size) const {
    std::vector<double> shares(size);
    for (size_t i = 0; i < weights.size(); ++i) shares[cells[i]] += weights[i];
    return shares;
  }
};

// What the draws cost, and their noise.
struct Draws {
  NoiseSpec count;
  NoiseSpec marginal;
  Epsilon selection;
  std::vector<CountedEvent> all;
};

// The exponential mechanism of epsilon is (epsilon^2 / 8)-zCDP; units are 1e-12 of each.
Draws DrawsFor(const PmwPubRule& rule) {
  const Sensitivity one = MarginalsSensitivity({}, 1).value();
  const Sensitivity records = RecordCountSensitivity({}).value();
  const int64_t count_units = rule.rho.units() / 20;
  const int64_t half = (rule.rho.units() - count_units) / rule.rounds / 2;
  Draws draws;
  draws.count = GaussianNoiseFor(records, Rho(count_units)).value();
  draws.marginal = GaussianNoiseFor(one, Rho(half)).value();
  draws.selection = Epsilon(static_cast<int64_t>(std::floor(std::sqrt(8e12 * static_cast<double>(half)))));
  draws.all = {{NoiseEvent(draws.count, records), 1},
               {{ExponentialMechanismEvent{draws.selection}}, rule.rounds},
               {NoiseEvent(draws.marginal, one), rule.rounds}};
  return draws;
}

WeightedRecords SharesOf(const std::vector<std::vector<uint32_t>>& open) {
  std::map<std::vector<uint32_t>, double> shares;
  for (const auto& row : open) shares[row] += 1 / static_cast<double>(open.size());
  WeightedRecords records;
  for (const auto& [row, share] : shares) {
    records.rows.push_back(row);
    records.shares.push_back(share);
  }
  return records;
}

// One multiplicative update by a measured marginal.
void Update(const Candidate& candidate, std::vector<double>& weights) {
  std::vector<double> factors = candidate.SharesUnder(weights, candidate.measured.size());
  for (size_t cell = 0; cell < factors.size(); ++cell)
    factors[cell] = std::exp((candidate.measured[cell] - factors[cell]) / 2);
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) total += weights[i] *= factors[candidate.cells[i]];
  for (double& weight : weights) weight /= total;
}

class Rounds {
 public:
  Rounds(const Domain& domain, const std::vector<AttributeSet>& sets, WeightedRecords& records,
         double deviation)
      : records_(records) {
    for (const AttributeSet& set : sets) {
      candidates_.push_back({set, CellsOf(domain, records.rows, set), {}});
      const auto cells = static_cast<double>(*domain.CellCount(set));
      families_.push_back({.group = {set, EveryCell()},
                           .estimate = std::vector<double>(static_cast<size_t>(cells)),
                           .penalty = deviation * cells});
    }
  }

  void Play(Kernel& kernel, const Draws& draws) {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      families_[i].estimate = candidates_[i].SharesUnder(records_.shares, families_[i].estimate.size());
      for (double& count : families_[i].estimate) count *= records_.records;
    }
    const size_t chosen = kernel.SelectWorstCandidate(families_, draws.selection).value().family;
    families_[chosen].excluded = {0};
    const auto answers = kernel.NoisyCounts(std::span(&candidates_[chosen].set, 1), draws.marginal).value();
    for (const int64_t answer : answers[0])
      candidates_[chosen].measured.push_back(static_cast<double>(answer) / records_.records);
    measured_.push_back(chosen);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (const size_t i : measured_) Update(candidates_[i], records_.shares);
    }
  }

 private:
  WeightedRecords& records_;
  std::vector<Candidate> candidates_;
  std::vector<CandidateFamily> families_;
  std::vector<size_t> measured_;
};

}  // namespace

std::vector<std::vector<double>> WeightedRecords::MarginalsOf(const Domain& domain,
                                                              const std::vector<AttributeSet>& sets) const {
  std::vector<std::vector<double>> marginals;
  for (const AttributeSet& set : sets) {
    const std::vector<uint32_t> cells = CellsOf(domain, rows, set);
    std::vector<double>& counts = marginals.emplace_back(static_cast<size_t>(*domain.CellCount(set)));
    for (size_t i = 0; i < cells.size(); ++i) counts[cells[i]] += shares[i] * records;
  }
  return marginals;
}

WeightedRecords PmwPub(const Domain& domain, const SealedTableHandle& table,
                       const std::vector<std::vector<uint32_t>>& open,
                       const std::vector<AttributeSet>& candidates, const PmwPubRule& rule) {
  DrawKey::Bytes key{};
  key[0] = static_cast<uint8_t>(rule.seed);
  Drbg bits{DrawKey(key)};
  const Draws draws = DrawsFor(rule);
  Kernel kernel(table, domain, {}, Meter(draws.all), bits);
  WeightedRecords records = SharesOf(open);
  records.records = std::max<double>(1, static_cast<double>(kernel.NoisyRecordCount(draws.count).value()));
  const double deviation = ForecastError(draws.marginal).expected_absolute_error;
  Rounds rounds(domain, candidates, records, deviation);
  for (int round = 0; round < rule.rounds; ++round) rounds.Play(kernel, draws);
  return records;
}

}  // namespace curator::dp
