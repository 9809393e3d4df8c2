// How many marginals to measure, and for which share of a budget, where a request does not say: rules from
// public facts, found by experiment on half of the tables (docs/results/aim.md).
//
// Thread-safe: plain values and pure functions. Square roots only, so that every machine finds the same.
#pragma once

#include <cstdint>

#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/loop/loop_schedule.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// What they are chosen from.
struct LoopFacts {
  double records = 1;  // a public guess: as stated, or 20,000
  double attributes = 1;
  double mean_size = 1;        // of the attributes
  double candidate_cells = 1;  // the mean over the candidates
  int64_t candidates = 0;
  BudgetShare budget;
};
LoopFacts FactsOf(const SynthesisInput& input, const LoopSchedule& schedule, const BudgetShare& budget);

// The expected noise of one count, when `counts` marginals share the whole budget.
double ExpectedNoise(const BudgetShare& whole, double counts);

// How far noise of the whole budget moves one count, when `counts` marginals share it, in proportion to the
// records.
double NoiseShare(const LoopFacts& facts, double counts);

// From 2 to 80, or 99 where there are no candidates: the more the one-way marginals suffer from noise the
// more they get, for nothing is known without them; where they do not, the marginals of several attributes
// say them, too. Of a pure budget they get more where the attributes outnumber the measurements.
int64_t UsualOneWayPercent(const LoopFacts& facts);

inline constexpr int64_t kMostMeasurements = 1000;

// As many measurements as leave each of them about as much noise as it has signal, which is less the more
// cells it has. Of a pure budget fewer: there noise grows with their number, not with its root. From 1 to
// kMostMeasurements.
int64_t UsualMeasurements(const LoopFacts& facts);

}  // namespace curator::dp
