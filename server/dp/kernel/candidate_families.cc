#include "dp/kernel/candidate_families.h"

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "base/status_macros.h"
#include "dp/workload/linear_queries.h"
#include "dp/workload/sensitivity.h"
#include "dp/workload/threshold_counts.h"

namespace curator::dp {
namespace {

bool IsWhole(const CandidateFamily& family) {
  return std::holds_alternative<EveryCell>(family.group.queries) && family.at_least == 0;
}

absl::Status CheckThreshold(const CandidateFamily& family) {
  if (family.at_least == 0) return absl::OkStatus();
  if (family.at_least < 0 || family.at_least > static_cast<int64_t>(family.group.attributes.size()) ||
      !std::holds_alternative<EveryCell>(family.group.queries)) {
    return absl::InvalidArgumentError(
        "a threshold asks for every cell of a marginal, and for at most as many values as it has");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> CandidateRange(const Domain& domain, const UnitBound& unit,
                                       std::span<const CandidateFamily> families) {
  ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(unit, 1));
  int64_t largest = 0;
  for (const CandidateFamily& family : families) {
    const std::span<const QueryGroup> group(&family.group, 1);
    RETURN_IF_ERROR(CheckThreshold(family));
    if (family.at_least > 0) {
      RETURN_IF_ERROR(ValidateQueries(domain, group));
      largest = std::max(largest, unit.max_records);
      continue;
    }
    if (IsWhole(family)) {
      RETURN_IF_ERROR(ValidateQueries(domain, group));
      largest = std::max(largest, one_marginal.l1);
      continue;
    }
    ASSIGN_OR_RETURN(const Sensitivity one_record,
                     QueriesSensitivity(domain, {NeighbourRelation::kAddRemove, 1}, group));
    if (one_record.linf > kLargestRecordInAGroup)
      return absl::OutOfRangeError("a record counts more than 2^18 times in one candidate");
    ASSIGN_OR_RETURN(const Sensitivity sensitivity, QueriesSensitivity(domain, unit, group));
    largest = std::max(largest, sensitivity.linf);
  }
  return 2 * largest << kScoreLatticeBits;
}

absl::Status CheckPenaltyAndExcluded(const Domain& domain, const CandidateFamily& family) {
  const int64_t candidates = IsWhole(family) ? 1 : NumberOfQueries(domain, family.group);
  int64_t last = -1;
  for (const int64_t excluded : family.excluded) {
    if (excluded <= last || excluded >= candidates)
      return absl::InvalidArgumentError("excluded candidates must rise strictly and be there");
    last = excluded;
  }
  return CheckPenalty(family.penalty);
}

absl::StatusOr<LatticeEstimate> RoundFamily(const Domain& domain, const CandidateFamily& family) {
  RETURN_IF_ERROR(CheckPenaltyAndExcluded(domain, family));
  const int64_t answers = NumberOfQueries(domain, family.group);
  return IsWhole(family) ? RoundToLattice(family.estimate, family.penalty, answers)
                         : RoundEachToLattice(family.estimate, family.penalty, answers);
}

int64_t NumberOfCandidates(const Domain& domain, const CandidateFamily& family) {
  const int64_t all = IsWhole(family) ? 1 : NumberOfQueries(domain, family.group);
  return all - static_cast<int64_t>(family.excluded.size());
}

std::vector<int64_t> AnswersOf(const Domain& domain, const CandidateFamily& family,
                               std::span<const int64_t> counts) {
  if (family.at_least == 0) return AnswersFromCounts(domain, family.group, counts);
  return CountsAtLeast(domain, family.group.attributes, family.at_least, counts);
}

int64_t QueryAt(const CandidateFamily& family, int64_t index) {
  for (const int64_t excluded : family.excluded) {
    if (excluded > index) break;
    ++index;
  }
  return index;
}

void AddScores(size_t index, const CandidateFamily& family, std::span<const int64_t> answers,
               const LatticeEstimate& estimate, ScoredCandidates& scored) {
  if (IsWhole(family)) {
    if (!family.excluded.empty()) return;
    scored.candidates.push_back({index, 0});
    scored.scores.push_back(ScoreOf(answers, estimate));
    return;
  }
  auto excluded = family.excluded.begin();
  for (size_t query = 0; query < answers.size(); ++query) {
    if (excluded != family.excluded.end() && *excluded == static_cast<int64_t>(query)) {
      ++excluded;
      continue;
    }
    scored.candidates.push_back({index, query});
    scored.scores.push_back(std::abs((answers[query] << kScoreLatticeBits) - estimate.cells[query]) -
                            estimate.penalty);
  }
}

}  // namespace curator::dp
