#include "dp/kernel/kernel.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/group_sizes.h"
#include "dp/kernel/grouped_draws.h"
#include "dp/kernel/marginal_errors.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/substitution_score.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/utility_scores.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/exponential_mechanism.h"
#include "dp/noise/product_gaussian.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/product_cost.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostMarginalsOfADraw = int64_t{1} << 18;

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

// `noises` holds one number for each of `values`, one after another.
void Add(std::span<const int64_t> noises, std::vector<std::vector<int64_t>>& values) {
  size_t next = 0;
  for (std::vector<int64_t>& part : values) {
    for (int64_t& value : part) value += noises[next++];
  }
}

void Add(std::span<const int64_t> noises, std::vector<int64_t>& values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] += noises[i];
}

// How many of the groups, from the first one, are counted at once: at least one.
size_t CountedAtOnce(const Domain& domain, std::span<const ProductGroup> groups) {
  constexpr int64_t kCells = int64_t{1} << 20;  // 8 MiB of counts
  size_t count = 0;
  for (int64_t cells = 0; count < groups.size(); ++count) {
    cells += domain.CellCount(groups[count].attributes).value_or(kCells);
    if (count > 0 && cells > kCells) break;
  }
  return count;
}

// Adds the exact answers of all groups. Few exact counts are in memory at a time.
absl::Status AddAnswers(const SealedTable& table, const Domain& domain, const ProductQueries& queries,
                        Executor& executor, std::vector<std::vector<int64_t>>& values) {
  size_t done = 0;
  for (std::span<const ProductGroup> left = queries.groups; !left.empty();) {
    const std::span<const ProductGroup> counted = left.first(CountedAtOnce(domain, left));
    std::vector<AttributeSet> sets;
    for (const ProductGroup& group : counted) sets.push_back(group.attributes);
    ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts, CountMarginals(table, domain, sets, executor));
    for (size_t i = 0; i < counted.size(); ++i)
      Add(AnswersFromCounts(domain, queries, counted[i], std::move(counts[i])), values[done++]);
    left = left.subspan(counted.size());
  }
  return absl::OkStatus();
}

// The chosen queries, by family.
using Chosen = std::map<size_t, std::set<int64_t>>;

CandidateFamily Without(const Chosen& chosen, size_t index, CandidateFamily family) {
  const auto found = chosen.find(index);
  if (found == chosen.end()) return family;
  std::vector<int64_t> excluded;
  std::ranges::set_union(family.excluded, found->second, std::back_inserter(excluded));
  family.excluded = std::move(excluded);
  return family;
}

// The family with its estimate. Its other facts must be those that Candidates() states, from which the range
// of the selection was computed: both come from the caller.
absl::StatusOr<CandidateFamily> FamilyAsStated(const FamilyStream& stream, size_t index) {
  ASSIGN_OR_RETURN(CandidateFamily family, stream.Family(index));
  std::vector<double> estimate = std::exchange(family.estimate, {});
  CandidateFamily stated = stream.Candidates(index);
  stated.estimate.clear();
  if (family != stated)
    return absl::InternalError("a stream's family has other candidates than those that it stated");
  family.estimate = std::move(estimate);
  return family;
}

}  // namespace

Kernel::Kernel(SealedTableHandle table, Domain domain, UnitBound unit, Meter meter, BitSource& bits)
    : domain_(std::move(domain)),
      unit_(unit),
      meter_(std::move(meter)),
      table_(std::move(table)),
      bits_(bits) {}

absl::Status Kernel::CheckCells(std::vector<AttributeSet> sets) const {
  std::ranges::sort(sets);
  const auto repeated = std::ranges::unique(sets);
  sets.erase(repeated.begin(), repeated.end());
  return TotalCells(domain_, sets).status();
}

