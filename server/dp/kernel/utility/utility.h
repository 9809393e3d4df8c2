// The queries of PrivateQueries::SelectByUtility: a closed list. A caller passes public numbers and never
// code, so that the effect of one privacy unit on a score is known here, for every query.
//
// A new kind of utility is a struct in this list, its rounding in lattice_utility.cc (where its sensitivity
// is proved) and its scores in utility_scores.cc. Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/sensitivity/sensitivity.h"

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
// drawing from a posterior of temperature (see PrivateQueries::SelectByUtility) over the candidates, with
// logarithms of a prior as bonuses.
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

// How the records of one group come about together, with what distinguishes groups integrated out. A grid of
// candidates is the product of its axes. Everything below is public.
//
// Normal: members y_i = mu + e_i, mu ~ N(mean, between^2), e_i ~ N(0, within^2). Candidate (b, w, m) of the
// axes has the index (b * withins.size() + w) * means.size() + m.
struct NormalGroups {
  std::vector<double> values;    // of each code of the response; beyond low..high they count as low or high
  double low = 0;                // from here..
  double high = 1;               // ..to here responses and means reach
  std::vector<double> means;     // within low..high
  std::vector<double> betweens;  // standard deviations, at least 0
  std::vector<double> withins;   // standard deviations, at least (high - low) / kMostRangeInWithins
  bool operator==(const NormalGroups&) const = default;
};

// Binomial: each member is a success with its group's probability p, which takes kEffectPoints values, evenly
// spaced in log-odds from edge to 1 - edge; they are as likely as a beta distribution of this mean and
// intraclass correlation makes them. Candidate (c, m) of the axes has the index c * means.size() + m.
struct BinomialGroups {
  std::vector<uint8_t> successes;    // of each code of the response: 1 or 0
  double edge = 0.01;                // above 0, at most 1/4
  std::vector<double> means;         // within edge..1 - edge
  std::vector<double> correlations;  // strictly between 0 and 1; at least 1e-6, at most 1 - 1e-6
  bool operator==(const BinomialGroups&) const = default;
};

using GroupModel = std::variant<NormalGroups, BinomialGroups>;

// Exponents of the records' densities inside the integral (option C of Kim, Savitsky, Williams, Hu 2023), at
// most 1 and functions of the record's own response. `width` is how far apart adding the record may move the
// logarithms of the group's density under any two candidates (record_influence.h).
enum class RecordWeights {
  kOne,     // all are 1
  kScalar,  // all alike: what the farthest response needs to keep to `width`
  kVector,  // each what its own response needs
};

// A second exponent of a group as a whole, a function of all its responses: the clip over how far apart the
// candidates are for the group, or 1 if that is more.
enum class GroupWeight {
  kOne,
  kOutside,  // of the group's integrated density (option A)
  kInside,   // of what is integrated (option B, and with weights of records option C): the normal model only
};

// A group contributes the logarithm of its integrated, weighted density minus that under the candidate that
// explains it best, and at least -clip. No bound of a group's records is needed.
struct ClippedGroups {
  uint32_t attribute = 0;
  GroupModel model;
  RecordWeights records = RecordWeights::kOne;
  double width = 1;  // of RecordWeights other than kOne
  GroupWeight group = GroupWeight::kOne;
  double clip = 1;
  GroupRole role = GroupRole::kUnit;
  bool operator==(const ClippedGroups&) const = default;
};

// A unit is a record in one of the groups that the table knows, and moves its group's integrated, weighted
// density by no more than record_influence.h says: nothing is clipped. There is no weight of groups, because
// it would change with each of the group's records.
struct RecordsInGroups {
  uint32_t attribute = 0;
  GroupModel model;
  RecordWeights records = RecordWeights::kVector;
  double width = 1;  // of RecordWeights other than kOne
  bool operator==(const RecordsInGroups&) const = default;
};

// All numbers of a normal model lie within this distance from 0.
inline constexpr double kLargestNormalNumber = 1e6;
inline constexpr double kMostRangeInWithins = 1000;
// Of deviations between groups where a group's weight stands inside the integral: the square has a logarithm.
inline constexpr double kLeastInsideBetween = 1e-9;
inline constexpr size_t kEffectPoints = 257;
// Candidates of a binomial model, each with kEffectPoints numbers in memory.
inline constexpr int64_t kMostBinomialCandidates = int64_t{1} << 16;

using Utility = std::variant<ClippedSum, ClippedLogLikelihood, CellFrequency, QuantileValue, ClippedGroups,
                             RecordsInGroups>;

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
