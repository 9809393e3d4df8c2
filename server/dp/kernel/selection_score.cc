#include "dp/kernel/selection_score.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/queries/linear_queries.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

constexpr double kLargestSum = static_cast<double>(int64_t{1} << 50);
constexpr double kLatticeSteps = static_cast<double>(1 << kScoreLatticeBits);

int64_t Rounded(double value) {
  return std::llround(value * kLatticeSteps);
}

// `size` is what must not exceed kLargestSum: of the numbers together, or of the largest.
absl::StatusOr<LatticeEstimate> RoundChecked(std::span<const double> estimate, double penalty,
                                             int64_t answers, int64_t weight, double size) {
  if (static_cast<int64_t>(estimate.size()) != answers) {
    return absl::InvalidArgumentError(
        absl::StrCat("an estimate has ", estimate.size(), " numbers for ", answers, " answers"));
  }
  RETURN_IF_ERROR(CheckPenalty(penalty * static_cast<double>(weight)));
  if (!std::isfinite(size)) return absl::InvalidArgumentError("an estimate is not a finite number");
  if (size * static_cast<double>(weight) > kLargestSum)
    return absl::OutOfRangeError("an estimate exceeds 2^50");
  LatticeEstimate rounded;
  rounded.cells.reserve(estimate.size());
  for (const double value : estimate) rounded.cells.push_back(Rounded(value));
  rounded.penalty = Rounded(penalty);
  return rounded;
}

}  // namespace

absl::Status CheckPenalty(double penalty) {
  if (!std::isfinite(penalty)) return absl::InvalidArgumentError("a penalty is not a finite number");
  if (std::abs(penalty) > kLargestSum) return absl::OutOfRangeError("a penalty exceeds 2^50");
  return absl::OkStatus();
}

absl::StatusOr<LatticeEstimate> RoundToLattice(std::span<const double> estimate, double penalty,
                                               int64_t answers, int64_t weight) {
  double sum = 0;
  for (const double value : estimate) sum += std::abs(value);
  return RoundChecked(estimate, penalty, answers, weight, sum);
}

absl::StatusOr<LatticeEstimate> RoundEachToLattice(std::span<const double> estimate, double penalty,
                                                   int64_t answers, int64_t weight) {
  double largest = 0;
  for (const double value : estimate) {
    if (!(std::abs(value) <= largest)) largest = std::abs(value);  // also what is not a number
    if (!std::isfinite(largest)) break;
  }
  return RoundChecked(estimate, penalty, answers, weight, largest);
}

int64_t ScoreOf(std::span<const int64_t> counts, const LatticeEstimate& estimate) {
  int64_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    sum += std::abs((counts[i] << kScoreLatticeBits) - estimate.cells[i]);
  return sum - estimate.penalty;
}

Rational FactorForRange(Epsilon epsilon, int64_t range) {
  Int128 numerator = epsilon.units();
  Int128 denominator = static_cast<Int128>(range) * kEpsilonUnitsPerOne;
  for (const int64_t prime : {2, 5}) {
    while (numerator % prime == 0 && denominator % prime == 0 && numerator > 0) {
      numerator /= prime;
      denominator /= prime;
    }
  }
  while (denominator > std::numeric_limits<int64_t>::max()) {
    numerator /= 2;
    denominator = (denominator + 1) / 2;
  }
  return Reduced({static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)});
}

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

namespace {

// How far one unit moves the error of a candidate of the family, in records.
absl::StatusOr<int64_t> MovementOf(const Domain& domain, const UnitBound& unit,
                                   const CandidateFamily& family) {
  const std::span<const QueryGroup> group(&family.group, 1);
  RETURN_IF_ERROR(CheckThreshold(family));
  if (family.at_least > 0) {
    RETURN_IF_ERROR(ValidateQueries(domain, group));
    return unit.max_records;
  }
  if (IsWhole(family)) {
    RETURN_IF_ERROR(ValidateQueries(domain, group));
    ASSIGN_OR_RETURN(const Sensitivity one_marginal, MarginalsSensitivity(unit, 1));
    return one_marginal.l1;
  }
  ASSIGN_OR_RETURN(const Sensitivity one_record,
                   QueriesSensitivity(domain, {NeighbourRelation::kAddRemove, 1}, group));
  if (one_record.linf > kLargestRecordInAGroup / family.weight)
    return absl::OutOfRangeError("a record counts more than 2^18 times in one candidate");
  ASSIGN_OR_RETURN(const Sensitivity sensitivity, QueriesSensitivity(domain, unit, group));
  return sensitivity.linf;
}

}  // namespace

absl::StatusOr<int64_t> CandidateRange(const Domain& domain, const UnitBound& unit,
                                       std::span<const CandidateFamily> families) {
  int64_t largest = 0;
  for (const CandidateFamily& family : families) {
    if (family.weight < 1 || family.weight > kLargestRecordInAGroup)
      return absl::InvalidArgumentError("a candidate's weight must be from 1 to 2^18");
    ASSIGN_OR_RETURN(const int64_t movement, MovementOf(domain, unit, family));
    if (movement > std::numeric_limits<int64_t>::max() / 4 / family.weight >> kScoreLatticeBits)
      return absl::OutOfRangeError("one unit moves a candidate's weighted error too far");
    largest = std::max(largest, family.weight * movement);
  }
  return 2 * largest << kScoreLatticeBits;
}

absl::Status CheckPenaltyAndExcluded(const Domain& domain, const CandidateFamily& family) {
  const int64_t candidates = IsWhole(family) ? 1 : NumberOfQueries(domain, family.group);
  int64_t last = -1;
  for (const int64_t excluded : family.excluded) {
    if (excluded <= last || excluded >= candidates)
      return absl::InvalidArgumentError("excluded candidates must rise strictly and exist");
    last = excluded;
  }
  return CheckPenalty(family.penalty);
}

absl::StatusOr<LatticeEstimate> RoundFamily(const Domain& domain, const CandidateFamily& family) {
  RETURN_IF_ERROR(CheckPenaltyAndExcluded(domain, family));
  const int64_t answers = NumberOfQueries(domain, family.group);
  return IsWhole(family) ? RoundToLattice(family.estimate, family.penalty, answers, family.weight)
                         : RoundEachToLattice(family.estimate, family.penalty, answers, family.weight);
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
    scored.scores.push_back(family.weight * ScoreOf(answers, estimate));
    return;
  }
  auto excluded = family.excluded.begin();
  for (size_t query = 0; query < answers.size(); ++query) {
    if (excluded != family.excluded.end() && *excluded == static_cast<int64_t>(query)) {
      ++excluded;
      continue;
    }
    scored.candidates.push_back({index, query});
    const int64_t error = std::abs((answers[query] << kScoreLatticeBits) - estimate.cells[query]);
    scored.scores.push_back(family.weight * (error - estimate.penalty));
  }
}

}  // namespace curator::dp
