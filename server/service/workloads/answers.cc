#include "service/workloads/answers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "codec/release_codec.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/residual/residual_projection.h"
#include "dp/workload/shown_interval.h"

namespace curator::service {
namespace {

bool IsMarginals(const dp::AskedSet& asked) {
  return asked.query_class == dp::QueryClass::kMarginals;
}

absl::Status CheckReadsResiduals(const dp::WorkloadRelease& release, const dp::ResidualErrors& errors) {
  for (const dp::AskedSet& asked : release.asked) {
    for (const dp::QueryGroup& group : asked.queries.groups) {
      if (!errors.CanRead(group))
        return absl::DataLossError("a stored release lacks residuals of its answers");
    }
  }
  return absl::OkStatus();
}

absl::Status DamagedResiduals(const absl::Status& status) {
  return absl::DataLossError(
      absl::StrCat("the residuals of a stored release are damaged: ", std::string(status.message())));
}

// The attributes of the marginals of all sets, in order.
std::vector<dp::AttributeSet> MarginalsOf(const dp::WorkloadRelease& release) {
  std::vector<dp::AttributeSet> marginals;
  for (const dp::AskedSet& asked : release.asked) {
    if (!IsMarginals(asked)) continue;
    for (const dp::QueryGroup& group : asked.queries.groups) marginals.push_back(group.attributes);
  }
  return marginals;
}

// Of marginals that agree, whose variances have no effect.
std::vector<dp::MeasuredShape> ShapesAlike(std::span<const dp::AttributeSet> marginals) {
  std::vector<dp::MeasuredShape> shapes;
  for (const dp::AttributeSet& attributes : marginals) shapes.push_back({attributes, 1});
  return shapes;
}

// Marginals that were measured by residuals agree already: non-negative ones are then made together, where
// dp::ResidualProjection can, and otherwise each by itself.
bool CanProject(const dp::Domain& domain, const dp::WorkloadRelease& release,
                std::span<const dp::AttributeSet> marginals) {
  const bool is_damaged = std::ranges::any_of(
      marginals, [](const dp::AttributeSet& set) { return set.size() > dp::kMostProductAxes; });
  return !is_damaged && dp::ProjectionSteps(domain, release.residual->queries,
                                            dp::WidestSets(marginals).sets()) <= dp::kMostProjectionSteps;
}

absl::Status CheckResidualPostProcessing(const dp::Domain& domain, const dp::WorkloadRelease& release,
                                         const dp::PostProcessing& steps) {
  const std::vector<dp::AttributeSet> marginals = MarginalsOf(release);
  if (marginals.empty() || !steps.consistent) return absl::OkStatus();
  if (!steps.non_negative)
    return steps.integer ? dp::CheckPostProcessing(domain, ShapesAlike(marginals), steps) : absl::OkStatus();
  if (CanProject(domain, release, marginals)) return absl::OkStatus();
  return InvalidField("post_processing",
                      "the marginals have too many cells, or prefixes and ranges over too many values, to be "
                      "non-negative and consistent together");
}

std::vector<dp::MeasuredShape> MarginalShapesOf(const dp::Domain& domain,
                                                const dp::WorkloadRelease& release) {
  if (release.residual) return ShapesAlike(MarginalsOf(release));
  const double deviation = dp::ForecastError(release.noise).standard_deviation;
  std::vector<dp::MeasuredShape> shapes;
  dp::MeasuredErrors errors(domain, release.measured);
  for (size_t i = 0; i < release.asked.size(); ++i) {
    if (!IsMarginals(release.asked[i])) continue;
    for (size_t j = 0; j < release.asked[i].queries.groups.size(); ++j) {
      const dp::QueryGroup& group = release.asked[i].queries.groups[j];
      const dp::SetPlan& plan = release.plans[i];
      const double factor = errors.Of(group, plan, plan.sources[j]).front().variance_factor;
      // Clamped away from zero: noise this small cannot make marginals inconsistent.
      shapes.push_back({group.attributes, std::max(1e-300, factor * deviation * deviation)});
    }
  }
  return shapes;
}

std::vector<double> AsReals(const dp::GroupAnswers& answers) {
  if (answers.counts.empty()) return answers.estimates;
  return {answers.counts.begin(), answers.counts.end()};
}

// `values`, as whole numbers where `steps` promise them.
dp::GroupAnswers Processed(std::vector<double> values, const dp::PostProcessing& steps) {
  dp::GroupAnswers answers;
  if (steps.integer) {
    for (const double value : values) answers.counts.push_back(std::llround(value));
  } else {
    answers.estimates = std::move(values);
  }
  return answers;
}

}  // namespace

absl::StatusOr<NoiseSummary> Summarize(const dp::NoiseSpec& noise, double level) {
  const dp::ErrorForecast forecast = dp::ForecastError(noise);
  ASSIGN_OR_RETURN(const int64_t half_width, dp::ConfidenceHalfWidth(noise, level));
  return NoiseSummary{.noise = noise,
                      .standard_deviation = forecast.standard_deviation,
                      .expected_absolute_error = forecast.expected_absolute_error,
                      .half_width = half_width,
                      .level = level};
}

TableShape TableShapeOf(const dp::Domain& domain, const dp::AskedSet& asked) {
  TableShape shape{.columns = dp::ColumnsOf(domain, asked)};
  if (asked.statistics) shape.answers = dp::NumberOfAnswers(domain, *asked.statistics);
  for (const dp::QueryGroup& group : asked.queries.groups)
    shape.answers += dp::NumberOfQueries(domain, group);
  return shape;
}

namespace {

// Without those that change nothing: marginals by parities agree already, as long as none is changed.
dp::PostProcessing StepsThatMatter(const dp::WorkloadRelease& release, dp::PostProcessing steps) {
  if (dp::AreByParity(release.plans) && !steps.non_negative && !steps.integer) steps.consistent = false;
  return steps;
}

}  // namespace

absl::Status CheckPostProcessing(const dp::Domain& domain, const dp::WorkloadRelease& release,
                                 const dp::PostProcessing& wanted) {
  const dp::PostProcessing steps = StepsThatMatter(release, wanted);
  if (!steps.any()) return absl::OkStatus();
  if (dp::AreStatistics(release.asked)) {
    return InvalidField(
        "post_processing",
        "is of counts; statistics come as they were computed from what was measured: leave it "
        "out");
  }
  if (release.residual) return CheckResidualPostProcessing(domain, release, steps);
  const std::vector<dp::MeasuredShape> shapes = MarginalShapesOf(domain, release);
  return shapes.empty() ? absl::OkStatus() : dp::CheckPostProcessing(domain, shapes, steps);
}

int64_t PostProcessingBytes(const dp::Domain& domain, const dp::WorkloadRelease& release,
                            const dp::PostProcessing& wanted) {
  const dp::PostProcessing steps = StepsThatMatter(release, wanted);
  constexpr int64_t kPerCell = 24;            // before, after, and in order of their size
  constexpr int64_t kPerConsistentCell = 40;  // with its place and share, and what marginals share
  constexpr int64_t kPerRoundedCell = 32;     // in integers of 128 bits
  constexpr int64_t kPerProjectedCell = 112;
  if (!steps.any()) return 0;
  const std::vector<dp::AttributeSet> marginals = MarginalsOf(release);
  int64_t cells = 0;
  for (const dp::AttributeSet& set : marginals) cells += domain.CellCount(set).value_or(0);
  if (release.residual && steps.non_negative && CanProject(domain, release, marginals))
    return kPerCell * cells + dp::ProjectionBytes(domain, dp::WidestSets(marginals).sets());
  if (!steps.consistent) return kPerCell * cells;
  if (steps.non_negative) return kPerProjectedCell * cells;
  return (kPerConsistentCell + (steps.integer ? kPerRoundedCell : 0)) * cells;
}

absl::Status AddForReading(const dp::Domain& domain, const dp::WorkloadRelease& release,
                           RequestMemory& memory) {
  if (release.residual) return memory.AddUpToAll(dp::ResidualReadingBytes(domain, release.asked));
  if (!dp::AreStatistics(release.asked)) return absl::OkStatus();
  const std::vector<dp::AskedStatistics> sets = dp::StatisticsOf(release.asked);
  RETURN_IF_ERROR(dp::CheckOfDomain(domain, sets, release.statistics));
  return memory.AddUpToAll(dp::StatisticsReadingBytes(domain, sets, release.statistics.draws));
}

absl::StatusOr<dp::WorkloadRelease> DecodeAnswer(const dp::Domain& domain, std::string_view payload,
                                                 RequestMemory& memory) {
  RETURN_IF_ERROR(memory.AddUpToAll(dp::ConditionBytes(codec::ConditionCells(payload))));
  ASSIGN_OR_RETURN(dp::WorkloadRelease release, codec::DecodeWorkloadRelease(payload));
  RETURN_IF_ERROR(AddForReading(domain, release, memory));
  return release;
}

ReleaseAnswers::ReleaseAnswers(const dp::Domain& domain, const dp::WorkloadRelease& release, double level,
                               const dp::PostProcessing& steps, std::stop_token client_left)
    : domain_(domain),
      release_(release),
      level_(level),
      steps_(steps),
      deviation_(dp::ForecastError(release.noise).standard_deviation),
      client_left_(std::move(client_left)),
      reader_(domain, release.measured, release.values),
      half_widths_(release.noise, level),
      statistics_(dp::StatisticsOf(release.asked)) {}

absl::StatusOr<ReleaseAnswers> ReleaseAnswers::Create(const dp::Domain& domain,
                                                      const dp::WorkloadRelease& release, double level,
                                                      const dp::PostProcessing& steps,
                                                      std::stop_token client_left) {
  ReleaseAnswers answers(domain, release, level, steps, std::move(client_left));
  if (release.residual) {
    absl::StatusOr<dp::ResidualReader> reader =
        dp::ResidualReader::Create(domain, *release.residual, release.values);
    if (!reader.ok()) return DamagedResiduals(reader.status());
    RETURN_IF_ERROR(CheckReadsResiduals(release, reader->errors()));
    answers.residuals_ = *std::move(reader);
  }
  if (steps.any()) RETURN_IF_ERROR(answers.ProcessMarginals());
  return answers;
}

dp::GroupAnswers ReleaseAnswers::StoredAnswers(size_t set, size_t group) {
  if (residuals_)
    return {.counts = {}, .estimates = residuals_->AnswersOf(release_.asked[set].queries.groups[group])};
  const dp::SetPlan& plan = release_.plans[set];
  return reader_.AnswersOf(release_.asked[set].queries.groups[group], plan, plan.sources[group]);
}

// The marginals of all sets in order after the steps, which make them agree with each other.
absl::Status ReleaseAnswers::ProcessMarginals() {
  RETURN_IF_ERROR(CheckPostProcessing(domain_, release_, steps_));
  const std::vector<dp::MeasuredShape> shapes = MarginalShapesOf(domain_, release_);
  if (shapes.empty()) return absl::OkStatus();
  if (residuals_ && steps_.non_negative) {
    const std::vector<dp::AttributeSet> sets = MarginalsOf(release_);
    if (CanProject(domain_, release_, sets)) return ProjectMarginals(sets);
  }
  std::vector<dp::MeasuredMarginal> marginals;
  for (size_t i = 0; i < release_.asked.size(); ++i) {
    if (!IsMarginals(release_.asked[i])) continue;
    for (size_t j = 0; j < release_.asked[i].queries.groups.size(); ++j) {
      RETURN_IF_ERROR(CheckGoesOn(client_left_));
      marginals.push_back({shapes[marginals.size()], AsReals(StoredAnswers(i, j))});
    }
  }
  dp::PostProcessing steps = StepsThatMatter(release_, steps_);
  // Those of residuals agree already, exactly.
  if (residuals_ && !steps.integer) steps.consistent = false;
  ASSIGN_OR_RETURN(dp::PostProcessed processed,
                   dp::PostProcess(domain_, std::move(marginals), steps, client_left_));
  processed_marginals_ = std::move(processed.marginals);
  return absl::OkStatus();
}

absl::Status ReleaseAnswers::ProjectMarginals(std::span<const dp::AttributeSet> marginals) {
  const dp::WidestSets widest(marginals);
  dp::Tables tables;
  for (const dp::AttributeSet& set : widest.sets()) {
    RETURN_IF_ERROR(CheckGoesOn(client_left_));
    tables.push_back(residuals_->AnswersOf({set, dp::EveryCell()}));
  }
  const dp::ResidualProjection projection(*release_.residual, residuals_->errors(), widest.sets());
  ASSIGN_OR_RETURN(const dp::NonNegativeTables nearest, projection.Nearest(std::move(tables), client_left_));
  for (const dp::AttributeSet& marginal : marginals) {
    const size_t wide = widest.Containing(marginal);
    processed_marginals_.push_back(dp::SumTo(domain_, widest.sets()[wide], nearest.tables[wide], marginal));
  }
  if (steps_.integer)
    processed_marginals_ = dp::RoundedAlike(domain_, ShapesAlike(marginals), std::move(processed_marginals_));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<NoiseSummary>> ReleaseAnswers::Noise() {
  if (residuals_ || dp::AreByParity(release_.plans)) return std::nullopt;
  // Once for all: the mean absolute error of Gaussian noise is a long sum.
  if (!noise_) {
    ASSIGN_OR_RETURN(noise_, Summarize(release_.noise, level_));
  }
  return noise_;
}

MeasurementSummary ReleaseAnswers::MeasurementOf(size_t set) {
  if (residuals_) return SummaryOf(domain_, release_.residual->queries);
  const dp::SetPlan& plan = release_.plans[set];
  if (plan.strategy == dp::Strategy::kParity) return SummaryOfParities(release_.measured.size());
  // Once for many sets that are answered from one large tree: its intervals are copied and counted.
  const auto [summary, is_first] = measurements_.try_emplace({plan.strategy, plan.branching, plan.sources});
  if (!is_first) return summary->second;
  dp::Measurement measurement{.plan = plan};
  std::map<size_t, size_t> places;
  for (size_t& source : measurement.plan.sources) {
    const auto [it, is_new] = places.try_emplace(source, measurement.measured.size());
    if (is_new) measurement.measured.push_back(release_.measured[source]);
    source = it->second;
  }
  return summary->second = SummaryOf(domain_, measurement);
}

absl::StatusOr<std::vector<dp::StatisticAnswer>> ReleaseAnswers::Statistics(size_t set) const {
  return dp::AnswersOf(domain_, statistics_, set, release_.statistics, level_, client_left_);
}

absl::StatusOr<AnsweredGroup> ReleaseAnswers::Next() {
  RETURN_IF_ERROR(CheckGoesOn(client_left_));
  while (next_group_ == release_.asked[next_set_].queries.groups.size()) {
    ++next_set_;
    next_group_ = 0;
  }
  const dp::AskedSet& asked = release_.asked[next_set_];
  const size_t position = next_group_++;
  dp::GroupAnswers answers = StoredAnswers(next_set_, position);
  std::vector<double> unbiased;
  const dp::AnswerKind kind =
      asked.query_class == dp::QueryClass::kParities ? dp::AnswerKind::kDifferences : dp::AnswerKind::kCounts;
  if (steps_.any()) {
    unbiased = AsReals(answers);
    answers = IsMarginals(asked) ? Processed(std::move(processed_marginals_[next_marginal_++]), steps_)
                                 : Processed(dp::PostProcess(kind, unbiased, steps_), steps_);
  }
  AnsweredGroup group{.counts = std::move(answers.counts), .estimates = std::move(answers.estimates)};
  RETURN_IF_ERROR(AddErrors(asked.queries.groups[position], position, group));
  if (steps_.any()) RETURN_IF_ERROR(AddIntervals(kind, unbiased, group));
  return group;
}

absl::Status ReleaseAnswers::AddIntervals(dp::AnswerKind kind, const std::vector<double>& unbiased,
                                          AnsweredGroup& group) {
  std::vector<double> halves = std::move(group.half_widths);
  group.half_widths.clear();
  if (group.is_measured_itself) {
    ASSIGN_OR_RETURN(const std::optional<NoiseSummary> noise, Noise());
    halves = {static_cast<double>(noise.value().half_width)};
  }
  const double least = steps_.non_negative && kind == dp::AnswerKind::kCounts ? 0 : dp::kNoLeast;
  for (size_t i = 0; i < unbiased.size(); ++i) {
    const double changed = group.counts.empty() ? group.estimates[i] : static_cast<double>(group.counts[i]);
    const dp::ShownInterval shown =
        dp::IntervalShown(unbiased[i], halves[halves.size() == 1 ? 0 : i], changed, least);
    group.lows.push_back(shown.low);
    group.highs.push_back(shown.high);
  }
  return absl::OkStatus();
}

absl::Status ReleaseAnswers::AddErrors(const dp::QueryGroup& queries, size_t group_in_set,
                                       AnsweredGroup& group) {
  if (residuals_) {
    const std::vector<dp::ResidualError> errors = residuals_->errors().ErrorsOf(queries);
    group.standard_deviations.reserve(errors.size());
    group.half_widths.reserve(errors.size());
    for (const dp::ResidualError& error : errors) {
      group.standard_deviations.push_back(std::sqrt(error.variance));
      group.half_widths.push_back(dp::ResidualErrors::HalfWidthOf(error, level_));
    }
    return absl::OkStatus();
  }
  const dp::SetPlan& plan = release_.plans[next_set_];
  const size_t source = plan.sources[group_in_set];
  const std::vector<dp::AnswerError> errors = reader_.ErrorsOf(queries, plan, source);
  const dp::EstimateWeights weights = reader_.WeightsOf(queries, plan, source);
  group.is_measured_itself =
      IsMarginals(release_.asked[next_set_]) && errors.size() == 1 && errors.front().terms == 1;
  if (group.is_measured_itself) return absl::OkStatus();
  for (const dp::AnswerError& error : errors) {
    group.standard_deviations.push_back(deviation_ * std::sqrt(error.variance_factor));
    ASSIGN_OR_RETURN(group.half_widths.emplace_back(), half_widths_.Of(error, weights));
  }
  return absl::OkStatus();
}

}  // namespace curator::service
