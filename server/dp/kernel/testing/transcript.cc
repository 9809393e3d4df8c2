#include "dp/kernel/testing/transcript.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

using Counts = std::vector<std::vector<int64_t>>;

// The queries that were chosen, by family.
using Chosen = std::map<size_t, std::set<int64_t>>;

// The families of the stream with what was chosen excluded.
absl::StatusOr<std::vector<CandidateFamily>> FamiliesOf(const FamilyStream& stream, const Chosen& chosen) {
  std::vector<CandidateFamily> families;
  for (size_t i = 0; i < stream.size(); ++i) {
    ASSIGN_OR_RETURN(CandidateFamily family, stream.Family(i));
    if (const auto found = chosen.find(i); found != chosen.end()) {
      std::vector<int64_t> excluded;
      std::ranges::set_union(family.excluded, found->second, std::back_inserter(excluded));
      family.excluded = std::move(excluded);
    }
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace

absl::StatusOr<Counts> RecordingQueries::NoisyCounts(std::span<const AttributeSet> marginals,
                                                     const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(Counts values, queries_.NoisyCounts(marginals, noise));
  transcript_.push_back(CountsDraw{{marginals.begin(), marginals.end()}, noise, values});
  return values;
}

absl::StatusOr<Counts> RecordingQueries::NoisyCounts(std::span<const QueryGroup> groups,
                                                     const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(Counts values, queries_.NoisyCounts(groups, noise));
  transcript_.push_back(QueriesDraw{{groups.begin(), groups.end()}, noise, values});
  return values;
}

absl::StatusOr<std::vector<int64_t>> RecordingQueries::NoisyErrors(
    std::span<const IntegerMarginal> candidates, const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(std::vector<int64_t> values, queries_.NoisyErrors(candidates, noise));
  transcript_.push_back(ErrorsDraw{{candidates.begin(), candidates.end()}, noise, values});
  return values;
}

absl::StatusOr<std::vector<FamilyChoice>> RecordingQueries::SelectWorstCandidates(const FamilyStream& stream,
                                                                                  int64_t count,
                                                                                  Epsilon epsilon) {
  ASSIGN_OR_RETURN(std::vector<FamilyChoice> choices, queries_.SelectWorstCandidates(stream, count, epsilon));
  Chosen chosen;
  for (const FamilyChoice& choice : choices) {
    ASSIGN_OR_RETURN(std::vector<CandidateFamily> families, FamiliesOf(stream, chosen));
    transcript_.push_back(FamilySelectionDraw{std::move(families), epsilon, choice});
    chosen[choice.family].insert(static_cast<int64_t>(choice.query));
  }
  return choices;
}

absl::StatusOr<SubstitutionChoice> RecordingQueries::SelectMeasuredOrPublic(
    std::span<const SubstitutableMarginal> candidates, Epsilon epsilon) {
  ASSIGN_OR_RETURN(const SubstitutionChoice selected, queries_.SelectMeasuredOrPublic(candidates, epsilon));
  transcript_.push_back(SubstitutionDraw{{candidates.begin(), candidates.end()}, epsilon, selected});
  return selected;
}

absl::StatusOr<size_t> RecordingQueries::SelectByUtility(const Utility& utility,
                                                         std::span<const double> bonuses, Epsilon epsilon) {
  ASSIGN_OR_RETURN(const size_t selected, queries_.SelectByUtility(utility, bonuses, epsilon));
  transcript_.push_back(UtilityDraw{utility, {bonuses.begin(), bonuses.end()}, epsilon, selected});
  return selected;
}

absl::StatusOr<std::vector<int64_t>> RecordingQueries::NoisySums(const GroupedSum& sum,
                                                                 const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(std::vector<int64_t> values, queries_.NoisySums(sum, noise));
  transcript_.push_back(SumsDraw{sum, noise, values});
  return values;
}

absl::StatusOr<std::vector<int64_t>> RecordingQueries::NoisyUnitCounts(const RecordGroups& groups,
                                                                       const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(std::vector<int64_t> values, queries_.NoisyUnitCounts(groups, noise));
  transcript_.push_back(UnitCountsDraw{groups, noise, values});
  return values;
}

absl::StatusOr<std::vector<int64_t>> RecordingQueries::SelectQuantiles(const GroupedQuantile& quantile,
                                                                       Epsilon epsilon) {
  ASSIGN_OR_RETURN(std::vector<int64_t> selected, queries_.SelectQuantiles(quantile, epsilon));
  transcript_.push_back(QuantilesDraw{quantile, epsilon, selected});
  return selected;
}

absl::StatusOr<Counts> RecordingQueries::NoisyProducts(const ProductQueries& queries,
                                                       std::span<const Rational> sigma_squared) {
  ASSIGN_OR_RETURN(Counts values, queries_.NoisyProducts(queries, sigma_squared));
  transcript_.push_back(ProductsDraw{queries, {sigma_squared.begin(), sigma_squared.end()}, values});
  return values;
}

absl::StatusOr<int64_t> RecordingQueries::NoisyRecordCount(const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const int64_t value, queries_.NoisyRecordCount(noise));
  transcript_.push_back(RecordCountDraw{noise, value});
  return value;
}

absl::StatusOr<std::vector<int64_t>> RecordingQueries::NoisyGroupSizes(GroupRole role,
                                                                       std::span<const int64_t> least_sizes,
                                                                       const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(std::vector<int64_t> values, queries_.NoisyGroupSizes(role, least_sizes, noise));
  transcript_.push_back(GroupSizesDraw{role, {least_sizes.begin(), least_sizes.end()}, noise, values});
  return values;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> RecordingQueries::NoisyGroupMarginals(
    std::span<const GroupMarginal> marginals, const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> values, queries_.NoisyGroupMarginals(marginals, noise));
  transcript_.push_back(GroupMarginalsDraw{{marginals.begin(), marginals.end()}, noise, values});
  return values;
}

ReplayingQueries::ReplayingQueries(Transcript transcript, Domain domain)
    : transcript_(std::move(transcript)), domain_(std::move(domain)) {}

template <typename D, typename IsAnswer>
absl::StatusOr<D> ReplayingQueries::Next(IsAnswer is_answer) {
  const D* draw = next_ < transcript_.size() ? std::get_if<D>(&transcript_[next_]) : nullptr;
  if (draw == nullptr || !is_answer(*draw))
    return absl::FailedPreconditionError("the transcript holds the answer to another query");
  ++next_;
  return *draw;
}

absl::StatusOr<Counts> ReplayingQueries::NoisyCounts(std::span<const AttributeSet> marginals,
                                                     const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const CountsDraw draw, Next<CountsDraw>([&](const CountsDraw& recorded) {
                     return std::ranges::equal(recorded.marginals, marginals) && recorded.noise == noise;
                   }));
  return draw.values;
}

