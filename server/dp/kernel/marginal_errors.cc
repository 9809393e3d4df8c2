#include "dp/kernel/marginal_errors.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/queries/marginals.h"

namespace curator::dp {
namespace {

constexpr size_t kMostCandidates = size_t{1} << 18;
constexpr int64_t kLargestEstimate = int64_t{1} << 50;  // of all cells together

absl::Status CheckEstimate(const Domain& domain, const IntegerMarginal& candidate) {
  const int64_t cells = domain.CellCount(candidate.attributes).value_or(0);
  if (std::ssize(candidate.cells) != cells) {
    return absl::InvalidArgumentError(
        absl::StrCat("an estimate has ", candidate.cells.size(), " numbers for ", cells, " cells"));
  }
  int64_t sum = 0;
  for (const int64_t cell : candidate.cells) {
    const bool is_large = cell < -kLargestEstimate || cell > kLargestEstimate;
    if (!is_large) sum += std::abs(cell);
    if (is_large || sum > kLargestEstimate) return absl::OutOfRangeError("an estimate exceeds 2^50");
  }
  return absl::OkStatus();
}

int64_t ErrorOf(std::span<const int64_t> counts, std::span<const int64_t> estimate) {
  int64_t error = 0;
  for (size_t i = 0; i < counts.size(); ++i) error += std::abs(counts[i] - estimate[i]);
  return error;
}

}  // namespace

absl::Status CheckCandidates(const Domain& domain, std::span<const IntegerMarginal> candidates) {
  if (candidates.size() > kMostCandidates)
    return absl::InvalidArgumentError("at most 2^18 errors are measured at once");
  std::vector<AttributeSet> sets;
  sets.reserve(candidates.size());
  for (const IntegerMarginal& candidate : candidates) sets.push_back(candidate.attributes);
  std::ranges::sort(sets);
  const auto repeated = std::ranges::unique(sets);
  sets.erase(repeated.begin(), repeated.end());
  RETURN_IF_ERROR(ValidateMarginals(domain, sets, {.max_marginals = int64_t{kMostCandidates}}));
  for (const IntegerMarginal& candidate : candidates) RETURN_IF_ERROR(CheckEstimate(domain, candidate));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ExactErrors(const SealedTable& table, const Domain& domain,
                                                 std::span<const IntegerMarginal> candidates,
                                                 Executor& executor) {
  constexpr size_t kCellsAtOnce = size_t{1} << 20;  // 8 MiB of counts
  std::vector<int64_t> errors;
  errors.reserve(candidates.size());
  while (errors.size() < candidates.size()) {
    std::vector<AttributeSet> sets;
    size_t cells = 0;
    for (size_t i = errors.size(); i < candidates.size(); ++i) {
      cells += candidates[i].cells.size();
      if (cells > kCellsAtOnce && !sets.empty()) break;
      sets.push_back(candidates[i].attributes);
    }
    ASSIGN_OR_RETURN(const auto counts, CountMarginals(table, domain, sets, executor));
    for (const std::vector<int64_t>& of_marginal : counts)
      errors.push_back(ErrorOf(of_marginal, candidates[errors.size()].cells));
  }
  return errors;
}

}  // namespace curator::dp
