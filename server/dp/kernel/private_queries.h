// Private queries as synthesizers see them: the operators of the door (kernel.h) without the table behind it.
//
// Each operator states its claim: neighbours, sensitivity, why it is private. Sensitivities are computed by
// the implementation, from the structure of the query and the dataset's unit (dp/sensitivity/sensitivity.h),
// never taken from the caller. Arguments must not depend on the table except through earlier draws; the
// layout guarantees that, because no caller can see the table.
//
// Errors, before the debit and the data access unless a method states otherwise: INVALID_ARGUMENT for a
// malformed query, OUT_OF_RANGE where public facts do not exclude an overflow; then FAILED_PRECONDITION when
// the draw is not on the meter's schedule. No error depends on the records.
//
// Not thread-safe: one release, one thread, one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/utility.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/group_marginals.h"
#include "dp/queries/grouped_sums.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/product_queries.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {

// A marginal and a public estimate of its cells, row-major, in whole records.
struct IntegerMarginal {
  AttributeSet attributes;
  std::vector<int64_t> cells;

  bool operator==(const IntegerMarginal&) const = default;
};

// Many candidates over one table, in compact form. When the group asks for every cell, its marginal as a
// whole is one candidate; else each query of the group is one. `estimate` has one public number for each
// answer of the group; `penalty` is public and the same for every candidate. All numbers are finite.
//
// Where `at_least` is not 0, the group asks for every cell, and each cell y is a candidate by itself: the
// number of records that share at least `at_least` of its values (CountsAtLeast()).
//
// `weight`, from 1 to 2^18, is public: an error, and the penalty, count so many times.
struct CandidateFamily {
  QueryGroup group;
  std::vector<double> estimate;
  double penalty = 0;
  // The candidates that are excluded, ascending: positions of queries (with `at_least`, of cells) in the
  // group, or 0 for a whole marginal.
  std::vector<int64_t> excluded = {};
  int64_t at_least = 0;
  int64_t weight = 1;

  bool operator==(const CandidateFamily&) const = default;
};

// A candidate of families: the query `query` of the family at that position, or (0) its whole marginal.
struct FamilyChoice {
  size_t family = 0;
  size_t query = 0;
  bool operator==(const FamilyChoice&) const = default;
};

// Families of candidates, in memory or computed on request: classes of queries may be too large to be held at
// once.
//
// Everything here is public. The families are the same at every call. How often they are requested is
// unspecified (once in 2^30 draws it depends on the draw), so nothing that is released may depend on it.
class FamilyStream {
 public:
  virtual ~FamilyStream() = default;

  virtual size_t size() const = 0;

  // A family without its estimate.
  virtual CandidateFamily Candidates(size_t index) const = 0;

  // The same with its estimate; a selection fails with INTERNAL when anything else differs. Errors end the
  // selection; except for CANCELLED they must not depend on the number of calls.
  virtual absl::StatusOr<CandidateFamily> Family(size_t index) const = 0;

  // All families with their estimates, where they are in memory; else none.
  virtual std::span<const CandidateFamily> Held() const { return {}; }
};

// A marginal that may be measured, or taken from public counts. Estimates and counts have one public number
// for each cell, row-major, finite, and so have the penalties and the weight of CandidateFamily. Where
// `substitute` is empty, it may only be measured.
struct SubstitutableMarginal {
  AttributeSet attributes;
  std::vector<double> estimate;
  double penalty = 0;
  std::vector<double> substitute = {};
  double substitute_penalty = 0;
  int64_t weight = 1;

  bool operator==(const SubstitutableMarginal&) const = default;
};

// A candidate by its position, and whether its public counts are to be taken.
struct SubstitutionChoice {
  size_t candidate = 0;
  bool is_public = false;
  bool operator==(const SubstitutionChoice&) const = default;
};

class PrivateQueries {
 public:
  virtual ~PrivateQueries() = default;

  // Public: what the records are recorded in.
  virtual const Domain& domain() const = 0;