absl::StatusOr<Counts> ReplayingQueries::NoisyCounts(std::span<const QueryGroup> groups,
                                                     const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const QueriesDraw draw, Next<QueriesDraw>([&](const QueriesDraw& recorded) {
                     return std::ranges::equal(recorded.groups, groups) && recorded.noise == noise;
                   }));
  return draw.values;
}

absl::StatusOr<std::vector<int64_t>> ReplayingQueries::NoisyErrors(
    std::span<const IntegerMarginal> candidates, const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const ErrorsDraw draw, Next<ErrorsDraw>([&](const ErrorsDraw& recorded) {
                     return std::ranges::equal(recorded.candidates, candidates) && recorded.noise == noise;
                   }));
  return draw.values;
}

absl::StatusOr<std::vector<FamilyChoice>> ReplayingQueries::SelectWorstCandidates(const FamilyStream& stream,
                                                                                  int64_t count,
                                                                                  Epsilon epsilon) {
  Chosen chosen;
  std::vector<FamilyChoice> choices;
  for (int64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::vector<CandidateFamily> families, FamiliesOf(stream, chosen));
    ASSIGN_OR_RETURN(const FamilySelectionDraw draw,
                     Next<FamilySelectionDraw>([&](const FamilySelectionDraw& recorded) {
                       return std::ranges::equal(recorded.families, families) && recorded.epsilon == epsilon;
                     }));
    choices.push_back(draw.selected);
    chosen[choices.back().family].insert(static_cast<int64_t>(choices.back().query));
  }
  return choices;
}

