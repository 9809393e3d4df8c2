// The public table of a fit: what it says of each candidate's counts, and how far that is trusted.
//
// Its marginals are believed in their dependence alone: they are scaled to the one-way marginals of the model
// first, which are measured. How far they are then off is taken to be a share of the records, the same for
// all marginals, and estimated from noisy answers: first from how far one-way marginals differ, then from
// each marginal that is measured. So a public table of other people counts less and less.
//
// Not thread-safe. Functions of the public table and of noisy answers, with the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/public_table.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// The variance of public shares, in proportion to that of a share in one record: the inverse of how many
// records the public table is worth. Never less than that of as many independent records as it has.
class PublicVariance {
 public:
  explicit PublicVariance(double rows) : least_(1 / rows), expected_(least_) {}

  double value() const;

  // One-way marginals were off by the squared distance `squares`, of which `noise` is expected from noise; a
  // public table of one record would be off by `spread` alone.
  void LearnFromOneWays(double squares, double noise, double spread);

  // The same of a measured marginal's counts and what the public table said of them. `deviation`: of
  // `squares`, from noise. Counts the less the larger that is.
  void LearnFromMarginal(double squares, double noise, double deviation, double spread);

 private:
  double least_;
  double expected_;      // before a marginal was measured
  double seen_ = 0;      // sum of weighted findings
  double weights_ = 0;   // and of their weights
  double one_ways_ = 0;  // how far one-way marginals were off
};

class PublicSource {
 public:
  // Counts `candidates` and `one_ways` in `table`, which is over `domain` and has records. Errors: those of
  // CountMarginals(); CANCELLED as in Pacer.
  static absl::StatusOr<PublicSource> Of(const Domain& domain, const PublicTable& table,
                                         std::vector<AttributeSet> candidates,
                                         const std::vector<AttributeSet>& one_ways, Executor& executor,
                                         Pacer& pacer);

  // Compares the model's one-way marginals, which have noise of `deviation` at most, with the public ones.
  absl::Status LearnFromOneWays(const std::vector<std::vector<double>>& estimates, double deviation,
                                Pacer& pacer);

  // What the public table says of a candidate's counts, where the model says `estimate`: its counts and one
  // record more that lies as in the estimate, scaled until the one-way marginals are those of the estimate.
  // Nothing in cells where the model has nothing.
  absl::StatusOr<std::vector<double>> CountsOf(size_t candidate, const std::vector<double>& estimate,
                                               Pacer& pacer) const;

  // Compares a measured candidate's noisy counts with what CountsOf() said.
  absl::Status LearnFrom(size_t candidate, std::span<const int64_t> noisy, std::span<const double> said,
                         double deviation, Pacer& pacer);

  // By how much what CountsOf() said is thought to be off in a cell, on average: its standard deviation.
  double DeviationOf(size_t candidate, std::span<const double> said) const;

  // Whether what CountsOf() said differs from the estimate by more than chance and other people explain.
  bool Contradicts(size_t candidate, std::span<const double> said, std::span<const double> estimate) const;

  bool is_taken(size_t candidate) const { return taken_[candidate]; }
  void Take(size_t candidate) { taken_[candidate] = true; }

 private:
  explicit PublicSource(double rows) : variance_(rows) {}

  PublicVariance variance_;
  double rows_ = 1;
  std::vector<std::vector<int64_t>> sizes_;  // of each candidate's attributes
  std::vector<std::vector<int64_t>> counts_;
  std::vector<double> spreads_;  // of each candidate's shares: 1 - sum of squares
  std::vector<std::vector<int64_t>> one_way_counts_;
  std::vector<bool> taken_;
};

}  // namespace curator::dp