  // The cores that this object computes on, which post-processing of its answers may use as well.
  virtual Executor& executor() const = 0;

  // Spends an amount that the request was charged, one pure or zCDP event of the meter's schedule, as
  // `draws`. Errors: as in Meter::SpendAs().
  virtual absl::Status SpendAs(const std::vector<CountedEvent>& draws) = 0;

  // The counts of every cell of every given marginal, each with independent noise, marginal by marginal in
  // row-major order of the set's attributes (the last one runs fastest).
  //
  // Claim: discrete Laplace noise of scale s on k marginals is (L1/s)-DP, discrete Gaussian noise of variance
  // parameter sigma^2 is (L2^2 / (2 sigma^2))-zCDP, with the sensitivities of MarginalsSensitivity(unit, k).
  // Proof: the exact discrete Laplace mechanism on an integer vector (Ghosh, Roughgarden, Sundararajan 2009)
  // and the discrete Gaussian mechanism (Canonne, Kamath, Steinke 2020). |count| < 2^31 and |noise| < 2^62,
  // so the sum is exact.
  virtual absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(
      std::span<const AttributeSet> marginals, const NoiseSpec& noise) = 0;

  // The answers of every query of every given group (dp/queries/linear_queries.h), each with independent
  // noise, group by group. Groups may share marginals and queries.
  //
  // Claim: as above, with the sensitivities of QueriesSensitivity(domain(), unit, groups). Proof: likewise;
  // answers and noise are integers, |answer| < 2^51 and |noise| < 2^62.
  virtual absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyCounts(std::span<const QueryGroup> groups,
                                                                        const NoiseSpec& noise) = 0;

  // The answers of every group of products (dp/queries/product_queries.h), group by group, each with
  // independent discrete Gaussian noise whose parameter is that of its group times the variance factors of
  // its queries. Measured together they cost the least that a marginal, or a class of queries, can cost.
  //
  // Claim: rho-zCDP with rho = CostOfProducts(domain(), unit, queries, sigma_squared). Proof: there
  // (dp/sensitivity/product_cost.h); answers and noise are integers, |answer| < 2^61 and |noise| < 2^62. The
  // draw may have been charged more, which is a round number where its price is not.
  // Errors: those of CostOfProducts() and ProductGaussian::Create().
  virtual absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyProducts(
      const ProductQueries& queries, std::span<const Rational> sigma_squared) = 0;

  // For each candidate the error of its estimate, sum over cells |count - estimate|, with independent noise.
  // A marginal may be listed several times, with several estimates.
  //
  // Claim: as NoisyCounts, with ErrorsSensitivity(unit, candidates.size()). Proof: likewise; errors and noise
  // are integers, error < 2^51 and |noise| < 2^62.
  // Errors: INVALID_ARGUMENT for no candidates or more than 2^18, a malformed marginal, an estimate that has
  // not one number for each cell; OUT_OF_RANGE when the absolute values of an estimate sum to more than 2^50.
  virtual absl::StatusOr<std::vector<int64_t>> NoisyErrors(std::span<const IntegerMarginal> candidates,
                                                           const NoiseSpec& noise) = 0;

