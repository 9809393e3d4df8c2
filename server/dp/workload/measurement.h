// How a set of queries is measured, and how its answers are computed from the measured values: each query by
// itself, as sums of the cells of a marginal, or from a tree of intervals.
//
// Everything here is computed from public facts or from noisy values. Thread-safe: plain values and pure
// functions; the same input gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/interval_tree.h"

namespace curator::dp {

enum class Strategy {
  kAuto,           // the strategy of least expected error
  kDirect,         // noise on each answer
  kBaseHistogram,  // noise on the cells of a marginal; answers are sums of cells
  kTree,  // noise on a tree of intervals of one attribute (interval_tree.h), estimated by least squares
  // Noise on orthogonal parts of marginals, of a variance of its own on each part (residual_measurement.h);
  // answers are sums over their parts. Of all sets of a request, or of none.
  kResidual,
  // Weighted parities of all subsets of the attributes of marginals, each of two codes
  // (residual/parity_reader.h); answers are sums over them. Of all sets of a request, or of none.
  kParity,
};

inline constexpr double kLeastWeight = 1e-6;
inline constexpr double kMostWeight = 1e6;

// Queries that are measured by one strategy. The set's answers are those of its groups, in order.
struct QuerySet {
  std::vector<QueryGroup> groups;
  Strategy strategy = Strategy::kAuto;
  // Of its answers' variances in the objective (strategy_choice.h): from kLeastWeight to kMostWeight.
  double weight = 1;
  bool operator==(const QuerySet&) const = default;
};

// Where the answers of one query set come from, in a list of groups that are measured.
struct SetPlan {
  Strategy strategy = Strategy::kDirect;  // never kAuto
  int64_t branching = 0;                  // of a tree; 0 for other strategies
  // For each group of the set, the position in the list of measured groups of the one that answers it.
  std::vector<size_t> sources;
  bool operator==(const SetPlan&) const = default;
};

// Whether a strategy measures all sets of a request or none.
bool IsJoint(Strategy strategy);

// Whether these plans, of all sets of a request, are by parities.
bool AreByParity(std::span<const SetPlan> plans);

// A way to measure one query set alone.
struct Measurement {
  SetPlan plan;
  std::vector<QueryGroup> measured;  // each once
};

// The candidate measurements of `set` under its strategy: one or more, those of least cost to compute first.
// kAuto: all that fit the limits; but a set of whole marginals is measured as such. A base histogram is
// either the largest of the marginals that the groups are over, or one over all of their attributes, of at
// most kMostBaseCells cells; a tree has 2, 4, 8, 16, or 32 branches, over at most `most_tree_bins` bins.
// `set` valid. Errors: INVALID_ARGUMENT (no field) when the strategy that the set names cannot answer it, and
// why.
inline constexpr int64_t kMostBaseCells = int64_t{1} << 22;
// Of all trees that are candidates in one request, each counted once for its five numbers of branches. The
// trees of 2^20 bins take 55 MB and a third of a second.
inline constexpr int64_t kMostTreeBins = int64_t{1} << 20;
absl::StatusOr<std::vector<Measurement>> MeasurementsFor(const Domain& domain, const QuerySet& set,
                                                         int64_t most_tree_bins = kMostTreeBins);

// The number of bins that the trees among `ways` count towards kMostTreeBins.
int64_t TreeBinsOf(const Domain& domain, const std::vector<Measurement>& ways);

// The error of one answer, in terms of the independent noise of what is measured.
struct AnswerError {
  double variance_factor = 1;  // the answer's variance, in units of one measured value's
  // The number of measured values that are added or subtracted, each once; 0 where other weights occur.
  int64_t terms = 1;
  // The sum of the fourth powers of the weights of measured values; that of their squares is the variance
  // factor. It bounds each weight, and gives the kurtosis.
  double fourth_factor = 1;
  CodeInterval interval = {};  // that a tree answers
  bool operator==(const AnswerError&) const = default;
};

// The errors of the answers of `group`, which is answered by `source` under `plan`, which is neither
// kResidual nor kParity (answer_reader.h): one for each, or a single one that holds for all.
std::vector<AnswerError> ErrorsOf(const Domain& domain, const QueryGroup& group, const SetPlan& plan,
                                  const QueryGroup& source);

// The errors of the boxes of `group` by the estimates of `tree`, which is over its attribute.
std::vector<AnswerError> TreeErrors(const IntervalTree& tree, const QueryGroup& group);

// The half width of an interval around an answer that holds the true one with probability `level`: exact for
// sums of measured values (noise_sum.h). For others a bound from the two factors (noise_combination.h);
// half_widths.h has those of their own distributions. Errors: INVALID_ARGUMENT ("confidence_level") unless
// 0 < level < 1.
absl::StatusOr<double> HalfWidthOf(const NoiseSpec& noise, const AnswerError& error, double level);

// At least the probability that an answer's error exceeds `error_bound` >= 0 in absolute value, as above.
double TailOf(const NoiseSpec& noise, const AnswerError& error, double error_bound);

// "sums of the 340 cells of age, sex", "12 answers, each measured".
std::string Describe(const Domain& domain, const Measurement& measurement);

}  // namespace curator::dp
