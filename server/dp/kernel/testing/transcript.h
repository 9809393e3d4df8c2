// Transcripts: what the operators of PrivateQueries released, draw by draw, before any post-processing; how a
// transcript is recorded, and private queries that repeat one.
//
// A transcript holds each operator's public arguments and its noisy answer and nothing that is not released,
// so it is exactly what a claim is about. For tests only. Draws are plain values; RecordingQueries and
// ReplayingQueries are not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/grouped_sums.h"

namespace curator::dp {

struct CountsDraw {
  std::vector<AttributeSet> marginals;
  NoiseSpec noise;
  std::vector<std::vector<int64_t>> values;
};
struct QueriesDraw {
  std::vector<QueryGroup> groups;
  NoiseSpec noise;
  std::vector<std::vector<int64_t>> values;
};
struct RecordCountDraw {
  NoiseSpec noise;
  int64_t value = 0;
};
struct FamilySelectionDraw {
  std::vector<CandidateFamily> families;
  Epsilon epsilon;
  FamilyChoice selected;
};
struct SubstitutionDraw {
  std::vector<SubstitutableMarginal> candidates;
  Epsilon epsilon;
  SubstitutionChoice selected;
};
struct UtilityDraw {
  Utility utility;
  std::vector<double> bonuses;
  Epsilon epsilon;
  size_t selected = 0;
};
struct GroupSizesDraw {
  GroupRole role = GroupRole::kUnit;
  std::vector<int64_t> least_sizes;
  NoiseSpec noise;
  std::vector<int64_t> values;
};
struct GroupMarginalsDraw {
  std::vector<GroupMarginal> marginals;
  NoiseSpec noise;
  std::vector<std::vector<int64_t>> values;
};

struct ProductsDraw {
  ProductQueries queries;
  std::vector<Rational> sigma_squared;
  std::vector<std::vector<int64_t>> values;
};
struct ErrorsDraw {
  std::vector<IntegerMarginal> candidates;
  NoiseSpec noise;
  std::vector<int64_t> values;
};
struct SumsDraw {
  GroupedSum sum;
  NoiseSpec noise;
  std::vector<int64_t> values;
};
struct UnitCountsDraw {
  RecordGroups groups;
  NoiseSpec noise;
  std::vector<int64_t> values;
};
struct QuantilesDraw {
  GroupedQuantile quantile;
  Epsilon epsilon;
  std::vector<int64_t> selected;
};

using Draw = std::variant<CountsDraw, QueriesDraw, RecordCountDraw, FamilySelectionDraw, UtilityDraw,
                          GroupSizesDraw, SumsDraw, UnitCountsDraw, QuantilesDraw, ProductsDraw, ErrorsDraw,
                          SubstitutionDraw, GroupMarginalsDraw>;
using Transcript = std::vector<Draw>;

// Forwards every query to `queries` and appends each draw to `transcript`. Both must outlive it.
class RecordingQueries : public PrivateQueries {
 public:
  RecordingQueries(PrivateQueries& queries, Transcript& transcript)
      : queries_(queries), transcript_(transcript) {}

  const Domain& domain() const override { return queries_.domain(); }
  absl::Status SpendAs(const std::vector<CountedEvent>& draws) override { return queries_.SpendAs(draws); }
  Executor& executor() const override { return queries_.executor(); }

  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const AttributeSet> marginals,
                                                                const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const QueryGroup> groups,
                                                                const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyProducts(
      const ProductQueries& queries, std::span<const Rational> sigma_squared) override;
  absl::StatusOr<std::vector<int64_t>> NoisyErrors(std::span<const IntegerMarginal> candidates,
                                                   const NoiseSpec& noise) override;
  // One draw for each choice, with all families of the stream.
  absl::StatusOr<std::vector<FamilyChoice>> SelectWorstCandidates(const FamilyStream& stream, int64_t count,
                                                                  Epsilon epsilon) override;
  absl::StatusOr<SubstitutionChoice> SelectMeasuredOrPublic(std::span<const SubstitutableMarginal> candidates,
                                                            Epsilon epsilon) override;
  absl::StatusOr<size_t> SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                         Epsilon epsilon) override;
  absl::StatusOr<std::vector<int64_t>> NoisySums(const GroupedSum& sum, const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> NoisyUnitCounts(const RecordGroups& groups,
                                                       const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> SelectQuantiles(const GroupedQuantile& quantile,
                                                       Epsilon epsilon) override;
  absl::StatusOr<int64_t> NoisyRecordCount(const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> NoisyGroupSizes(GroupRole role, std::span<const int64_t> least_sizes,
                                                       const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyGroupMarginals(
      std::span<const GroupMarginal> marginals, const NoiseSpec& noise) override;

 private:
  PrivateQueries& queries_;
  Transcript& transcript_;
};

// Private queries without a table: the answers of `transcript` again, as long as the same queries are made in
// the same order, else FAILED_PRECONDITION. Whatever is computed with them is post-processing beyond doubt.
// Nothing is debited.
class ReplayingQueries final : public PrivateQueries {
 public:
  ReplayingQueries(Transcript transcript, Domain domain);

  const Domain& domain() const override { return domain_; }
  absl::Status SpendAs(const std::vector<CountedEvent>&) override { return absl::OkStatus(); }
  Executor& executor() const override { return OnlyThisThread(); }

  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const AttributeSet> marginals,
                                                                const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const QueryGroup> groups,
                                                                const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyProducts(
      const ProductQueries& queries, std::span<const Rational> sigma_squared) override;
  absl::StatusOr<std::vector<int64_t>> NoisyErrors(std::span<const IntegerMarginal> candidates,
                                                   const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<FamilyChoice>> SelectWorstCandidates(const FamilyStream& stream, int64_t count,
                                                                  Epsilon epsilon) override;
  absl::StatusOr<SubstitutionChoice> SelectMeasuredOrPublic(std::span<const SubstitutableMarginal> candidates,
                                                            Epsilon epsilon) override;
  absl::StatusOr<size_t> SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                         Epsilon epsilon) override;
  absl::StatusOr<std::vector<int64_t>> NoisySums(const GroupedSum& sum, const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> NoisyUnitCounts(const RecordGroups& groups,
                                                       const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> SelectQuantiles(const GroupedQuantile& quantile,
                                                       Epsilon epsilon) override;
  absl::StatusOr<int64_t> NoisyRecordCount(const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> NoisyGroupSizes(GroupRole role, std::span<const int64_t> least_sizes,
                                                       const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyGroupMarginals(
      std::span<const GroupMarginal> marginals, const NoiseSpec& noise) override;

 private:
  // The next draw, if it is of kind D and answers the query.
  template <typename D, typename IsAnswer>
  absl::StatusOr<D> Next(IsAnswer is_answer);

  Transcript transcript_;
  Domain domain_;
  size_t next_ = 0;
};

}  // namespace curator::dp