  // `count` candidates whose estimates are (noisily) the worst, chosen one after the other, without what was
  // chosen before: each with probability proportional to exp(epsilon score / (2 D)), as in the algorithm of
  // Hardt, Ligett, McSherry 2012. score = weight ((sum over cells |count - estimate|) - penalty) for a whole
  // marginal, weight (|answer - estimate| - penalty) for a query or threshold.
  //
  // Claim for each choice: epsilon-DP with range epsilon (bounded range, so zCDP at its exact cost, see
  // ExponentialMechanismEvent). 2 D is CandidateRange() (selection_score.h), the largest of all families.
  // Proof: a score moves by at most D, because ||c - e|_1 - |c' - e|_1| <= |c - c'|_1; scores of different
  // candidates may move in opposite directions, hence the factor 2 (McSherry, Talwar 2007). Estimates and
  // penalties are public and rounded to the lattice 2^-10 first, so scores are integers (in its steps) and
  // the claim is exact. What is excluded is public, or what earlier choices released.
  //
  // Families in memory (Held()) are scored together, at the same time for all scores, and their counts are
  // cached: rounds ask for nearly the same ones. Others are held one at a time, and their counts are not
  // cached: Family() is called once for each, and for each choice at most twice more for the family chosen;
  // the probabilities are the same (BlockwiseSelection).
  //
  // Errors: INVALID_ARGUMENT for fewer candidates than `count` or more than kMaxCandidates, and for an
  // epsilon that is not positive; those of CandidateRange() and RoundFamily(). Only errors of estimates that
  // are not in memory, and of the stream, are found after the debit; they do not depend on the records.
  virtual absl::StatusOr<std::vector<FamilyChoice>> SelectWorstCandidates(const FamilyStream& stream,
                                                                          int64_t count, Epsilon epsilon) = 0;

  // One choice among families in memory.
  absl::StatusOr<FamilyChoice> SelectWorstCandidate(std::span<const CandidateFamily> families,
                                                    Epsilon epsilon);

  // Which marginal to improve next, and whether by a measurement or by its public counts (Fuentes and others
  // 2024), with probability proportional to exp(epsilon score / R). score = weight (E - penalty) for a
  // measurement and weight (E - P - substitute_penalty) for public counts, with E = sum over cells |count -
  // estimate| and P = sum over cells |count - substitute|: by how much either would lower the error E, where
  // the penalty is the error that a measurement's noise leaves.
  //
  // Claim: epsilon-DP with range epsilon (bounded range, so zCDP at its exact cost, see
  // ExponentialMechanismEvent). R is SubstitutionRange() (substitution_score.h), which proves how far apart
  // one unit moves two scores: P is of the records, too, so a score may move twice as far as the error does.
  // Estimates, public counts and penalties are public and rounded to the lattice 2^-10 first, so that the
  // claim is exact.
  // Counts are cached, as those of SelectWorstCandidates().
  // Errors: INVALID_ARGUMENT for no candidates and for an epsilon that is not positive; those of
  // SubstitutionRange() and RoundSubstitution().
  virtual absl::StatusOr<SubstitutionChoice> SelectMeasuredOrPublic(
      std::span<const SubstitutableMarginal> candidates, Epsilon epsilon) = 0;

  // The candidate of `utility` (utility/utility.h) with index i with probability proportional to
  // exp(epsilon (score_i + bonus_i) / R). `bonuses` are public, one for each candidate or none at all. R is
  // the range of the utility, computed by the implementation: how far apart one unit can move two scores.
  //
  // Claim: epsilon-DP with range epsilon (bounded range, so zCDP at its exact cost, see
  // ExponentialMechanismEvent). Proof: ToLattice() shows |d_i - d_j| <= R for the changes d of all scores,
  // FactorForRange() what follows. Where all scores are sums over units that are clipped to a width w, R is w
  // under ADD_REMOVE, half of what scores that move by w in either direction would need, and 2 w under
  // REPLACE_ONE.
  // A clipped unit weighs the same however few of its records are here, so a plan that uses this leaves
  // SynthesisPlan::linear empty (dp/sensitivity/part_cost.h).
  // A query about groups is scored once: where the same one follows, with the same bonuses, the cached scores
  // are used for the next draw, which is paid for like any other.
  // Errors: those of ToLattice(); INVALID_ARGUMENT for epsilon <= 0; FAILED_PRECONDITION when a unit may own
  // several records and the table does not identify the unit of each record.
  virtual absl::StatusOr<size_t> SelectByUtility(const Utility& utility, std::span<const double> bonuses,
                                                 Epsilon epsilon) = 0;

