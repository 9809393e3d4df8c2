#include "dp/synthesis/prior/prior.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/row_major.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/prior/iterative_estimation.h"
#include "dp/synthesis/prior/prior_model.h"
#include "dp/synthesis/prior/prior_records.h"
#include "dp/synthesis/prior/prior_schedule.h"
#include "dp/synthesis/prior/prior_settings.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// What the kernel said of one level.
struct LevelAnswers {
  std::vector<int64_t> records;  // for each key
  // For each key and each measured set, the noisy counts of its cells.
  std::vector<std::vector<std::vector<double>>> counts;
};

// How often one step of a cell's number in a marginal moves each of two other numbers: those of the cell
// within two sets that make up the marginal.
struct Digit {
  int64_t size = 1;
  int64_t key_stride = 0;
  int64_t set_stride = 0;
};

std::vector<Digit> DigitsOf(const Domain& domain, const AttributeSet& key, const AttributeSet& set) {
  const AttributeSet both = Union(key, set);
  const std::vector<int64_t> sizes = domain.SizesOf(both);
  const std::vector<int64_t> key_strides = StridesWithin(both, sizes, key);
  const std::vector<int64_t> set_strides = StridesWithin(both, sizes, set);
  std::vector<Digit> digits;
  for (size_t i = 0; i < both.size(); ++i)
    digits.push_back({.size = sizes[i], .key_stride = key_strides[i], .set_stride = set_strides[i]});
  return digits;
}

// The counts of the marginal of key and set, as the counts of the set for each key.
std::vector<std::vector<double>> SplitByKey(const Domain& domain, const PriorLevel& level,
                                            const AttributeSet& set, const std::vector<int64_t>& counts) {
  const std::vector<Digit> digits = DigitsOf(domain, level.key, set);
  const size_t cells = counts.size() / static_cast<size_t>(level.keys);
  std::vector<std::vector<double>> split(static_cast<size_t>(level.keys), std::vector<double>(cells));
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    int64_t key = 0;
    int64_t within = 0;
    auto rest = static_cast<int64_t>(cell);
    for (size_t i = digits.size(); i-- > 0;) {
      key += rest % digits[i].size * digits[i].key_stride;
      within += rest % digits[i].size * digits[i].set_stride;
      rest /= digits[i].size;
    }
    split[static_cast<size_t>(key)][static_cast<size_t>(within)] = static_cast<double>(counts[cell]);
  }
  return split;
}

absl::StatusOr<LevelAnswers> Measure(const PriorLevel& level, PrivateQueries& kernel) {
  LevelAnswers answers;
  if (level.key.empty()) {
    ASSIGN_OR_RETURN(const int64_t records, kernel.NoisyRecordCount(level.count_noise));
    answers.records = {records};
  } else {
    ASSIGN_OR_RETURN(auto records, kernel.NoisyCounts(std::span(&level.key, 1), level.count_noise));
    answers.records = std::move(records.front());
  }
  std::vector<AttributeSet> sets;
  for (const AttributeSet& set : level.measured) sets.push_back(Union(level.key, set));
  ASSIGN_OR_RETURN(const auto counts, kernel.NoisyCounts(sets, level.marginal_noise));
  answers.counts.resize(static_cast<size_t>(level.keys));
  for (size_t i = 0; i < sets.size(); ++i) {
    auto split = SplitByKey(kernel.domain(), level, level.measured[i], counts[i]);
    for (size_t key = 0; key < split.size(); ++key) answers.counts[key].push_back(std::move(split[key]));
  }
  return answers;
}

// The worst of several estimations, for display.
void Widen(Convergence& worst, const Convergence& other) {
  worst.sweeps = std::max(worst.sweeps, other.sweeps);
  worst.last_movement = std::max(worst.last_movement, other.last_movement);
  worst.distance = std::max(worst.distance, other.distance);
  worst.unreachable = std::max(worst.unreachable, other.unreachable);
}

// One level's estimates, from the estimates of the level before.
class LevelEstimator {
 public:
  static absl::StatusOr<LevelEstimator> Create(const PriorSchedule& schedule, size_t level,
                                               const PriorRecords& records, PrivateQueries& kernel,
                                               Pacer& pacer) {
    const PriorSettings& settings = schedule.settings;
    LevelEstimator estimator(settings.estimation, settings.weighting);
    // A region's estimate is another kind of prior than public data.
    estimator.trust_ = level > 0 ? settings.group_trust : schedule.trust;
    estimator.deviation_ = DeviationForFit(schedule.levels[level].marginal_noise);
    for (const AttributeSet& set : schedule.levels[level].measured) {
      ASSIGN_OR_RETURN(MarginalOfRecords marginal, records.MarginalOf(set, pacer));
      estimator.marginals_.push_back(std::move(marginal));
    }
    ASSIGN_OR_RETURN(estimator.answers_, Measure(schedule.levels[level], kernel));
    return estimator;
  }

