#include "dp/synthesis/loop/clique_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/nearest_non_negative.h"
#include "dp/synthesis/models/structural_zeros.h"

namespace curator::dp {
namespace {

// One-way marginals are counts that a table can have once they are projected, and have less noise than
// before: the fit follows them closely.
constexpr double kTrustInOneWays = 0.1;  // a factor of the variance

constexpr double kConvergedAtLast = 0.01;

std::vector<double> RealsOf(const std::vector<int64_t>& counts) {
  return {counts.begin(), counts.end()};
}

}  // namespace

double LeftByNoise(std::span<const double> estimate, double expected) {
  double left = 0;
  for (const double cell : estimate) left += std::min(expected, cell);
  return left;
}

absl::Status CliqueRun::Begin() {
  RETURN_IF_ERROR(CountRecords());
  return MeasureOneWays();
}

absl::Status CliqueRun::Add(const AttributeSet& set, std::vector<double> answers, double deviation) {
  return fit_->Add({.group = {.attributes = set, .queries = EveryCell()},
                    .answers = std::move(answers),
                    .standard_deviation = deviation},
                   pacer_);
}

absl::Status CliqueRun::CountRecords() {
  RETURN_IF_ERROR(pacer_.Check());
  ASSIGN_OR_RETURN(const int64_t count, kernel_.NoisyRecordCount(schedule_.record_noise));
  transcript_.push_back(absl::StrCat("number of records: ", count));
  const NoisyRecords records{.answer = static_cast<double>(count),
                             .standard_deviation = DeviationForFit(schedule_.record_noise)};
  fit_ = std::make_unique<CliqueFit>(input_.domain, schedule_.attributes, records, schedule_.all_cells,
                                     schedule_.max_separator);
  RETURN_IF_ERROR(fit_->SetBase(ZerosOf(input_.domain, schedule_.constraints), pacer_));
  return Add({}, {records.answer}, records.standard_deviation);
}

absl::Status CliqueRun::MeasureOneWays() {
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                   kernel_.NoisyCounts(schedule_.one_ways, schedule_.one_way_noise));
  const double deviation = DeviationForFit(schedule_.one_way_noise);
  const double total = fit_->records();
  for (size_t i = 0; i < counts.size(); ++i) {
    RETURN_IF_ERROR(pacer_.Advance(std::ssize(counts[i])));
    RETURN_IF_ERROR(Add(schedule_.one_ways[i], NearestNonNegative(RealsOf(counts[i]), total),
                        deviation * std::sqrt(kTrustInOneWays)));
  }
  transcript_.push_back(
      absl::StrCat("every one-way marginal, each cell within about ", std::llround(2 * deviation)));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> CliqueRun::Draw(const AttributeSet& set) {
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts,
                   kernel_.NoisyCounts(std::span(&set, 1), schedule_.noise));
  return std::move(counts[0]);
}

void CliqueRun::Note(std::string step, const AttributeSet& set, size_t cells, double deviation) {
  transcript_.push_back(absl::StrCat(std::move(step), ": counts of ", NamesOf(input_.domain, set), ": ",
                                     cells, " cells, each within about ", std::llround(2 * deviation)));
}

absl::StatusOr<std::vector<int64_t>> CliqueRun::Measure(const AttributeSet& set, std::string step) {
  ASSIGN_OR_RETURN(std::vector<int64_t> counts, Draw(set));
  const double deviation = DeviationForFit(schedule_.noise);
  Note(std::move(step), set, counts.size(), deviation);
  RETURN_IF_ERROR(Add(set, RealsOf(counts), deviation));
  return counts;
}

absl::Status CliqueRun::AddPublic(const AttributeSet& set, std::vector<double> counts, double deviation,
                                  const std::string& step) {
  Note(absl::StrCat(step, ", from the public table"), set, counts.size(), deviation);
  return Add(set, std::move(counts), deviation);
}

absl::Status CliqueRun::MeasureInTurn(std::span<const AttributeSet> sets, int64_t draws) {
  if (sets.empty()) return absl::OkStatus();
  std::vector<std::vector<double>> sums(sets.size());
  for (int64_t i = 0; i < draws; ++i) {
    RETURN_IF_ERROR(pacer_.Check());
    std::vector<double>& own = sums[static_cast<size_t>(i) % sets.size()];
    ASSIGN_OR_RETURN(const std::vector<int64_t> counts, Draw(sets[static_cast<size_t>(i) % sets.size()]));
    own.resize(counts.size());
    for (size_t cell = 0; cell < counts.size(); ++cell) own[cell] += static_cast<double>(counts[cell]);
  }
  for (int64_t i = 0; i < std::min(draws, std::ssize(sets)); ++i) {
    const auto set = static_cast<size_t>(i);
    const int64_t times = (draws - i + std::ssize(sets) - 1) / std::ssize(sets);
    RETURN_IF_ERROR(pacer_.Advance(std::ssize(sums[set])));
    for (double& cell : sums[set]) cell /= static_cast<double>(times);
    const double deviation = DeviationForFit(schedule_.noise) / std::sqrt(static_cast<double>(times));
    Note(times == 1 ? "once" : absl::StrCat(times, " times"), sets[set], sums[set].size(), deviation);
    RETURN_IF_ERROR(Add(sets[set], std::move(sums[set]), deviation));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AttributeSet>> CliqueRun::JoinAllThatFit() {
  std::vector<AttributeSet> sets;
  for (const MarginalCandidate& candidate : schedule_.candidates) {
    if (!fit_->Fits(candidate.attributes)) continue;
    sets.push_back(candidate.attributes);
    RETURN_IF_ERROR(fit_->Join(sets.back()));
  }
  return sets;
}

absl::StatusOr<Replayed> CliqueRun::Replay(int64_t most_sweeps, double converged) {
  const NoiseSpec& noise = schedule_.measurements > 0 ? schedule_.noise : schedule_.one_way_noise;
  return fit_->Replay({.most_sweeps = most_sweeps,
                       .converged = converged,
                       .prior_weight = schedule_.fit.slack / DeviationForFit(noise)},
                      pacer_);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> CliqueRun::Finish(const Progress& progress) {
  RETURN_IF_ERROR(pacer_.Check());
  ASSIGN_OR_RETURN(const Replayed last, Replay(schedule_.fit.last_sweeps, kConvergedAtLast));
  const CliqueTree tree = fit_->tree();
  transcript_.push_back(absl::StrCat(
      tree.size(), tree.size() == 1 ? " clique of " : " cliques of ", CellsOfTree(tree),
      " cells; last fit: ", last.sweeps, last.sweeps == 1 ? " sweep, " : " sweeps, ",
      last.largest_move <= kConvergedAtLast ? "converged" : "stopped before it had converged",
      absl::StrFormat(": no answer moved by more than %.3g standard deviations", last.largest_move)));
  progress(1);
  return CliqueModel::Create(input_.domain,
                             {.attributes = schedule_.attributes,
                              .records = std::max<int64_t>(1, std::llround(fit_->records())),
                              .tree = tree,
                              .factors = fit_->factors(),
                              .transcript = std::move(transcript_)},
                             pacer_);
}

}  // namespace curator::dp
