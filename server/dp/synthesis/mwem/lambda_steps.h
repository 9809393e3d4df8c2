// One answer's share of a fit: how far its lambda moves when the fit is maximised over it alone.
//
// Thread-safe: pure functions with the same bits on every machine.
#pragma once

#include <span>
#include <vector>

#include "dp/queries/linear_queries.h"

namespace curator::dp {

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
