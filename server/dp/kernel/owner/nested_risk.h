// How much single groups and single records weigh in the likelihood of the normal model of nested records,
// under the weightings of pseudo-posteriors (Kim, Savitsky, Williams, Hu 2023): PRIVATE figures for the
// owner, computed from the data at hand. No guarantee rests on them; the mechanisms of dp/kernel/utility
// bound the weight of a unit for all data.
//
// Model: members y_i = mu + e_i of one group, mu ~ N(nu, tau^2), e_i ~ N(0, sigma^2). A group contributes the
// logarithm of
//
//   A: (integral of prod_i f(y_i | mu)^a_i f(mu) dmu)^a_g        (the slides' option A: here with any a_i)
//   B: integral of (prod_i f(y_i | mu) f(mu))^a_g dmu
//   C: integral of (prod_i f(y_i | mu)^a_i f(mu))^a_g dmu
//
// with weights a_g of the group and a_i of its records. A group's sensitivity is the largest absolute
// contribution over a grid of (nu, tau, sigma); a record's is that of the difference which it makes when it
// is left out. As on the slides, a weight is inversely proportional to the sensitivity without it: the least
// sensitive record (or group) has the largest weight.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::dp {

// The responses of one group: distinct values and the number of times that each occurs.
struct RiskGroup {
  std::vector<double> values;
  std::vector<int64_t> counts;  // as many, at least 1
};

// All combinations; each list rises.
struct RiskGrid {
  std::vector<double> means;     // nu
  std::vector<double> betweens;  // tau, above 0
  std::vector<double> withins;   // sigma, above 0
};

// The number of deviations of each kind in a grid: fewer where there are many distinct responses, so that a
// report takes seconds.
int DeviationsFor(const std::vector<RiskGroup>& groups);

// Plausible parameters of the data, as on the slides, whose grid are draws from the posterior: means
// within three standard errors of the fit by moments, deviations from a fifth of it to twice it, in equal
// ratios, and none below `least` > 0. As private as the data. `groups` as NestedRisk() takes them,
// `per_deviation` at least 2.
RiskGrid RiskGridAround(const std::vector<RiskGroup>& groups, double least, int per_deviation);

// Everything within public bounds low <= high: means over them, deviations in equal ratios from a hundredth
// of their distance to a quarter of it. Bounds that are one number reach half of `resolution` > 0 to either
// side. Far from the data a group's weight follows from its distance, however little its records weigh.
RiskGrid RiskGridOver(double low, double high, double resolution, int per_deviation);

enum class RiskLevel { kGroup, kRecord };

struct Quartiles {
  double least = 0;
  double first = 0;
  double median = 0;
  double third = 0;
  double largest = 0;
};

struct RiskRow {
  std::string weighting;  // "none", "scalar", "vector 0.5", "group", "vector and group 0.1"
  std::string option;     // "A", "B" or "C"; empty without weights
  RiskLevel level = RiskLevel::kGroup;
  Quartiles sensitivities;
};

// Rows in the order of the slides' table, those of groups first. "vector c" weights each record by c times
// the least sensitivity over its own, "vector and group c" also each group in what then is its own; "scalar"
// gives all records (C) or groups (A) the weight of the most sensitive record. Errors: INVALID_ARGUMENT for
// no records, for groups without any, for counts below 1, and for an empty grid.
absl::StatusOr<std::vector<RiskRow>> NestedRisk(const std::vector<RiskGroup>& groups, const RiskGrid& grid);

}  // namespace curator::dp