  // The sums of `sum` (dp/queries/grouped_sums.h), one for each group or for each block of each group, each
  // with independent noise. What a record adds is a function of that record alone, clipped and rounded at
  // import, and an integer.
  //
  // Claim: as NoisyCounts, with SumsSensitivity() of the range of what a record can add (RangeOf(), computed
  // here) and of the number of sums. Proof: likewise; a summand is at most 2^20 and there are fewer than 2^31
  // records, so |sum| < 2^51 and |noise| < 2^62.
  // Errors: those of Validate() and RangeOf().
  virtual absl::StatusOr<std::vector<int64_t>> NoisySums(const GroupedSum& sum, const NoiseSpec& noise) = 0;

  // For each group the number of units that have a record in it, each with independent noise. Where records
  // are units, the number of records.
  //
  // Claim: as NoisyCounts, with UnitCountsSensitivity(). A unit counts once however many records it has, so
  // this is no linear draw (dp/sensitivity/part_cost.h); and no bound of its records is needed.
  // Errors: those of Validate(); FAILED_PRECONDITION when a unit may own several records and the table does
  // not identify the unit of each record.
  virtual absl::StatusOr<std::vector<int64_t>> NoisyUnitCounts(const RecordGroups& groups,
                                                               const NoiseSpec& noise) = 0;

  // For each group the code of the column in which the quantile lies, each selected by itself with the score
  // of QuantileValue (utility/utility.h) over the records of that group that have a code of CodesOf().
  //
  // Claim: one selection with range epsilon under ADD_REMOVE, and under REPLACE_ONE where there is one group;
  // two where there are several. The meter is debited for as many. Proof: scores are divided by R, the range
  // of QuantileValue for a unit of k records under the dataset's relation (QuantileRange()). Groups are drawn
  // independently, so the ranges of their log-ratios add up. Let j_g of the unit's records leave group g and
  // i_g enter it; a replaced one moves scores apart by R / k, one that only leaves or enters by no more: the
  // range of g is epsilon max(j_g, i_g) / k. ADD_REMOVE: at most epsilon in all. REPLACE_ONE: over the groups
  // with j_g >= i_g the ranges add up to at most epsilon, and over the others too. Not enough: R under
  // ADD_REMOVE, where a record that is replaced within its group can move scores twice as far.
  // Errors: those of Validate() and QuantileRange(); INVALID_ARGUMENT for epsilon <= 0; FAILED_PRECONDITION
  // where a unit may own any number of records.
  virtual absl::StatusOr<std::vector<int64_t>> SelectQuantiles(const GroupedQuantile& quantile,
                                                               Epsilon epsilon) = 0;

  // The number of records with noise. It is private under both relations: import may reject a replaced
  // record, and a replaced person may own fewer records.
  //
  // Claim: as NoisyCounts, with RecordCountSensitivity(unit).
  virtual absl::StatusOr<int64_t> NoisyRecordCount(const NoiseSpec& noise) = 0;

  // The number of groups in each bin of sizes (CheckSizeBins()), each with independent noise. One bin is the
  // number of groups, which is private as well.
  //
  // Claim: as NoisyCounts, with GroupSizesSensitivity(). Errors: those of CheckSizeBins();
  // FAILED_PRECONDITION where the table's units are not what `role` says.
  virtual absl::StatusOr<std::vector<int64_t>> NoisyGroupSizes(GroupRole role,
                                                               std::span<const int64_t> least_sizes,
                                                               const NoiseSpec& noise) = 0;

  // The number of groups in each cell of every given marginal (dp/queries/group_marginals.h), each with
  // independent noise, marginal by marginal. Only where groups are the units.
  //
  // Claim: as NoisyCounts, with GroupMarginalsSensitivity(). Proof: there; the bins of a mean may follow from
  // earlier draws, because the bound holds for any. Not enough where records are units of their own: one
  // record moves its group to another cell, and then changes two counts of each marginal.
  // Errors: those of ValidateGroupMarginals(); FAILED_PRECONDITION where the table's units are not groups.
  virtual absl::StatusOr<std::vector<std::vector<int64_t>>> NoisyGroupMarginals(
      std::span<const GroupMarginal> marginals, const NoiseSpec& noise) = 0;
};

}  // namespace curator::dp
