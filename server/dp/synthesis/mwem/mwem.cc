#include "dp/synthesis/mwem/mwem.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/progress.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/kernel/selection_score.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/clique_fit.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/factored_model.h"
#include "dp/synthesis/models/nearest_non_negative.h"
#include "dp/synthesis/models/portable_math.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/mwem/mwem_memory.h"
#include "dp/synthesis/mwem/mwem_schedule.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// One-way marginals are counts that a table can have once they are projected, and have less noise than
// before: the fit follows them closely.
constexpr double kTrustInMarginals = 0.1;  // a factor of the variance

// What is measured, as a fit takes it: boxes as the cells that are in them.
NoisyAnswers AnswersToFit(const Domain& domain, const QueryGroup& group, const std::vector<int64_t>& answers,
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

// The candidates of a round and the weights' present estimates of their answers: the public side of a
// selection. Not thread-safe.
class MwemCandidates {
 public:
  // Every whole marginal, and every query of the other groups. `domain` must outlive it.
  MwemCandidates(const Domain& domain, std::span<const QueryGroup> workload) : domain_(domain) {
    families_.reserve(workload.size());
    for (const QueryGroup& group : workload) families_.push_back({.group = group, .estimate = {}});
  }

  // Restores all candidates but the dropped ones. `noise`: the expected error of a measured answer.
  void Restart(double noise) {
    noise_ = noise;
    for (std::vector<CandidateFamily>* some : {&families_, &costly_}) {
      for (CandidateFamily& family : *some) family.excluded.clear();
    }
    for (CandidateFamily& family : families_) SetPenalty(family);
  }

  // Drops, for all rounds to come, the candidates whose measurement would exceed the cells of the fit. Where
  // each of the others was measured as often, all of them are candidates once more: so no round that is paid
  // for is lost.
  void Open(const CliqueFit& fit) {
    for (std::vector<CandidateFamily>* some : {&families_, &costly_}) {
      std::erase_if(*some,
                    [&fit](const CandidateFamily& family) { return !fit.Fits(family.group.attributes); });
    }
    if (left() == 0) Restart(noise_);
  }

  // Recomputes all estimates but those that would take too much memory; their candidates stand back. Errors:
  // those of CliqueFit::Marginals().
  absl::Status Estimate(CliqueFit& fit, Pacer& pacer) {
    families_.insert(families_.end(), std::make_move_iterator(costly_.begin()),
                     std::make_move_iterator(costly_.end()));
    costly_.clear();
    std::vector<CandidateFamily> open;
    std::vector<AttributeSet> sets;
    for (CandidateFamily& family : families_) {
      const bool costly = fit.CellsToEstimate(family.group.attributes) > kMostCellsOfAMwemEstimate;
      if (!costly) sets.push_back(family.group.attributes);
      (costly ? costly_ : open).push_back(std::move(family));
    }
    families_ = std::move(open);
    ASSIGN_OR_RETURN(const std::vector<std::vector<double>> cells, fit.Marginals(sets, pacer));
    for (size_t i = 0; i < families_.size(); ++i) {
      CandidateFamily& family = families_[i];
      family.estimate = AnswersFromEstimates(domain_, family.group, cells[i]);
      SetPenalty(family);
      RETURN_IF_ERROR(pacer.Advance(std::ssize(family.estimate)));
    }
    if (left() == 0) Restart(noise_);
    return absl::OkStatus();
  }

  // For PrivateQueries::SelectWorstCandidate().
  std::span<const CandidateFamily> families() const { return families_; }

  int64_t left() const {
    int64_t left = 0;
    for (const CandidateFamily& family : families_) left += NumberOfCandidates(domain_, family);
    return left;
  }

  // left() > 0.
  FamilyChoice First() const {
    FamilyChoice first;
    while (NumberOfCandidates(domain_, families_[first.family]) == 0) ++first.family;
    for (const int64_t excluded : families_[first.family].excluded) {
      if (excluded != static_cast<int64_t>(first.query)) break;
      ++first.query;
    }
    return first;
  }

  // Removes a candidate until the next restart.
  void Exclude(FamilyChoice choice) {
    std::vector<int64_t>& excluded = families_[choice.family].excluded;
    const auto query = static_cast<int64_t>(choice.query);
    excluded.insert(std::ranges::lower_bound(excluded, query), query);
  }

  // The group that measures a candidate, and the present estimate of its answers.
  QueryGroup GroupOf(FamilyChoice choice) const {
    const QueryGroup& group = families_[choice.family].group;
    return IsWholeMarginal(group) ? group : SingleQuery(group, choice.query);
  }
  std::vector<double> EstimateOf(FamilyChoice choice) const {
    const CandidateFamily& family = families_[choice.family];
    if (IsWholeMarginal(family.group)) return family.estimate;
    return {family.estimate[choice.query]};
  }

 private:
  // What a measurement would leave of the error: in a cell of few records the fit follows less noise.
  void SetPenalty(CandidateFamily& family) const {
    family.penalty = noise_;
    if (!IsWholeMarginal(family.group)) return;
    family.penalty = 0;
    for (const double cell : family.estimate) family.penalty += std::min(noise_, cell);
  }

  const Domain& domain_;
  std::vector<CandidateFamily> families_;
  std::vector<CandidateFamily> costly_;  // whose estimates would take too much memory now
  double noise_ = 0;
};

// One fit, from its first draw to its model. Not thread-safe.
class MwemRun {
 public:
  // All must outlive it.
  MwemRun(const SynthesisInput& input, MwemSchedule schedule, PrivateQueries& kernel, Pacer& pacer)
      : input_(input),
        schedule_(std::move(schedule)),
        kernel_(kernel),
        pacer_(pacer),
        candidates_(input.domain, input.workload) {}

  // Draws what the schedule lists, or less where rounds end early, and fits. Errors: those of the kernel;
  // CANCELLED as in Pacer.
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress) {
    RETURN_IF_ERROR(CountRecords());
    RETURN_IF_ERROR(MeasureBeforehand());
    const auto stages = static_cast<int64_t>(schedule_.stages.size());
    const int64_t rounds = stages * schedule_.settings.rounds;
    int64_t done = 0;
    for (const MwemStage& stage : schedule_.stages) {
      deviation_ = DeviationForFit(stage.noise);
      candidates_.Restart(ForecastError(stage.noise).expected_absolute_error);
      Signal signal = Signal::kThere;
      for (int64_t round = 0; round < stage.rounds; ++round) {
        if (signal == Signal::kThere) {
          ASSIGN_OR_RETURN(signal, Round(stage, done + 1 == rounds));
        }
        progress(static_cast<double>(++done) / static_cast<double>(rounds));
      }
    }
    RETURN_IF_ERROR(Replay(schedule_.settings.last_sweeps));
    Keep();
    transcript_.push_back(absl::StrCat(
        "last replay: ", replayed_.sweeps, replayed_.sweeps == 1 ? " sweep, " : " sweeps, ",
        replayed_.largest_move <= schedule_.settings.converged ? "settled" : "stopped before it had settled",
        absl::StrFormat(": no answer moved by more than %.3g standard deviations", replayed_.largest_move)));
    return MakeModel();
  }

 private:
  // Whether a measurement differed from its estimate by more than the noise.
  enum class Signal { kThere, kGone };

  absl::Status CountRecords() {
    RETURN_IF_ERROR(pacer_.Check());
    ASSIGN_OR_RETURN(const int64_t count, kernel_.NoisyRecordCount(schedule_.record_noise));
    transcript_.push_back(absl::StrCat("number of records: ", count));
    const NoisyRecords records{.answer = static_cast<double>(count),
                               .standard_deviation = DeviationForFit(schedule_.record_noise)};
    fit_ = std::make_unique<CliqueFit>(input_.domain, schedule_.attributes, records,
                                       schedule_.settings.max_cells);
    if (schedule_.settings.form == MwemForm::kDense) RETURN_IF_ERROR(fit_->Join(schedule_.attributes));
    RETURN_IF_ERROR(fit_->SetBase(ZerosOf(input_.domain, schedule_.constraints), pacer_));
    return fit_->Add({.group = {.attributes = {}, .queries = EveryCell()},
                      .answers = {records.answer},
                      .standard_deviation = records.standard_deviation},
                     pacer_);
  }

  // What is measured beforehand, as the fit takes it: one-way marginals as counts that a table can have.
  NoisyAnswers InitialAnswers(const QueryGroup& group, const std::vector<int64_t>& counts) const {
    const double deviation = DeviationForFit(schedule_.initial_noise);
    NoisyAnswers answers = AnswersToFit(input_.domain, group, counts, deviation);
    if (schedule_.settings.init != MwemInit::kMarginals) return answers;
    answers.answers = NearestNonNegative(std::move(answers.answers), fit_->records());
    answers.standard_deviation *= std::sqrt(kTrustInMarginals);
    return answers;
  }

  absl::Status MeasureBeforehand() {
    deviation_ = DeviationForFit(schedule_.stages.front().noise);
    if (!schedule_.initial.empty()) {
      ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                       kernel_.NoisyCounts(schedule_.initial, schedule_.initial_noise));
      const double deviation = DeviationForFit(schedule_.initial_noise);
      for (size_t i = 0; i < counts.size(); ++i) {
        const QueryGroup& group = schedule_.initial[i];
        transcript_.push_back(absl::StrCat("beforehand, counts of ", NamesOf(input_.domain, group.attributes),
                                           ": ", counts[i].size(), " cells, each within about ",
                                           std::llround(2 * deviation)));
        RETURN_IF_ERROR(fit_->Add(InitialAnswers(group, counts[i]), pacer_));
      }
    }
    candidates_.Open(*fit_);
    RETURN_IF_ERROR(Replay(schedule_.settings.sweeps));
    if (!schedule_.initial.empty()) Keep();
    return candidates_.Estimate(*fit_, pacer_);
  }

  // One round. kGone also when nothing was left to measure.
  absl::StatusOr<Signal> Round(const MwemStage& stage, bool last) {
    RETURN_IF_ERROR(pacer_.Check());
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
    RETURN_IF_ERROR(fit_->Add(AnswersToFit(input_.domain, group, counts[0], deviation_), pacer_));
    candidates_.Open(*fit_);
    const bool ends = below && schedule_.settings.adaptive == MwemRounds::kAdaptive;
    // Without selections the weights between measurements are not used, nor are those before the last replay.
    const bool is_used = stage.selection || schedule_.settings.iterate == MwemIterate::kAverage;
    if (is_used && !last) {
      RETURN_IF_ERROR(Replay(schedule_.settings.sweeps));
      Keep();
      RETURN_IF_ERROR(candidates_.Estimate(*fit_, pacer_));
    }
    return ends ? Signal::kGone : Signal::kThere;
  }

  absl::Status Replay(int64_t most_sweeps) {
    const ReplayRule rule{.most_sweeps = most_sweeps,
                          .converged = schedule_.settings.converged,
                          .prior_weight = schedule_.settings.slack / deviation_};
    ASSIGN_OR_RETURN(replayed_, fit_->Replay(rule, pacer_));
    return absl::OkStatus();
  }

  // Keeps the weights as one of those that an average is of.
  void Keep() {
    if (schedule_.settings.iterate == MwemIterate::kAverage)
      iterates_.push_back({PortableExp(fit_->log_base()), fit_->factors()});
  }

  absl::StatusOr<std::unique_ptr<SynthesisModel>> MakeModel() {
    const int64_t records = std::max<int64_t>(1, std::llround(fit_->records()));
    if (schedule_.settings.iterate == MwemIterate::kAverage) {
      return ProductModel::Create(input_.domain,
                                  {.attributes = schedule_.attributes,
                                   .records = records,
                                   .components = std::move(iterates_),
                                   .transcript = std::move(transcript_)},
                                  pacer_);
    }
    return CliqueModel::Create(input_.domain,
                               {.attributes = schedule_.attributes,
                                .records = records,
                                .tree = fit_->tree(),
                                .factors = fit_->factors(),
                                .transcript = std::move(transcript_)},
                               pacer_);
  }

  const SynthesisInput& input_;
  const MwemSchedule schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  std::unique_ptr<CliqueFit> fit_;
  MwemCandidates candidates_;
  double deviation_ = 1;  // of the noise of the present stage
  Replayed replayed_;     // the last time
  std::vector<ProductComponent> iterates_;
  std::vector<std::string> transcript_;
};

}  // namespace