absl::StatusOr<std::vector<std::span<const int64_t>>> Kernel::CachedCounts(
    const std::vector<AttributeSet>& sets) {
  std::vector<AttributeSet> missing;
  for (const AttributeSet& set : sets) {
    if (!counts_.contains(set)) missing.push_back(set);
  }
  std::ranges::sort(missing);
  const auto repeated = std::ranges::unique(missing);
  missing.erase(repeated.begin(), repeated.end());
  if (!missing.empty()) {
    ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> counts,
                     CountMarginals(*table_, domain_, missing, *executor_));
    for (size_t i = 0; i < missing.size(); ++i) counts_.emplace(std::move(missing[i]), std::move(counts[i]));
  }
  std::vector<std::span<const int64_t>> found;
  for (const AttributeSet& set : sets) found.emplace_back(counts_.at(set));
  return found;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyCounts(std::span<const AttributeSet> marginals,
                                                                      const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(ValidateMarginals(domain_, marginals, {.max_marginals = kMostMarginalsOfADraw}));
  ASSIGN_OR_RETURN(const int64_t total_cells, TotalCells(domain_, marginals));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(unit_, static_cast<int64_t>(marginals.size())));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, total_cells);
  const std::vector<AttributeSet> sets(marginals.begin(), marginals.end());
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> values,
                   CountMarginals(*table_, domain_, sets, *executor_));
  Add(noises, values);
  return values;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyCounts(std::span<const QueryGroup> groups,
                                                                      const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, QueriesSensitivity(domain_, unit_, groups));
  std::vector<AttributeSet> sets;
  int64_t answers = 0;
  for (const QueryGroup& group : groups) {
    sets.push_back(group.attributes);
    answers += NumberOfQueries(domain_, group);
  }
  RETURN_IF_ERROR(CheckCells(sets));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, answers);
  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, CachedCounts(sets));
  std::vector<std::vector<int64_t>> values;
  for (size_t i = 0; i < groups.size(); ++i)
    values.push_back(AnswersFromCounts(domain_, groups[i], counts[i]));
  Add(noises, values);
  return values;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyProducts(
    const ProductQueries& queries, std::span<const Rational> sigma_squared) {
  ASSIGN_OR_RETURN(const Rho rho, CostOfProducts(domain_, unit_, queries, sigma_squared));
  std::vector<AttributeSet> sets;
  for (size_t i = 0; i < queries.groups.size(); ++i) {
    sets.push_back(queries.groups[i].attributes);
    RETURN_IF_ERROR(
        ProductGaussian::Check(sigma_squared[i], VarianceFactors(domain_, queries, queries.groups[i])));
  }
  RETURN_IF_ERROR(CheckCells(std::move(sets)));
  RETURN_IF_ERROR(meter_.DebitCovering(rho));

  std::vector<std::vector<int64_t>> values;
  values.reserve(queries.groups.size());
  for (size_t i = 0; i < queries.groups.size(); ++i) {
    ASSIGN_OR_RETURN(
        const ProductGaussian noise,
        ProductGaussian::Create(sigma_squared[i], VarianceFactors(domain_, queries, queries.groups[i])));
    noise.Fill(bits_, values.emplace_back(noise.cells()));
  }
  RETURN_IF_ERROR(AddAnswers(*table_, domain_, queries, *executor_, values));
  return values;
}

absl::StatusOr<int64_t> Kernel::NoisyRecordCount(const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, RecordCountSensitivity(unit_));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const int64_t value = table_->rows() + DrawNoise(sampler, bits_, 1)[0];
  return value;
}

