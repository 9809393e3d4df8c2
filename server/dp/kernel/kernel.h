// THE DOOR. Nothing outside this room reads a sealed table; whatever leaves this room is a draw of one of the
// operators below, paid for out of the meter before the table is looked at.
//
// Each operator states its claim: neighbours, sensitivity, why it is private. Sensitivities are computed
// here, from the structure of the question and the dataset's unit (dp/workload/sensitivity.h), never taken
// from the caller. Arguments must not depend on the table except through earlier draws; the layout guarantees
// that, because no caller can see it.
//
// Errors, all before the look and before the debit: INVALID_ARGUMENT for a malformed question, OUT_OF_RANGE
// where public facts do not exclude an overflow; then FAILED_PRECONDITION when the draw is not on the meter's
// schedule. No error depends on the records.
//
// Not thread-safe: one release, one thread, one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/accounting/units.h"
#include "dp/data/sealed_table_handle.h"
#include "dp/domain/domain.h"
#include "dp/kernel/family_stream.h"
#include "dp/kernel/meter.h"
#include "dp/kernel/transcript.h"
#include "dp/kernel/utility/utility.h"
#include "dp/noise/bit_source.h"
#include "dp/workload/linear_queries.h"
#include "dp/workload/noise_spec.h"

namespace curator::dp {

class Kernel {
 public:
  // `table` must have been sealed under `domain`. `bits` must outlive the kernel and be used by nobody else
  // meanwhile.
  Kernel(SealedTableHandle table, Domain domain, UnitBound unit, Meter meter, BitSource& bits);

  // A kernel without a table that gives the recorded answers again, as long as the same questions are asked
  // in the same order (FAILED_PRECONDITION otherwise). Whatever is computed with it is post-processing beyond
  // doubt.
  static Kernel Replaying(Transcript transcript, Domain domain, UnitBound unit, Meter meter);

  // From now on, appends every draw to `transcript`, which must outlive the kernel.
  void RecordTo(Transcript& transcript) { record_ = &transcript; }

  // From now on, counts also on the cores that `executor` offers; on the calling thread alone otherwise. It
  // must outlive the kernel.
  void CountOn(Executor& executor) { executor_ = &executor; }

  // Those cores, for whoever works on the answers.
  Executor& executor() const { return *executor_; }

  // Public facts.
  const Domain& domain() const { return domain_; }
  UnitBound unit_bound() const { return unit_; }

  // The counts of every cell of every given marginal, each with independent noise, marginal by marginal in
  // row-major order of the set's attributes (the last one runs fastest).
  //
  // Claim: discrete Laplace noise of scale s on k marginals is (L1/s)-DP, discrete Gaussian noise of variance
  // parameter sigma^2 is (L2^2 / (2 sigma^2))-zCDP, with the sensitivities of MarginalsSensitivity(unit, k).
  // Proof: the exact discrete Laplace mechanism on an integer vector (Ghosh, Roughgarden, Sundararajan 2009)
  // and the discrete Gaussian mechanism (Canonne, Kamath, Steinke 2020). |count| < 2^31 and |noise| < 2^62,
  // so the sum is exact.
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const AttributeSet> marginals,
                                                                const NoiseSpec& noise);