std::string_view Mwem::summary() const {
  return "Multiplicative weights over the cells of the domain, fitted to the marginals and queries that are "
         "approximated worst.";
}

const std::vector<Setting>& Mwem::settings() const {
  return MwemSettingsTable();
}

absl::StatusOr<SynthesisPlan> Mwem::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(MwemSchedule schedule, MakeMwemSchedule(input));
  RETURN_IF_ERROR(pacer.Check());
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  std::vector<std::string> lines = DescribeSchedule(schedule);
  const SynthesisMemory memory = MemoryOfMwem(input, schedule);
  const double cpu_seconds = SecondsOfMwem(input, schedule);
  std::vector<std::vector<QueryGroup>> drawn_from = {std::move(schedule.initial), input.workload};
  return SynthesisPlan{
      .draws = std::move(schedule.draws),
      .event = std::move(event),
      .settings = std::move(schedule.used_settings),
      .schedule = std::move(lines),
      .constraints = DescribeConstraints(input.domain, schedule.attributes, schedule.constraints),
      .model_cells = schedule.model_cells,
      .memory = memory,
      .cpu_seconds = cpu_seconds,
      .linear = std::move(schedule.linear),
      .drawn_from = std::move(drawn_from)};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mwem::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                          Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(MwemSchedule schedule, MakeMwemSchedule(input));
  return MwemRun(input, std::move(schedule), kernel, pacer).Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mwem::RestoreWith(const Domain& domain,
                                                                  std::string_view bytes,
                                                                  Pacer& pacer) const {
  if (CliqueModel::Wrote(bytes)) return CliqueModel::Restore(domain, bytes, pacer);
  if (FactoredModel::Wrote(bytes)) return FactoredModel::Restore(domain, bytes, pacer);
  return ProductModel::Restore(domain, bytes, pacer);
}

absl::StatusOr<int64_t> Mwem::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  if (CliqueModel::Wrote(bytes)) return CliqueModel::ReadingBytes(domain, bytes);
  if (FactoredModel::Wrote(bytes)) return FactoredModel::ReadingBytes(domain, bytes);
  return ProductModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
