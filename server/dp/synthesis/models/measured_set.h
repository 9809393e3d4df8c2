// Noisy answers over one set of attributes, and the logarithms of their factors in a fit by multiplicative
// updates (clique_fit.h says what is fitted).
//
// Not thread-safe, but for pure functions. Everything here is a function of public noisy answers, and has the
// same bits on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Noisy answers of a group: of all cells of a marginal, or of its listed queries.
struct NoisyAnswers {
  QueryGroup group;
  std::vector<double> answers;
  double standard_deviation = 1;  // of each answer's noise
};

// A measurement, its answers' lambdas so far, and the fit to its answers at the last update.
struct WeighedAnswers {
  NoisyAnswers measured;
  std::vector<double> lambdas;
  std::vector<double> fitted;
};

struct ReplayRule {
  int64_t most_sweeps = 100;
  // A replay has converged when a sweep moves the fit to no answer by more than this many standard deviations
  // of its noise.
  double converged = 0.01;
  // The weight of the distance from uniform (a sum over records) against that of one squared normalised
  // error.
  double prior_weight = 1;
};

struct Replayed {
  int64_t sweeps = 0;
  double largest_move = 0;  // of the fit to an answer between the last two sweeps, in standard deviations
};

// The measurements over one set of attributes, and the factor that their lambdas make.
class MeasuredSet {
 public:
  // Without measurements the factor is 1 in each of `cells` cells.
  MeasuredSet(AttributeSet set, int64_t cells);

  // Adds a measurement over the set with the lambdas that it has. Errors: CANCELLED as in Pacer.
  absl::Status Add(WeighedAnswers measurement, Pacer& pacer);

  // What an update has changed.
  struct Moved {
    std::vector<double> logarithms;  // by how much each cell's has risen
    double largest =
        0;  // how far the fit to an answer has moved since its last update, in standard deviations
  };

  // Maximises over the lambdas of all answers, where `weights` are those of the set's cells, at least
  // kLeastSum each; they become what they then are. Errors: CANCELLED as in Pacer.
  absl::StatusOr<Moved> Update(const ReplayRule& rule, std::vector<double>& weights, Pacer& pacer);

  const LogFactor& factor() const { return factor_; }
  const std::vector<WeighedAnswers>& measurements() const { return measurements_; }

 private:
  LogFactor factor_;
  std::vector<WeighedAnswers> measurements_;
};

// A float below 1e-45 is 0: no factor raises it again, although the log-factors that it stands for may rise.
// So a sum of such weights is taken to be this, which is more than it is, and no step overshoots.
inline constexpr double kLeastSum = 1e-36;

// The steps of single lambdas: how far one moves when the fit is maximised over it alone. Pure functions with
// the same bits on every machine.

// No single update moves a log-factor further; the next sweep may move it again.
inline constexpr double kMostStep = 20;

// The root of
//   step + gain * weight * e^step = goal
// for gain * weight >= 0: the step of a cell, or of a query that counts each record once, whose records now
// weigh `weight`.
double RelaxedStep(double gain, double weight, double goal);

// The records that a query counts `times` each, and what they weigh now.
struct CountedMass {
  double times = 1;
  double weight = 0;
};

// The root of
//   step + gain * (sum of times * weight * e^(times * step)) = goal,
// not further from 0 than kMostStep divided by the largest |times|. `masses` is not empty.
double RelaxedStep(double gain, std::span<const CountedMass> masses, double goal);

// The cells' weights, taken together by how often the query counts them.
std::vector<CountedMass> MassesOf(const LinearQuery& query, std::span<const double> cells);

}  // namespace curator::dp
