#include "dp/synthesis/loop/candidates.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_memory.h"

namespace curator::dp {
namespace {

// Marginals of at most so many cells are measured whole, of larger ones the pairs.
constexpr int64_t kSmallMarginal = 64;
constexpr int64_t kManyCandidateCells = int64_t{1} << 40;
// The estimates of all candidates are computed in each round.
constexpr size_t kMostWorkloadCandidates = 2000;
constexpr int64_t kMostLoopCandidates = 20'000;
constexpr int64_t kLargestOverlap = int64_t{1} << 16;

std::vector<AttributeSet> PairsWithin(std::span<const AttributeSet> sets) {
  std::set<AttributeSet> pairs;
  for (const AttributeSet& set : sets) {
    for (size_t i = 0; i < set.size(); ++i) {
      for (size_t j = i + 1; j < set.size(); ++j) pairs.insert({set[i], set[j]});
    }
  }
  return {pairs.begin(), pairs.end()};
}

void WeighByOverlap(const Domain& domain, std::span<const AttributeSet> workload,
                    std::vector<MarginalCandidate>& candidates) {
  std::vector<int64_t> uses(domain.size());
  for (const AttributeSet& set : workload) {
    for (const uint32_t attribute : set) ++uses[attribute];
  }
  int64_t largest = 1;
  for (MarginalCandidate& candidate : candidates) {
    candidate.weight = 0;
    for (const uint32_t attribute : candidate.attributes) candidate.weight += uses[attribute];
    largest = std::max(largest, candidate.weight);
  }
  const int64_t divisor = (largest + kLargestOverlap - 1) / kLargestOverlap;
  for (MarginalCandidate& candidate : candidates)
    candidate.weight = std::max<int64_t>(1, candidate.weight / divisor);
}

}  // namespace

CandidateSets UsualCandidates(const Domain& domain, std::span<const AttributeSet> workload) {
  const bool small = std::ranges::all_of(workload, [&](const AttributeSet& set) {
    return CellsUpTo(domain, set, kManyCandidateCells) <= kSmallMarginal;
  });
  return small && workload.size() <= kMostWorkloadCandidates ? CandidateSets::kWorkload
                                                             : CandidateSets::kPairs;
}

std::vector<MarginalCandidate> CandidatesOf(const Domain& domain, std::span<const AttributeSet> workload,
                                            CandidateSets kind, CandidateWeights weights, int64_t max_cells) {
  std::set<AttributeSet> all;
  if (kind != CandidateSets::kPairs) all.insert(workload.begin(), workload.end());
  if (kind != CandidateSets::kWorkload) {
    for (AttributeSet& pair : PairsWithin(workload)) all.insert(std::move(pair));
  }
  std::vector<MarginalCandidate> candidates;
  for (const AttributeSet& set : all) {
    if (set.size() >= 2 && CellsUpTo(domain, set, kManyCandidateCells) <= max_cells)
      candidates.push_back({.attributes = set, .weight = 1});
  }
  if (weights == CandidateWeights::kOverlap) WeighByOverlap(domain, workload, candidates);
  return candidates;
}

std::vector<AttributeSet> SetsOf(std::span<const MarginalCandidate> candidates) {
  std::vector<AttributeSet> sets;
  for (const MarginalCandidate& candidate : candidates) sets.push_back(candidate.attributes);
  return sets;
}

double MeanCells(const Domain& domain, std::span<const MarginalCandidate> candidates) {
  double mean = 0;
  for (const MarginalCandidate& candidate : candidates) {
    mean += static_cast<double>(CellsUpTo(domain, candidate.attributes, kManyCandidateCells)) /
            static_cast<double>(candidates.size());
  }
  return mean;
}

absl::Status CheckNumberOf(std::span<const MarginalCandidate> candidates, std::string_view method) {
  if (std::ssize(candidates) <= kMostLoopCandidates) return absl::OkStatus();
  return InvalidField("workload", absl::StrCat("has ", candidates.size(), " candidates, whose estimates ",
                                               std::string(method), " computes in each round; at most ",
                                               kMostLoopCandidates, "; the method rap takes more"));
}

absl::Status CheckCellsOf(const Domain& domain, std::span<const MarginalCandidate> candidates,
                          std::string_view field, std::string_view instead) {
  const absl::Status cells = TotalCells(domain, SetsOf(candidates)).status();
  if (cells.ok()) return cells;
  return InvalidField(field, absl::StrCat("the candidates are counted at once, and are too many cells: ",
                                          cells.message(), "; choose ", std::string(instead)));
}

}  // namespace curator::dp