absl::StatusOr<SubstitutionChoice> ReplayingQueries::SelectMeasuredOrPublic(
    std::span<const SubstitutableMarginal> candidates, Epsilon epsilon) {
  ASSIGN_OR_RETURN(const SubstitutionDraw draw, Next<SubstitutionDraw>([&](const SubstitutionDraw& recorded) {
                     return std::ranges::equal(recorded.candidates, candidates) &&
                            recorded.epsilon == epsilon;
                   }));
  return draw.selected;
}

absl::StatusOr<size_t> ReplayingQueries::SelectByUtility(const Utility& utility,
                                                         std::span<const double> bonuses, Epsilon epsilon) {
  ASSIGN_OR_RETURN(const UtilityDraw draw, Next<UtilityDraw>([&](const UtilityDraw& recorded) {
                     return recorded.utility == utility && std::ranges::equal(recorded.bonuses, bonuses) &&
                            recorded.epsilon == epsilon;
                   }));
  return draw.selected;
}

absl::StatusOr<std::vector<int64_t>> ReplayingQueries::NoisySums(const GroupedSum& sum,
                                                                 const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const SumsDraw draw, Next<SumsDraw>([&](const SumsDraw& recorded) {
                     return recorded.sum == sum && recorded.noise == noise;
                   }));
  return draw.values;
}

absl::StatusOr<std::vector<int64_t>> ReplayingQueries::NoisyUnitCounts(const RecordGroups& groups,
                                                                       const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const UnitCountsDraw draw, Next<UnitCountsDraw>([&](const UnitCountsDraw& recorded) {
                     return recorded.groups == groups && recorded.noise == noise;
                   }));
  return draw.values;
}

absl::StatusOr<std::vector<int64_t>> ReplayingQueries::SelectQuantiles(const GroupedQuantile& quantile,
                                                                       Epsilon epsilon) {
  ASSIGN_OR_RETURN(const QuantilesDraw draw, Next<QuantilesDraw>([&](const QuantilesDraw& recorded) {
                     return recorded.quantile == quantile && recorded.epsilon == epsilon;
                   }));
  return draw.selected;
}

absl::StatusOr<Counts> ReplayingQueries::NoisyProducts(const ProductQueries& queries,
                                                       std::span<const Rational> sigma_squared) {
  ASSIGN_OR_RETURN(const ProductsDraw draw, Next<ProductsDraw>([&](const ProductsDraw& recorded) {
                     return recorded.queries == queries &&
                            std::ranges::equal(recorded.sigma_squared, sigma_squared);
                   }));
  return draw.values;
}

absl::StatusOr<int64_t> ReplayingQueries::NoisyRecordCount(const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const RecordCountDraw draw, Next<RecordCountDraw>([&](const RecordCountDraw& recorded) {
                     return recorded.noise == noise;
                   }));
  return draw.value;
}

absl::StatusOr<std::vector<int64_t>> ReplayingQueries::NoisyGroupSizes(GroupRole role,
                                                                       std::span<const int64_t> least_sizes,
                                                                       const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const GroupSizesDraw draw, Next<GroupSizesDraw>([&](const GroupSizesDraw& recorded) {
                     return recorded.role == role && std::ranges::equal(recorded.least_sizes, least_sizes) &&
                            recorded.noise == noise;
                   }));
  return draw.values;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> ReplayingQueries::NoisyGroupMarginals(
    std::span<const GroupMarginal> marginals, const NoiseSpec& noise) {
  ASSIGN_OR_RETURN(const GroupMarginalsDraw draw,
                   Next<GroupMarginalsDraw>([&](const GroupMarginalsDraw& recorded) {
                     return std::ranges::equal(recorded.marginals, marginals) && recorded.noise == noise;
                   }));
  return draw.values;
}

}  // namespace curator::dp