absl::StatusOr<std::vector<int64_t>> Kernel::NoisyGroupSizes(GroupRole role,
                                                             std::span<const int64_t> least_sizes,
                                                             const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(CheckSizeBins(least_sizes));
  RETURN_IF_ERROR(CheckRole(role, *table_));
  const Sensitivity sensitivity = GroupSizesSensitivity(unit_.relation, role, least_sizes.size());
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, static_cast<int64_t>(least_sizes.size()));
  std::vector<int64_t> values = GroupSizes(*table_, least_sizes);
  Add(noises, values);
  return values;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> Kernel::NoisyGroupMarginals(
    std::span<const GroupMarginal> marginals, const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(ValidateGroupMarginals(domain_, marginals));
  RETURN_IF_ERROR(CheckRole(GroupRole::kUnit, *table_));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   GroupMarginalsSensitivity(unit_.relation, std::ssize(marginals)));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  int64_t cells = 0;
  for (const GroupMarginal& marginal : marginals) cells += CellsOf(domain_, marginal);
  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, cells);
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> values, GroupMarginals(*table_, domain_, marginals));
  Add(noises, values);
  return values;
}

absl::StatusOr<std::vector<int64_t>> Kernel::NoisySums(const GroupedSum& sum, const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(Validate(domain_, sum));
  ASSIGN_OR_RETURN(const SummandRange range, RangeOf(domain_, sum.value));
  const int64_t sums = NumberOfSums(domain_, sum);
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, SumsSensitivity(unit_, range, sums));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, sums);
  ASSIGN_OR_RETURN(std::vector<int64_t> values, ExactSums(*table_, domain_, sum, *executor_));
  Add(noises, values);
  return values;
}

absl::StatusOr<std::vector<int64_t>> Kernel::NoisyUnitCounts(const RecordGroups& groups,
                                                             const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(Validate(domain_, groups));
  RETURN_IF_ERROR(CheckUnits(*table_, unit_));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, UnitCountsSensitivity(unit_, groups.groups));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, groups.groups);
  ASSIGN_OR_RETURN(std::vector<int64_t> values, ExactUnitCounts(*table_, domain_, groups, *executor_));
  Add(noises, values);
  return values;
}

absl::StatusOr<std::vector<int64_t>> Kernel::SelectQuantiles(const GroupedQuantile& quantile,
                                                             Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  RETURN_IF_ERROR(Validate(domain_, quantile));
  ASSIGN_OR_RETURN(const int64_t range, QuantileRange(unit_, quantile.numerator, quantile.denominator));
  const int64_t selections = QuantileSelections(unit_, quantile.groups.groups);
  for (int64_t i = 0; i < selections; ++i)
    RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  ASSIGN_OR_RETURN(const std::vector<int64_t> counts,
                   ExactCodeCounts(*table_, domain_, quantile, *executor_));
  const auto codes = static_cast<size_t>(CodesOf(domain_, quantile.column));
  std::vector<int64_t> selected;
  for (std::span<const int64_t> left = counts; !left.empty(); left = left.subspan(codes)) {
    const std::vector<int64_t> scores =
        QuantileScores({quantile.numerator, quantile.denominator}, left.first(codes));
    ASSIGN_OR_RETURN(const size_t code, DrawExponential(bits_, scores, FactorForRange(epsilon, range)));
    selected.push_back(static_cast<int64_t>(code));
  }
  return selected;
}

absl::StatusOr<std::vector<int64_t>> Kernel::NoisyErrors(std::span<const IntegerMarginal> candidates,
                                                         const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const Sampler sampler, SamplerFor(noise));
  RETURN_IF_ERROR(CheckCandidates(domain_, candidates));
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, ErrorsSensitivity(unit_, std::ssize(candidates)));
  RETURN_IF_ERROR(meter_.Debit(NoiseEvent(noise, sensitivity)));

  const std::vector<int64_t> noises = DrawNoise(sampler, bits_, std::ssize(candidates));
  ASSIGN_OR_RETURN(std::vector<int64_t> values, ExactErrors(*table_, domain_, candidates, *executor_));
  Add(noises, values);
  return values;
}