  // Turns the prior of the key's records, `weights`, into their estimate.
  absl::Status Estimate(size_t key, std::vector<double>& weights, Pacer& pacer) {
    std::vector<std::vector<double>> shares = answers_.counts[key];
    const double records = static_cast<double>(std::max<int64_t>(1, answers_.records[key]));
    for (std::vector<double>& marginal : shares) {
      for (double& cell : marginal) cell /= records;
    }
    const Trust trust{.deviation = deviation_ / records, .trust = trust_};
    const absl::StatusOr<Convergence> convergence =
        weighting_ == AnswerWeighting::kByNoise
            ? EstimateWeighed(marginals_, shares, trust, rule_, weights, pacer)
            : EstimateDistribution(marginals_, shares, rule_, weights, pacer);
    RETURN_IF_ERROR(convergence.status());
    Widen(worst_, *convergence);
    return absl::OkStatus();
  }

  int64_t records(size_t key) const { return answers_.records[key]; }

  std::string Describe(const Domain& domain, const PriorLevel& level) const {
    int64_t records = 0;
    for (const int64_t each : answers_.records) records += std::max<int64_t>(0, each);
    const std::string where = level.key.empty() ? std::string("whole table")
                                                : absl::StrCat(level.keys, " x ", NamesOf(domain, level.key));
    return absl::StrFormat(
        "%s: %d records, %d marginals; at most %d sweeps, the last moved at most %.2g of the records; "
        "answers are missed by at most %.3g of them on average, %.3g of a marginal lay where the prior has "
        "no record",
        where, records, level.measured.size(), worst_.sweeps, worst_.last_movement, worst_.distance,
        worst_.unreachable);
  }

 private:
  LevelEstimator(const EstimationRule& rule, AnswerWeighting weighting)
      : rule_(rule), weighting_(weighting) {}

  EstimationRule rule_;
  AnswerWeighting weighting_;
  double deviation_ = 1;  // of one noisy count
  double trust_ = 1;
  std::vector<MarginalOfRecords> marginals_;
  LevelAnswers answers_;
  Convergence worst_;
};

// One fit from its first draw to its model.
class PriorRun {
 public:
  PriorRun(const SynthesisInput& input, PriorSchedule schedule, PrivateQueries& kernel, Pacer& pacer)
      : input_(input), schedule_(std::move(schedule)), kernel_(kernel), pacer_(pacer) {}

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress) {
    RETURN_IF_ERROR(pacer_.Check());
    const bool is_full = schedule_.settings.support == PriorSupport::kFullDomain;
    ASSIGN_OR_RETURN(
        const PriorRecords records,
        is_full ? PriorRecords::AllCells(input_.domain, *input_.prior, schedule_.modelled,
                                         schedule_.settings.max_cells, pacer_)
                : PriorRecords::DistinctOf(input_.domain, *input_.prior, schedule_.modelled, pacer_));
    RETURN_IF_ERROR(EstimateRegions(records, progress));
    const bool has_groups = schedule_.levels.size() > 1;
    if (has_groups) RETURN_IF_ERROR(EstimateGroups(records, progress));
    return PriorModel::Create(
        input_.domain,
        {.modelled = schedule_.modelled,
         .keys = has_groups ? Union(schedule_.levels[0].key, schedule_.levels[1].key) : AttributeSet(),
         .columns = records.columns(),
         .is_full_domain = is_full,
         .groups = std::move(groups_),
         .transcript = std::move(transcript_)},
        pacer_);
  }

 private:
  // The prior's shares. Where factors alone move weights, cells that the prior lacks get one record's mass
  // together: without any they could never have some.
  std::vector<double> StartingWeights(const PriorRecords& records) const {
    std::vector<double> weights(records.shares().begin(), records.shares().end());
    const bool is_full = schedule_.settings.support == PriorSupport::kFullDomain;
    if (!is_full || schedule_.settings.weighting != AnswerWeighting::kByNoise) return weights;
    const auto rows = static_cast<double>(input_.prior->rows());
    const double even = 1 / static_cast<double>(weights.size());
    for (double& weight : weights) weight = (weight * rows + even) / (rows + 1);
    return weights;
  }

  void Report(const Progress& progress) {
    const double all = static_cast<double>(schedule_.levels.front().keys +
                                           (schedule_.levels.size() > 1 ? schedule_.levels.back().keys : 0));
    progress(static_cast<double>(++done_) / all);
  }

  absl::Status EstimateRegions(const PriorRecords& records, const Progress& progress) {
    const PriorLevel& level = schedule_.levels.front();
    ASSIGN_OR_RETURN(LevelEstimator estimator,
                     LevelEstimator::Create(schedule_, 0, records, kernel_, pacer_));
    for (int64_t key = 0; key < level.keys; ++key) {
      std::vector<double> weights = StartingWeights(records);
      RETURN_IF_ERROR(estimator.Estimate(static_cast<size_t>(key), weights, pacer_));
      if (schedule_.levels.size() == 1) {
        groups_.push_back({.key_codes = {},
                           .records = std::max<int64_t>(1, estimator.records(0)),
                           .weights = CompactWeights(weights)});
      } else {
        regions_.push_back(std::move(weights));
      }
      Report(progress);
    }
    transcript_.push_back(estimator.Describe(input_.domain, level));
    return absl::OkStatus();
  }

  absl::Status EstimateGroups(const PriorRecords& records, const Progress& progress) {
    const PriorLevel& level = schedule_.levels.back();
    ASSIGN_OR_RETURN(LevelEstimator estimator,
                     LevelEstimator::Create(schedule_, 1, records, kernel_, pacer_));
    for (int64_t key = 0; key < level.keys; ++key) {
      const auto group = static_cast<size_t>(key);
      const int64_t found = estimator.records(group);
      if (found > 0) {
        std::vector<double> weights = regions_[static_cast<size_t>(schedule_.region_of_group[group])];
        RETURN_IF_ERROR(estimator.Estimate(group, weights, pacer_));
        groups_.push_back({.key_codes = KeyCodes(key), .records = found, .weights = CompactWeights(weights)});
      }
      Report(progress);
    }
    // A model has a record: where no group is left, one in the first.
    if (groups_.empty()) {
      const auto first = static_cast<size_t>(schedule_.region_of_group.front());
      groups_.push_back({.key_codes = KeyCodes(0), .records = 1, .weights = CompactWeights(regions_[first])});
    }
    transcript_.push_back(estimator.Describe(input_.domain, level));
    return absl::OkStatus();
  }

  // The codes of all keys' attributes in a group: its own, and its region's.
  std::vector<uint32_t> KeyCodes(int64_t group) const {
    const AttributeSet& region_key = schedule_.levels.front().key;
    const AttributeSet& group_key = schedule_.levels.back().key;
    std::vector<uint32_t> of_group(group_key.size());
    CodesOfCell(input_.domain.SizesOf(group_key), group, of_group);
    std::vector<uint32_t> of_region(region_key.size());
    CodesOfCell(input_.domain.SizesOf(region_key), schedule_.region_of_group[static_cast<size_t>(group)],
                of_region);
    std::vector<uint32_t> codes;
    for (const uint32_t attribute : Union(region_key, group_key)) {
      const std::optional<size_t> in_group = PositionIn(group_key, attribute);
      codes.push_back(in_group ? of_group[*in_group] : of_region[*PositionIn(region_key, attribute)]);
    }
    return codes;
  }

  const SynthesisInput& input_;
  const PriorSchedule schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  std::vector<std::vector<double>> regions_;  // the weights of each region's estimate
  std::vector<PriorGroup> groups_;
  std::vector<std::string> transcript_;
  int64_t done_ = 0;
};

}  // namespace

