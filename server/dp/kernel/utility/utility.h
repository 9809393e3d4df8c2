// The questions that Kernel::SelectByUtility can be asked: a closed list. A caller passes public numbers and
// never code, so that what one privacy unit can do to a score is known here, for every question.
//
// A new kind of utility is a struct in this list, its rounding in lattice_utility.cc (where its sensitivity
// is proved) and its scores in utility_scores.cc. Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::dp {

// Candidates are tables of numbers over the cells of one marginal: values[candidate][cell], in the order of
// the marginal's cells. The score of a candidate is a sum over privacy units: a unit contributes the sum of
// the values of the cells that its records lie in, clipped to low..high. So a unit's weight does not grow
// with the number of its records.
struct ClippedSum {
  AttributeSet attributes;
  std::vector<std::vector<double>> values;
  double low = 0;
  double high = 1;
  bool operator==(const ClippedSum&) const = default;
};

// Candidates are distributions over the cells of one marginal, as natural logarithms of probabilities:
// log_probabilities[candidate][cell]. A unit contributes the log-likelihood of its records under the
// candidate minus that under the candidate that explains them best, and at least -clip. Selecting by it is
// drawing from a posterior of temperature (see Kernel::SelectByUtility) over the candidates, with logarithms
// of a prior as bonuses.
struct ClippedLogLikelihood {
  AttributeSet attributes;
  std::vector<std::vector<double>> log_probabilities;
  double clip = 1;
  bool operator==(const ClippedLogLikelihood&) const = default;
};

// Candidates are the cells of one marginal; a unit contributes the number of its records in the cell, at most
// `most_per_unit`. The likeliest answer is the fullest cell.
struct CellFrequency {
  AttributeSet attributes;
  int64_t most_per_unit = 1;
  bool operator==(const CellFrequency&) const = default;
};

// Candidates are the values of one attribute, in their order; the likeliest answer is the value in which the
// quantile numerator / denominator of the records lies (1/2: the median). The score is minus the number of
// records, times the denominator, by which the value misses it:
//
//   -max(0, denominator below - numerator n, numerator n - denominator (below + at)),
//
// with n records, `below` of them with a smaller value and `at` of them with this one. No sum over units: its
// bound is proved by itself.
struct QuantileValue {
  uint32_t attribute = 0;
  int64_t numerator = 1;
  int64_t denominator = 2;
  bool operator==(const QuantileValue&) const = default;
};

// One candidate of the normal model of groups: members y_i = mu + e_i, mu ~ N(mean, between^2), e_i ~ N(0,
// within^2).
struct NormalParameters {
  double mean = 0;
  double between = 1;  // standard deviation, at least 0
  double within = 1;   // standard deviation, at least kLeastWithin
  bool operator==(const NormalParameters&) const = default;
};

// A unit is a group, and contributes the logarithm of the integrated likelihood of its records' responses (mu
// integrated out, normal_groups.h) minus that under the candidate that explains the group best, and at least
// -clip. The response is an attribute whose codes stand for public numbers. No bound of a group's records is
// needed.
struct ClippedNormalGroups {
  uint32_t attribute = 0;
  std::vector<double> values;  // of each code; rounded to 30 bits of the largest
  std::vector<NormalParameters> candidates;
  double clip = 1;
  bool operator==(const ClippedNormalGroups&) const = default;
};

// All numbers of the model lie within this distance from 0.
inline constexpr double kLargestNormalNumber = 1e6;
inline constexpr double kLeastWithin = 1e-3;

using Utility =
    std::variant<ClippedSum, ClippedLogLikelihood, CellFrequency, QuantileValue, ClippedNormalGroups>;

// Scores are counted in steps of 2^-20.
inline constexpr int kUtilityLatticeBits = 20;

// Bounds and clips reach at most this far from 0, bonuses at most as far as kLargestBonus, and values and
// log-probabilities beyond kLargestValue (minus infinity among them) count as that.
inline constexpr double kLargestClip = 1 << 10;
inline constexpr double kLargestValue = 1 << 11;
inline constexpr double kLargestBonus = static_cast<double>(int64_t{1} << 40);

// Candidates times cells of one question: they are held in memory at once (8 bytes each).
inline constexpr int64_t kMostUtilityValues = int64_t{1} << 26;

// The denominator of a quantile.
inline constexpr int64_t kLargestQuantileDenominator = 1000;

}  // namespace curator::dp
