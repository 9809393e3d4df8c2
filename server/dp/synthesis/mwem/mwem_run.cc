#include "dp/synthesis/mwem/mwem_run.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/dense/product_model.h"
#include "dp/synthesis/factored/factored_model.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// Answers are never trusted further than this: noise may vanish at enormous budgets, the replay divides by
// it.
constexpr double kLeastDeviation = 0.05;

double TrustedDeviation(const NoiseSpec& noise) {
  return std::max(kLeastDeviation, ForecastError(noise).standard_deviation);
}

// What a fit takes: boxes as the cells that are in them.
NoisyAnswers Measured(const Domain& domain, const QueryGroup& group, const std::vector<int64_t>& answers,
                      double deviation) {
  NoisyAnswers measured{
      .group = group, .answers = {answers.begin(), answers.end()}, .standard_deviation = deviation};
  if (!IsWholeMarginal(group)) measured.group.queries = TermsOf(domain, group);
  return measured;
}

// The sum of the absolute differences.
double Distance(const std::vector<int64_t>& answers, const std::vector<double>& estimates) {
  double sum = 0;
  for (size_t i = 0; i < answers.size(); ++i) sum += std::abs(static_cast<double>(answers[i]) - estimates[i]);
  return sum;
}

}  // namespace

MwemRun::MwemRun(const SynthesisInput& input, MwemSchedule schedule, PrivateQueries& kernel, Pacer& pacer)
    : input_(input),
      schedule_(std::move(schedule)),
      kernel_(kernel),
      pacer_(pacer),
      candidates_(input.domain, input.workload) {}

absl::StatusOr<std::unique_ptr<SynthesisModel>> MwemRun::Finish(const Progress& progress) {
  RETURN_IF_ERROR(CountRecords());
  RETURN_IF_ERROR(MeasureBeforehand());
  const auto stages = static_cast<int64_t>(schedule_.stages.size());
  const int64_t rounds = stages * schedule_.settings.rounds;
  int64_t done = 0;
  for (const MwemStage& stage : schedule_.stages) {
    deviation_ = TrustedDeviation(stage.noise);
    candidates_.Restart(ForecastError(stage.noise).expected_absolute_error);
    Signal signal = Signal::kThere;
    for (int64_t round = 0; round < stage.rounds; ++round) {
      if (signal == Signal::kThere) {
        ASSIGN_OR_RETURN(signal, Round(stage, done + 1 == rounds));
      }
      progress(static_cast<double>(++done) / static_cast<double>(rounds));
    }
  }
  RETURN_IF_ERROR(Replay(FactoredFit::Which::kAll, schedule_.settings.last_sweeps));
  transcript_.push_back(absl::StrCat(
      "last replay: ", replayed_.sweeps, replayed_.sweeps == 1 ? " sweep, " : " sweeps, ",
      replayed_.largest_move <= schedule_.settings.settled ? "settled" : "stopped before it had settled",
      absl::StrFormat(": no answer moved by more than %.3g standard deviations", replayed_.largest_move)));
  return MakeModel();
}

absl::Status MwemRun::CountRecords() {
  RETURN_IF_ERROR(pacer_.Look());
  ASSIGN_OR_RETURN(const int64_t count, kernel_.NoisyRecordCount(schedule_.record_noise));
  transcript_.push_back(absl::StrCat("number of records: ", count));
  const NoisyRecords records{.answer = static_cast<double>(count),
                             .standard_deviation = TrustedDeviation(schedule_.record_noise)};
  fit_ = std::make_unique<FactoredFit>(input_.domain, records, schedule_.settings.max_cells);
  if (schedule_.settings.form == MwemForm::kDense) return fit_->Join(schedule_.attributes, pacer_);
  return absl::OkStatus();
}

