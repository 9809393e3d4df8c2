// Answers as a reader gets them: the numbers of a release, post-processed where that was asked for, beside
// the error of the noise in them.
//
// Functions of public facts and released numbers: nothing here reads a record or charges anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/half_widths.h"
#include "dp/workload/measurement.h"
#include "dp/workload/post_processing.h"
#include "dp/workload/release.h"
#include "dp/workload/residual/residual_reader.h"
#include "dp/workload/workload_plan.h"
#include "service/memory_budget.h"
#include "service/workloads/measurement_summary.h"

namespace curator::service {

// The noise in one measured value.
struct NoiseSummary {
  dp::NoiseSpec noise;
  double standard_deviation = 0;
  double expected_absolute_error = 0;
  int64_t half_width = 0;  // of the interval at `level`
  double level = 0;
};
// Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < level < 1.
absl::StatusOr<NoiseSummary> Summarize(const dp::NoiseSpec& noise, double level);

// A query set that is answered as a table: one labelled row per answer (dp::Labels).
struct TableShape {
  std::vector<std::string> columns;
  int64_t answers = 0;
};
TableShape TableShapeOf(const dp::Domain& domain, const dp::AskedSet& asked);

// INVALID_ARGUMENT ("post_processing") when the marginals of `release` cannot be post-processed by `steps`,
// and for any step of statistics. Does not use the release's values, so a planned release can be checked
// before it is paid for.
absl::Status CheckPostProcessing(const dp::Domain& domain, const dp::WorkloadRelease& release,
                                 const dp::PostProcessing& steps);

// Bytes that the steps take, which CheckPostProcessing() allows, beside the answers. From public facts alone.
int64_t PostProcessingBytes(const dp::Domain& domain, const dp::WorkloadRelease& release,
                            const dp::PostProcessing& steps);

// The answers of one query group: whole numbers, or estimates. Errors are those before post-processing: one
// entry for all answers alike, one for each, or none where they are unknown. Post-processed answers have
// intervals of their own (dp/workload/shown_interval.h) instead of half widths.
struct AnsweredGroup {
  std::vector<int64_t> counts;
  std::vector<double> estimates;
  // Whether each answer is one measured value: its error is the NoiseSummary, and the vectors below are
  // empty.
  bool is_measured_itself = false;
  std::vector<double> standard_deviations;
  std::vector<double> half_widths;
  std::vector<double> lows;  // of each answer's interval
  std::vector<double> highs;

  size_t size() const { return counts.empty() ? estimates.size() : counts.size(); }
};

// Decodes a stored answer, for whose bytes `memory` was taken (dp::StoredAnswerBytes()), and takes what its
// conditions and AddForReading() need beside them. Errors: DATA_LOSS for a damaged one; those of
// RequestMemory::AddUpToAll().
absl::StatusOr<dp::WorkloadRelease> DecodeAnswer(const dp::Domain& domain, std::string_view payload,
                                                 RequestMemory& memory);

// Takes what answering from a decoded release of statistics or of residuals needs beside its stored bytes;
// nothing for others. Errors: likewise.
absl::Status AddForReading(const dp::Domain& domain, const dp::WorkloadRelease& release,
                           RequestMemory& memory);

// Reads the answers of a stored release, one query group after another. The same release gives the same
// numbers each time. Holds references to the arguments of Create(). Not thread-safe.
class ReleaseAnswers {
 public:
  // `level` is that of the half widths. Errors: DATA_LOSS for residuals that do not fit; those of
  // CheckPostProcessing(); CANCELLED when the client has gone, which is asked before each group is answered.
  static absl::StatusOr<ReleaseAnswers> Create(const dp::Domain& domain, const dp::WorkloadRelease& release,
                                               double level, const dp::PostProcessing& steps,
                                               std::stop_token client_left = {});

  // The noise of the measured values; none where it differs among them (residuals). Errors: those of
  // Summarize().
  absl::StatusOr<std::optional<NoiseSummary>> Noise();

  MeasurementSummary MeasurementOf(size_t set);

  // The answers of the next group: those of the first set in order, then those of the next set. There must be
  // one left. Marginals have been made to agree with each other, where `steps` say so. Errors: CANCELLED as
  // above.
  absl::StatusOr<AnsweredGroup> Next();

  // The answers of a set of statistics (dp::AnswersOf()).
  absl::StatusOr<std::vector<dp::StatisticAnswer>> Statistics(size_t set) const;

  const dp::WorkloadRelease& release() const { return release_; }
  const std::stop_token& client_left() const { return client_left_; }

 private:
  ReleaseAnswers(const dp::Domain& domain, const dp::WorkloadRelease& release, double level,
                 const dp::PostProcessing& steps, std::stop_token client_left);

  absl::Status AddErrors(const dp::QueryGroup& queries, size_t group_in_set, AnsweredGroup& group);

  absl::Status AddIntervals(dp::AnswerKind kind, const std::vector<double>& unbiased, AnsweredGroup& group);

  dp::GroupAnswers StoredAnswers(size_t set, size_t group);
  absl::Status ProcessMarginals();
  absl::Status ProjectMarginals(std::span<const dp::AttributeSet> marginals);

  const dp::Domain& domain_;
  const dp::WorkloadRelease& release_;
  const double level_;
  const dp::PostProcessing steps_;
  const double deviation_;  // of the noise in one measured value
  const std::stop_token client_left_;
  dp::AnswerReader reader_;
  std::optional<dp::ResidualReader> residuals_;  // of a release that was measured by residuals
  dp::HalfWidths half_widths_;
  const std::vector<dp::AskedStatistics> statistics_;  // the sets, of a release of statistics
  std::optional<NoiseSummary> noise_;
  // Of sets that are measured in the same way, by the strategy, its branches and its sources.
  std::map<std::tuple<dp::Strategy, int64_t, std::vector<size_t>>, MeasurementSummary> measurements_;
  std::vector<std::vector<double>> processed_marginals_;  // of all sets in order; empty without `steps`
  size_t next_marginal_ = 0;
  size_t next_set_ = 0;
  size_t next_group_ = 0;
};

}  // namespace curator::service