std::string_view PriorAware::summary() const {
  return "The records of public data, weighted so that they agree with a few noisy marginals and otherwise "
         "stay near to the public data.";
}

const std::vector<Setting>& PriorAware::settings() const {
  return PriorSettingsTable();
}

int64_t PriorAware::PlanningBytes(const SynthesisInput& input) const {
  return SynthesisPlanningBytes(input.domain, input.workload) + PriorPlanningBytes(input);
}

absl::StatusOr<SynthesisPlan> PriorAware::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(PriorSchedule schedule, MakePriorSchedule(input, pacer));
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  std::vector<std::vector<QueryGroup>> drawn_from;
  for (const PriorLevel& level : schedule.levels) {
    std::vector<AttributeSet> measured;
    for (const AttributeSet& set : level.measured) measured.push_back(Union(level.key, set));
    drawn_from.push_back(WholeMarginals(std::span(&level.key, 1)));
    drawn_from.push_back(WholeMarginals(measured));
  }
  return SynthesisPlan{
      .draws = std::move(schedule.draws),
      .event = std::move(event),
      .settings = std::move(schedule.settings.used),
      .schedule = std::move(schedule.lines),
      .constraints = DescribeConstraints(input.domain, schedule.covered, {}),
      .model_cells = schedule.records * static_cast<int64_t>(schedule.region_of_group.size()),
      .memory = schedule.memory,
      .cpu_seconds = schedule.cpu_seconds,
      .linear = std::move(schedule.linear),
      .drawn_from = std::move(drawn_from)};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> PriorAware::Fit(const SynthesisInput& input,
                                                                PrivateQueries& kernel, Pacer& pacer,
                                                                const Progress& progress) const {
  ASSIGN_OR_RETURN(PriorSchedule schedule, MakePriorSchedule(input, pacer));
  return PriorRun(input, std::move(schedule), kernel, pacer).Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> PriorAware::RestoreWith(const Domain& domain,
                                                                        std::string_view bytes,
                                                                        Pacer& pacer) const {
  return PriorModel::Restore(domain, bytes, pacer);
}

absl::StatusOr<int64_t> PriorAware::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return PriorModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