  // The answers of every query of every given group (dp/workload/linear_queries.h), each with independent
  // noise, group by group. Groups may share marginals and queries.
  //
  // Claim: as above, with the sensitivities of QueriesSensitivity(unit, groups). Proof: likewise; answers and
  // noise are integers, |answer| < 2^51 and |noise| < 2^62.
  absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const QueryGroup> groups,
                                                                const NoiseSpec& noise);

  // The candidate whose estimate is (noisily) the worst: index i with probability proportional to
  // exp(epsilon score_i / (2 D)), score_i = (sum over cells |count - estimate|) - penalty.
  //
  // Claim: epsilon-DP with range epsilon (bounded range, so zCDP at its exact cost, see
  // ExponentialMechanismEvent). D is the score's sensitivity: the L1 sensitivity of one marginal, because
  // ||c - e|_1 - |c' - e|_1| <= |c - c'|_1. Scores of different candidates may move in opposite directions,
  // hence the factor 2 (McSherry, Talwar 2007). Estimates and penalties are public and rounded to the lattice
  // 2^-10 first, so scores are integers (in its steps), D is D * 2^10 of them, and the claim is exact.
  // Errors: INVALID_ARGUMENT for no candidates, a malformed marginal, an estimate that is not finite or not
  // of the marginal's size, epsilon <= 0; OUT_OF_RANGE when sum |estimate| or |penalty| exceeds 2^50.
  absl::StatusOr<size_t> SelectWorstApproximated(std::span<const ApproximatedMarginal> candidates,
                                                 Epsilon epsilon);

  // The same for groups of queries: single cells, ranges, parities, whole marginals. score_i is the sum of
  // the absolute errors of the group's answers, or the largest of them, minus the penalty.
  //
  // Claim: as above, with D the largest ErrorSensitivity() of all candidates: a whole marginal's is 1, and 2
  // under REPLACE_ONE, by the sum and 1 by the largest error; a single query with weights 0 and 1 has 1
  // either way. Proof: scores move by at most D each, so apart by at most 2 D, whatever the mixture of
  // candidates. Further errors: those of ValidateQueries(); OUT_OF_RANGE when a record counts too often in
  // one candidate.
  absl::StatusOr<size_t> SelectWorstApproximated(std::span<const ApproximatedGroup> candidates,
                                                 Epsilon epsilon);

  // The same for families of candidates, each a whole marginal or all queries of a group one by one, as in
  // the algorithm of Hardt, Ligett, McSherry 2012. score = (sum over cells |count - estimate|) - penalty for
  // a marginal, |answer - estimate| - penalty for a query. Thousands of queries over one table share its
  // counts, and how they are answered.
  //
  // Claim: epsilon-DP with range epsilon. Proof: as above; any two scores move apart by at most
  // CandidateRange() (dp/kernel/candidate_families.h), and which candidates are excluded is public.
  // Errors: INVALID_ARGUMENT when no candidate is left; those of CandidateRange() and RoundFamily().
  absl::StatusOr<FamilyChoice> SelectWorstCandidate(std::span<const CandidateFamily> families,
                                                    Epsilon epsilon);

  // `count` times that, each among the candidates that are left: the draws of as many calls, one after the
  // other, of SelectWorstCandidate() with what was chosen excluded. At most one family is held at once, and
  // its counts are not remembered, so memory follows the largest family; each is asked for once, and one
  // again, twice, for each choice.
  //
  // Claim and proof: those of SelectWorstCandidate(), `count` times; the probabilities are the same
  // (dp/noise/blockwise_selection.h), and what is excluded is what earlier draws released. Further errors:
  // INVALID_ARGUMENT for more than kMaxCandidates, fewer than `count`. Only what is wrong with an estimate is
  // found after the debit, as are the errors of the stream; whatever the records.
  absl::StatusOr<std::vector<FamilyChoice>> SelectWorstCandidates(const FamilyStream& stream, int64_t count,
                                                                  Epsilon epsilon);

  // The candidate of `utility` (dp/kernel/utility/utility.h) with index i with probability proportional to
  // exp(epsilon (score_i + bonus_i) / R). `bonuses` are public, one for each candidate or none at all. R is
  // the range of the utility, computed here: how far apart one unit can move two scores.
  //
  // Claim: epsilon-DP with range epsilon (bounded range, so zCDP at its exact cost, see
  // ExponentialMechanismEvent). Proof: ToLattice() shows |d_i - d_j| <= R for the changes d of all scores,
  // FactorForRange() what follows. Where all scores are sums over units that are clipped to a width w, R is w
  // under ADD_REMOVE, half of what scores that move by w in either direction would need, and 2 w under
  // REPLACE_ONE.
  // A clipped unit weighs the same however few of its records are here, so a plan that uses this leaves
  // SynthesisPlan::linear empty (dp/workload/part_cost.h).
  // A question about groups is scored once: where the same one follows, with the same bonuses, its scores are
  // drawn from again, and paid for as any other draw.
  // Errors: those of ToLattice(); INVALID_ARGUMENT for epsilon <= 0; FAILED_PRECONDITION when a unit may own
  // several records and the table does not say whose each one is.
  absl::StatusOr<size_t> SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                         Epsilon epsilon);

  // The number of records with noise. It is private under both relations: import may reject a replaced
  // record, and a replaced person may own fewer records.
  //
  // Claim: as NoisyCounts, with RecordCountSensitivity(unit).
  absl::StatusOr<int64_t> NoisyRecordCount(const NoiseSpec& noise);

  // How many groups have how many records, by bins of sizes (dp/kernel/group_sizes_sensitivity.h), each with
  // independent noise. One bin is the number of groups, which is private as well.
  //
  // Claim: as NoisyCounts, with GroupSizesSensitivity(). Errors: those of CheckSizeBins();
  // FAILED_PRECONDITION where the table's units are not what `role` says.
  absl::StatusOr<std::vector<int64_t>> NoisyGroupSizes(GroupRole role, std::span<const int64_t> least_sizes,
                                                       const NoiseSpec& noise);

 private:
  Kernel(Domain domain, UnitBound unit, Meter meter);

  // INVALID_ARGUMENT when the marginals, each counted once, have more cells than one request may ask for.
  absl::Status CheckCells(std::vector<AttributeSet> sets) const;

  // The exact counts of `sets`, from this kernel's memory where an earlier question asked for them:
  // selections ask for nearly the same marginals round after round.
  absl::StatusOr<std::vector<std::span<const int64_t>>> RememberedCounts(
      const std::vector<AttributeSet>& sets);

  // The latest question about groups, and its scores, which are as private as the table.
  struct ScoredQuestion {
    Utility utility;
    std::vector<double> bonuses;
    int64_t range = 1;
    std::vector<int64_t> scores;
  };

  // Null unless that is this question.
  const ScoredQuestion* RememberedScores(const Utility& utility, std::span<const double> bonuses) const;

  static absl::Status AnotherQuestion();

  absl::StatusOr<std::vector<FamilyChoice>> RecordedChoices(const FamilyStream& stream, int64_t count,
                                                            Epsilon epsilon);

  // The next recorded draw, when this kernel replays one of the kind D.
  template <typename D>
  absl::StatusOr<D> NextRecorded();

  Domain domain_;
  UnitBound unit_;
  Meter meter_;
  SealedTableHandle table_;                               // null when replaying
  BitSource* bits_ = nullptr;                             // null when replaying
  std::map<AttributeSet, std::vector<int64_t>> counted_;  // as private as the table
  std::optional<ScoredQuestion> scored_;
  Transcript replayed_;
  size_t next_replayed_ = 0;
  Transcript* record_ = nullptr;
  Executor* executor_ = &OnlyThisThread();
};

template <typename D>
absl::StatusOr<D> Kernel::NextRecorded() {
  if (next_replayed_ >= replayed_.size()) return AnotherQuestion();
  const D* draw = std::get_if<D>(&replayed_[next_replayed_]);
  if (draw == nullptr) return AnotherQuestion();
  ++next_replayed_;
  return *draw;
}

}  // namespace curator::dp
