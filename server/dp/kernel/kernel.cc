#include "dp/kernel/kernel.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/utility_scores.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/exponential_mechanism.h"
#include "dp/workload/marginals.h"
#include "dp/workload/sensitivity.h"

namespace curator::dp {
namespace {

absl::Status AnotherQuestion() {
  return absl::FailedPreconditionError("the transcript holds the answer to another question");
}

using Sampler = std::variant<DiscreteLaplace, DiscreteGaussian>;

absl::StatusOr<Sampler> SamplerFor(const NoiseSpec& noise) {
  RETURN_IF_ERROR(Validate(noise));
  if (noise.mechanism == Mechanism::kDiscreteLaplace) return DiscreteLaplace::Create(noise.parameter);
  return DiscreteGaussian::Create(noise.parameter);
}

std::vector<int64_t> DrawNoise(const Sampler& sampler, BitSource& bits, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::visit([&](const auto& distribution) { distribution.Fill(bits, values); }, sampler);
  return values;
}

// The sets of the candidates, once each has been found well-formed.
absl::StatusOr<std::vector<AttributeSet>> SetsOf(const Domain& domain,
                                                 std::span<const ApproximatedMarginal> candidates) {
  std::vector<AttributeSet> sets;
  sets.reserve(candidates.size());
  for (const ApproximatedMarginal& candidate : candidates) sets.push_back(candidate.attributes);
  RETURN_IF_ERROR(ValidateMarginals(domain, sets));
  return sets;
}

}  // namespace

Kernel::Kernel(Domain domain, UnitBound unit, Meter meter)
    : domain_(std::move(domain)), unit_(unit), meter_(std::move(meter)) {}

Kernel::Kernel(SealedTableHandle table, Domain domain, UnitBound unit, Meter meter, BitSource& bits)
    : Kernel(std::move(domain), unit, std::move(meter)) {
  table_ = std::move(table);
  bits_ = &bits;
}

Kernel Kernel::Replaying(Transcript transcript, Domain domain, UnitBound unit, Meter meter) {
  Kernel kernel(std::move(domain), unit, std::move(meter));
  kernel.replayed_ = std::move(transcript);
  return kernel;
}

template <typename D>
absl::StatusOr<D> Kernel::NextRecorded() {
  if (next_replayed_ >= replayed_.size()) return AnotherQuestion();
  const D* draw = std::get_if<D>(&replayed_[next_replayed_]);
  if (draw == nullptr) return AnotherQuestion();
  ++next_replayed_;
  return *draw;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyCounts(std::span<const AttributeSet> marginals,
                                                                      const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(ValidateMarginals(domain_, marginals));
  ASSIGN_OR_RETURN(const int64_t total_cells, TotalCells(domain_, marginals));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(unit_, static_cast<int64_t>(marginals.size())));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const CountsDraw recorded, NextRecorded<CountsDraw>());
    if (!std::equal(marginals.begin(), marginals.end(), recorded.marginals.begin(),
                    recorded.marginals.end()) ||
        recorded.noise != noise) {
      return AnotherQuestion();
    }
    return recorded.values;
  }
  const std::vector<int64_t> noises = DrawNoise(sampler, *bits_, total_cells);
  const std::vector<AttributeSet> sets(marginals.begin(), marginals.end());
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> values, CountMarginals(*table_, domain_, sets));
  size_t next = 0;
  for (std::vector<int64_t>& marginal : values) {
    for (int64_t& count : marginal) count += noises[next++];
  }
  if (record_ != nullptr) record_->push_back(CountsDraw{.marginals = sets, .noise = noise, .values = values});
  return values;
}

absl::StatusOr<std::vector<std::span<const int64_t>>> Kernel::CountsForSelection(
    const std::vector<AttributeSet>& sets) {
  std::vector<AttributeSet> missing;
  for (const AttributeSet& set : sets) {
    if (!counted_.contains(set)) missing.push_back(set);
  }
  if (!missing.empty()) {
    ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts, CountMarginals(*table_, domain_, missing));
    for (size_t i = 0; i < missing.size(); ++i) counted_.emplace(std::move(missing[i]), std::move(counts[i]));
  }
  std::vector<std::span<const int64_t>> found;
  for (const AttributeSet& set : sets) found.emplace_back(counted_.at(set));
  return found;
}

absl::StatusOr<size_t> Kernel::SelectWorstApproximated(std::span<const ApproximatedMarginal> candidates,
                                                       Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> sets, SetsOf(domain_, candidates));
  std::vector<LatticeEstimate> estimates;
  for (const ApproximatedMarginal& candidate : candidates) {
    ASSIGN_OR_RETURN(LatticeEstimate estimate,
                     RoundToLattice(candidate, domain_.CellCount(candidate.attributes).value_or(0)));
    estimates.push_back(std::move(estimate));
  }
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(unit_, 1));
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const SelectionDraw recorded, NextRecorded<SelectionDraw>());
    if (!std::equal(candidates.begin(), candidates.end(), recorded.candidates.begin(),
                    recorded.candidates.end()) ||
        recorded.epsilon != epsilon) {
      return AnotherQuestion();
    }
    return recorded.selected;
  }
  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, CountsForSelection(sets));
  std::vector<int64_t> scores;
  scores.reserve(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) scores.push_back(ScoreOf(counts[i], estimates[i]));
  ASSIGN_OR_RETURN(const size_t selected,
                   DrawExponential(*bits_, scores, SelectionFactor(epsilon, one_marginal)));
  if (record_ != nullptr) {
    record_->push_back(SelectionDraw{
        .candidates = {candidates.begin(), candidates.end()}, .epsilon = epsilon, .selected = selected});
  }
  return selected;
}

absl::StatusOr<size_t> Kernel::SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                               Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  ASSIGN_OR_RETURN(const LatticeUtility lattice, ToLattice(utility, bonuses, domain_, unit_));
  if (table_ != nullptr) RETURN_IF_ERROR(CheckGrouping(lattice, *table_, unit_));
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const UtilityDraw recorded, NextRecorded<UtilityDraw>());
    if (recorded.utility != utility || recorded.epsilon != epsilon ||
        !std::equal(bonuses.begin(), bonuses.end(), recorded.bonuses.begin(), recorded.bonuses.end())) {
      return AnotherQuestion();
    }
    return recorded.selected;
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> scores, ScoresOf(lattice, *table_, domain_));
  ASSIGN_OR_RETURN(const size_t selected,
                   DrawExponential(*bits_, scores, FactorForRange(epsilon, lattice.range)));
  if (record_ != nullptr) {
    record_->push_back(UtilityDraw{.utility = utility,
                                   .bonuses = {bonuses.begin(), bonuses.end()},
                                   .epsilon = epsilon,
                                   .selected = selected});
  }
  return selected;
}

absl::StatusOr<int64_t> Kernel::NoisyRecordCount(const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, RecordCountSensitivity(unit_));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  if (table_ == nullptr) {
    ASSIGN_OR_RETURN(const RecordCountDraw recorded, NextRecorded<RecordCountDraw>());
    if (recorded.noise != noise) return AnotherQuestion();
    return recorded.value;
  }
  const int64_t value = table_->rows() + DrawNoise(sampler, *bits_, 1)[0];
  if (record_ != nullptr) record_->push_back(RecordCountDraw{.noise = noise, .value = value});
  return value;
}

}  // namespace curator::dp