absl::Status Kernel::SelectionSize::Add(const Domain& domain, const UnitBound& unit,
                                        const CandidateFamily& family) {
  ASSIGN_OR_RETURN(const int64_t own, CandidateRange(domain, unit, std::span(&family, 1)));
  range = std::max(range, own);
  RETURN_IF_ERROR(CheckPenaltyAndExcluded(domain, family));
  candidates += NumberOfCandidates(domain, family);
  if (candidates > static_cast<int64_t>(kMaxCandidates))
    return absl::InvalidArgumentError("a selection is among at most 2^28 candidates");
  return absl::OkStatus();
}

absl::Status Kernel::PayFor(const SelectionSize& size, int64_t count, Epsilon epsilon) {
  if (count < 0 || size.candidates < count)
    return absl::InvalidArgumentError("there are fewer candidates than selections");
  for (int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<FamilyChoice>> Kernel::SelectWorstCandidates(const FamilyStream& stream,
                                                                        int64_t count, Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  return stream.Held().empty() ? SelectAmongStreamed(stream, count, epsilon)
                               : SelectAmongHeld(stream.Held(), count, epsilon);
}

absl::StatusOr<std::vector<FamilyChoice>> Kernel::SelectAmongHeld(std::span<const CandidateFamily> families,
                                                                  int64_t count, Epsilon epsilon) {
  SelectionSize size;
  std::vector<AttributeSet> sets;
  std::vector<LatticeEstimate> estimates;
  sets.reserve(families.size());
  estimates.reserve(families.size());
  for (const CandidateFamily& family : families) {
    RETURN_IF_ERROR(size.Add(domain_, unit_, family));
    ASSIGN_OR_RETURN(LatticeEstimate estimate, RoundFamily(domain_, family));
    sets.push_back(family.group.attributes);
    estimates.push_back(std::move(estimate));
  }
  RETURN_IF_ERROR(CheckCells(sets));
  RETURN_IF_ERROR(PayFor(size, count, epsilon));

  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, CachedCounts(sets));
  ScoredCandidates left;
  for (size_t i = 0; i < families.size(); ++i)
    AddScores(i, families[i], AnswersOf(domain_, families[i], counts[i]), estimates[i], left);
  std::vector<FamilyChoice> choices;
  while (std::ssize(choices) < count) {
    ASSIGN_OR_RETURN(const size_t selected,
                     DrawExponential(bits_, left.scores, FactorForRange(epsilon, size.range)));
    choices.push_back(left.candidates[selected]);
    left.candidates.erase(left.candidates.begin() + static_cast<ptrdiff_t>(selected));
    left.scores.erase(left.scores.begin() + static_cast<ptrdiff_t>(selected));
  }
  return choices;
}

absl::StatusOr<std::vector<FamilyChoice>> Kernel::SelectAmongStreamed(const FamilyStream& stream,
                                                                      int64_t count, Epsilon epsilon) {
  SelectionSize size;
  for (size_t i = 0; i < stream.size(); ++i) {
    const CandidateFamily family = stream.Candidates(i);
    RETURN_IF_ERROR(size.Add(domain_, unit_, family));
    RETURN_IF_ERROR(CheckCells({family.group.attributes}));
  }
  RETURN_IF_ERROR(PayFor(size, count, epsilon));
  if (count == 0) return std::vector<FamilyChoice>{};

  Chosen chosen;
  const auto scores_of = [&](size_t index) -> absl::StatusOr<std::vector<int64_t>> {
    ASSIGN_OR_RETURN(CandidateFamily family, FamilyAsStated(stream, index));
    family = Without(chosen, index, std::move(family));
    ASSIGN_OR_RETURN(const LatticeEstimate estimate, RoundFamily(domain_, family));
    ASSIGN_OR_RETURN(const auto counts,
                     CountMarginals(*table_, domain_, {family.group.attributes}, *executor_));
    ScoredCandidates scored;
    AddScores(index, family, AnswersOf(domain_, family, counts.front()), estimate, scored);
    return std::move(scored.scores);
  };
  ASSIGN_OR_RETURN(BlockwiseSelection selection,
                   BlockwiseSelection::Create(stream.size(), scores_of, FactorForRange(epsilon, size.range)));
  std::vector<FamilyChoice> choices;
  while (true) {
    ASSIGN_OR_RETURN(const BlockChoice drawn, selection.Draw(bits_));
    const CandidateFamily family = Without(chosen, drawn.block, stream.Candidates(drawn.block));
    const int64_t query = QueryAt(family, static_cast<int64_t>(drawn.index));
    choices.push_back({drawn.block, static_cast<size_t>(query)});
    if (static_cast<int64_t>(choices.size()) == count) return choices;
    chosen[drawn.block].insert(query);
    RETURN_IF_ERROR(selection.Rescore(drawn.block));
  }
}

absl::StatusOr<SubstitutionChoice> Kernel::SelectMeasuredOrPublic(
    std::span<const SubstitutableMarginal> candidates, Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  if (candidates.empty()) return absl::InvalidArgumentError("a selection is among at least one candidate");
  ASSIGN_OR_RETURN(const int64_t range, SubstitutionRange(domain_, unit_, candidates));
  std::vector<AttributeSet> sets;
  std::vector<LatticeSubstitution> rounded;
  sets.reserve(candidates.size());
  rounded.reserve(candidates.size());
  for (const SubstitutableMarginal& candidate : candidates) {
    ASSIGN_OR_RETURN(LatticeSubstitution own, RoundSubstitution(domain_, candidate));
    sets.push_back(candidate.attributes);
    rounded.push_back(std::move(own));
  }
  RETURN_IF_ERROR(CheckCells(sets));
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  ASSIGN_OR_RETURN(const std::vector<std::span<const int64_t>> counts, CachedCounts(sets));
  ScoredSubstitutions scored;
  for (size_t i = 0; i < candidates.size(); ++i) AddScores(i, candidates[i], counts[i], rounded[i], scored);
  ASSIGN_OR_RETURN(const size_t selected,
                   DrawExponential(bits_, scored.scores, FactorForRange(epsilon, range)));
  return scored.choices[selected];
}

const Kernel::ScoredQuery* Kernel::CachedScores(const Utility& utility,
                                                std::span<const double> bonuses) const {
  const bool is_same =
      scored_.has_value() && scored_->utility == utility && std::ranges::equal(scored_->bonuses, bonuses);
  return is_same ? &*scored_ : nullptr;
}

absl::StatusOr<size_t> Kernel::SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                               Epsilon epsilon) {
  if (epsilon.units() <= 0) return absl::InvalidArgumentError("a selection needs an epsilon greater than 0");
  // A query with cached scores has passed these checks.
  const ScoredQuery* known = CachedScores(utility, bonuses);
  LatticeUtility lattice;
  if (known == nullptr) {
    ASSIGN_OR_RETURN(lattice, ToLattice(utility, bonuses, domain_, unit_));
    RETURN_IF_ERROR(CheckGrouping(lattice, *table_, unit_));
  }
  RETURN_IF_ERROR(meter_.Debit({ExponentialMechanismEvent{epsilon}}));

  std::vector<int64_t> computed;
  if (known == nullptr) {
    ASSIGN_OR_RETURN(computed, ScoresOf(lattice, *table_, domain_, *executor_));
  }
  const std::vector<int64_t>& scores = known == nullptr ? computed : known->scores;
  const int64_t range = known == nullptr ? lattice.range : known->range;
  ASSIGN_OR_RETURN(const size_t selected, DrawExponential(bits_, scores, FactorForRange(epsilon, range)));
  if (known == nullptr && std::holds_alternative<LatticeGroups>(lattice.kind)) {
    scored_ = ScoredQuery{.utility = utility,
                          .bonuses = {bonuses.begin(), bonuses.end()},
                          .range = range,
                          .scores = std::move(computed)};
  }
  return selected;
}

}  // namespace curator::dp
