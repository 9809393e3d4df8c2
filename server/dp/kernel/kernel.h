// THE DOOR. Nothing outside this folder reads a sealed table for a query; whatever leaves it is a draw of one
// of the operators of PrivateQueries (private_queries.h), paid for out of the meter before the table is read.
//
// Not thread-safe: one release, one thread, one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/data/sealed_table_handle.h"
#include "dp/kernel/meter.h"
#include "dp/kernel/private_queries.h"
#include "dp/noise/bit_source.h"

namespace curator::dp {

class Kernel final : public PrivateQueries {
 public:
  // `table`, not null, must have been sealed under `domain`. `bits` must outlive the kernel and have no other
  // user meanwhile.
  Kernel(SealedTableHandle table, Domain domain, UnitBound unit, Meter meter, BitSource& bits);

  // From now on, counts also on the cores that `executor` offers; on the calling thread alone before. The
  // executor must outlive the kernel.
  void UseExecutor(Executor& executor) { executor_ = &executor; }

  const Domain& domain() const override { return domain_; }
  absl::Status SpendAs(const std::vector<CountedEvent>& draws) override { return meter_.SpendAs(draws); }
  Executor& executor() const override { return *executor_; }

  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const AttributeSet> marginals,
                                                                const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const QueryGroup> groups,
                                                                const NoiseSpec& noise) override;
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
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyProducts(
      const ProductQueries& queries, std::span<const Rational> sigma_squared) override;
  absl::StatusOr<std::vector<int64_t>> SelectQuantiles(const GroupedQuantile& quantile,
                                                       Epsilon epsilon) override;
  absl::StatusOr<int64_t> NoisyRecordCount(const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<int64_t>> NoisyGroupSizes(GroupRole role, std::span<const int64_t> least_sizes,
                                                       const NoiseSpec& noise) override;
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyGroupMarginals(
      std::span<const GroupMarginal> marginals, const NoiseSpec& noise) override;

 private:
  // INVALID_ARGUMENT when the marginals, each counted once, have more cells than one request may ask for.
  absl::Status CheckCells(std::vector<AttributeSet> sets) const;

  // The exact counts of `sets`, cached: selections ask for nearly the same marginals round after round.
  absl::StatusOr<std::vector<std::span<const int64_t>>> CachedCounts(const std::vector<AttributeSet>& sets);

  // The latest query about groups, and its scores, which are as private as the table.
  struct ScoredQuery {
    Utility utility;
    std::vector<double> bonuses;
    int64_t range = 1;
    std::vector<int64_t> scores;
  };

  // Null unless the latest query about groups is this one.
  const ScoredQuery* CachedScores(const Utility& utility, std::span<const double> bonuses) const;

  // What a selection is among: checked and added up, family by family, from all but the estimates.
  struct SelectionSize {
    int64_t range = 0;  // the largest CandidateRange() of a family
    int64_t candidates = 0;

    absl::Status Add(const Domain& domain, const UnitBound& unit, const CandidateFamily& family);
  };
  // Debits `count` selections. Errors: INVALID_ARGUMENT for fewer candidates; those of Meter.
  absl::Status PayFor(const SelectionSize& size, int64_t count, Epsilon epsilon);

  // SelectWorstCandidates() among families in memory, and among others.
  absl::StatusOr<std::vector<FamilyChoice>> SelectAmongHeld(std::span<const CandidateFamily> families,
                                                            int64_t count, Epsilon epsilon);
  absl::StatusOr<std::vector<FamilyChoice>> SelectAmongStreamed(const FamilyStream& stream, int64_t count,
                                                                Epsilon epsilon);

  Domain domain_;
  UnitBound unit_;
  Meter meter_;
  SealedTableHandle table_;
  BitSource& bits_;
  std::map<AttributeSet, std::vector<int64_t>> counts_;  // as private as the table
  std::optional<ScoredQuery> scored_;
  Executor* executor_ = &OnlyThisThread();
};

}  // namespace curator::dp