absl::Status MwemRun::MeasureBeforehand() {
  deviation_ = TrustedDeviation(schedule_.stages.front().noise);
  if (!schedule_.initial.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                     kernel_.NoisyCounts(schedule_.initial, schedule_.initial_noise));
    const double deviation = TrustedDeviation(schedule_.initial_noise);
    for (size_t i = 0; i < counts.size(); ++i) {
      const QueryGroup& group = schedule_.initial[i];
      if (!fit_->Fits(group.attributes)) continue;
      transcript_.push_back(absl::StrCat("beforehand, counts of ", NamesOf(input_.domain, group.attributes),
                                         ": ", counts[i].size(), " cells, each within about ",
                                         std::llround(2 * deviation)));
      RETURN_IF_ERROR(fit_->Add(Measured(input_.domain, group, counts[i], deviation), pacer_));
    }
    RETURN_IF_ERROR(Replay(FactoredFit::Which::kWithNews, schedule_.settings.sweeps));
  }
  candidates_.DropUnfit(*fit_);
  return candidates_.Estimate(*fit_, std::nullopt, pacer_);
}

absl::StatusOr<MwemRun::Signal> MwemRun::Round(const MwemStage& stage, bool last) {
  RETURN_IF_ERROR(pacer_.Look());
  if (candidates_.left() == 0) return Signal::kGone;
  FamilyChoice chosen = candidates_.First();
  if (stage.selection) {
    ASSIGN_OR_RETURN(chosen, kernel_.SelectWorstCandidate(candidates_.families(), *stage.selection));
  }
  const QueryGroup group = candidates_.GroupOf(chosen);
  const std::vector<double> estimate = candidates_.EstimateOf(chosen);
  candidates_.Exclude(chosen);
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                   kernel_.NoisyCounts(std::span(&group, 1), stage.noise));
  transcript_.push_back(absl::StrCat(
      IsWholeMarginal(group) ? "counts of " : absl::StrCat("query ", chosen.query, " over "),
      NamesOf(input_.domain, group.attributes), ": ", counts[0].size(),
      counts[0].size() == 1 ? " answer" : " cells, each", " within about ", std::llround(2 * deviation_)));
  const double noise = ForecastError(stage.noise).expected_absolute_error;
  const bool below = Distance(counts[0], estimate) < noise * static_cast<double>(estimate.size());
  RETURN_IF_ERROR(fit_->Add(Measured(input_.domain, group, counts[0], deviation_), pacer_));
  candidates_.DropUnfit(*fit_);
  const bool ends = below && schedule_.settings.adaptive == MwemRounds::kAdaptive;
  // Nobody looks at the weights between measurements without selections, nor before the last replay.
  const bool looked_at = stage.selection || schedule_.settings.iterate == MwemIterate::kAverage;
  if (looked_at && !last) RETURN_IF_ERROR(Replay(FactoredFit::Which::kWithNews, schedule_.settings.sweeps));
  return ends ? Signal::kGone : Signal::kThere;
}

absl::Status MwemRun::Replay(FactoredFit::Which which, int64_t most_sweeps) {
  const ReplayRule rule{.most_sweeps = most_sweeps,
                        .settled = schedule_.settings.settled,
                        .prior_weight = schedule_.settings.slack / deviation_};
  ASSIGN_OR_RETURN(const FactoredFit::Outcome outcome, fit_->Replay(rule, which, pacer_));
  replayed_ = outcome.replayed;
  if (schedule_.settings.iterate == MwemIterate::kAverage) {
    FactoredFit::Part whole = std::move(fit_->parts().front());
    iterates_.push_back({whole.base, std::move(whole.factors)});
  }
  if (which == FactoredFit::Which::kAll) return absl::OkStatus();
  return candidates_.Estimate(*fit_, outcome.changed, pacer_);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> MwemRun::MakeModel() {
  const int64_t records = std::max<int64_t>(1, std::llround(fit_->records()));
  std::vector<FactoredFit::Part> parts = fit_->parts();
  if (schedule_.settings.form == MwemForm::kDense) {
    if (iterates_.empty()) iterates_.push_back({parts.front().base, std::move(parts.front().factors)});
    return ProductModel::Create(input_.domain,
                                {.attributes = schedule_.attributes,
                                 .records = records,
                                 .components = std::move(iterates_),
                                 .transcript = std::move(transcript_)},
                                pacer_);
  }
  FactoredModelParts all{.attributes = schedule_.attributes,
                         .records = records,
                         .parts = {},
                         .transcript = std::move(transcript_)};
  for (FactoredFit::Part& part : parts)
    all.parts.push_back({std::move(part.attributes), {part.base, std::move(part.factors)}});
  return FactoredModel::Create(input_.domain, std::move(all), pacer_);
}

}  // namespace curator::dp
