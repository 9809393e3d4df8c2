// Post-processing of measured answers at the caller's request: it reads no record and costs nothing, and an
// answer that was changed is marked as such.
//
// The guarantee of each step, for the marginals of a request:
//
//   non-negative         No cell is below 0. Each marginal is replaced by the nearest one, in squares, that
//                        has its noisy total (0 if that is negative) and no negative cell: small counts sink
//                        together instead of negative ones being cut off, which would raise totals.
//   consistent           Marginals agree on what they share: the weighted least-squares estimate
//                        (marginal_consistency.h), exact.
//   both                 The nearest in weighted squares that has no negative cell, agrees, and has the total
//                        of the consistent estimate (0 if that is negative), up to the limits of AscendDual()
//                        (dual_ascent.h): no cell is below 0, exactly, and no sum that two marginals share
//                        differs by more than `disagreement`.
//   integer              Each marginal in whole numbers that sum to its rounded total; each cell moves by
//                        less than 1.
//   integer, consistent  Whole numbers that agree exactly (MarginalConsistency::Rounded): cells of k-way
//                        marginals move by less than 2^(k-1), cumulative counts by at most 1/2.
//   all three            Whole numbers, none below 0, all with the same total. One- and two-way marginals
//                        agree exactly (there is always such a rounding). Wider ones agree but for their own
//                        rounding, less than 1 in each cell: to decide whether they could agree exactly is
//                        NP-hard (Irving, Jerrum 1994).
//
// Counts that are not marginals: non-negative cuts at 0, integer rounds each to the nearest; consistent
// leaves them alone.
//
// Marginals that were measured by residuals agree already. Non-negative ones are the nearest that agree, with
// weights for each set of attributes (residual/residual_projection.h).
//
// After any step but `consistent` alone the error is no longer that of the noise: it is biased, and usually
// smaller. Intervals are made from those of the answers before these steps (shown_interval.h).
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/dual_ascent.h"
#include "dp/workload/marginal_consistency.h"

namespace curator::dp {

struct PostProcessing {
  bool non_negative = false;
  bool consistent = false;
  bool integer = false;

  bool any() const { return non_negative || consistent || integer; }
  bool operator==(const PostProcessing&) const = default;
};

// "non-negative, consistent, integer"; empty for nothing.
std::string Describe(const PostProcessing& steps);

struct MeasuredMarginal {
  MeasuredShape shape;
  CellValues cells;  // finite
};

struct PostProcessed {
  std::vector<CellValues> marginals;  // in the order given
  // No two marginals differ by more on any sum that they share, before they were made whole numbers. 0 for
  // exact agreement; without `consistent` it is not known, and 0.
  double disagreement = 0;
};

inline constexpr int64_t kMostProjectedCells = int64_t{1} << 19;  // for both at once: 15 s at worst

// INVALID_ARGUMENT ("post_processing") when these marginals cannot be processed by `steps`, to be checked
// before anything is measured or paid for: those of CheckConsistency() for `consistent`, and
// kMostProjectedCells when it is to be non-negative as well.
absl::Status CheckPostProcessing(const Domain& domain, std::span<const MeasuredShape> marginals,
                                 const PostProcessing& steps);

// The marginals of one request after `steps`. Errors: those of CheckPostProcessing(); CANCELLED soon after
// `stop` is requested.
absl::StatusOr<PostProcessed> PostProcess(const Domain& domain, std::vector<MeasuredMarginal> marginals,
                                          const PostProcessing& steps, const std::stop_token& stop = {});

// The kind of weights in the queries: counts of records cannot be negative, differences can.
enum class AnswerKind { kCounts, kDifferences };

// Answers to queries that are not marginals, each by itself.
std::vector<double> PostProcess(AnswerKind kind, std::vector<double> answers, const PostProcessing& steps);

}  // namespace curator::dp
