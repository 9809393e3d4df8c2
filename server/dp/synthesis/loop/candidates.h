// What a method that measures marginals again and again may measure beside the one-way marginals: marginals
// of the workload, or pairs of attributes in these.
//
// Thread-safe: pure functions of public facts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// The marginals of the workload, the pairs of attributes in these, or both.
enum class CandidateSets { kWorkload, kPairs, kBoth };

// How much the error of a candidate counts in a selection: as it is, or (McKenna and others 2022) as often as
// its attributes are in marginals of the workload.
enum class CandidateWeights { kNone, kOverlap };

struct MarginalCandidate {
  AttributeSet attributes;
  int64_t weight = 1;

  bool operator==(const MarginalCandidate&) const = default;
};

// The marginals of the workload where none of them has more than 64 cells and they are at most 2,000, else
// pairs.
CandidateSets UsualCandidates(const Domain& domain, std::span<const AttributeSet> workload);

// The candidates of two or more attributes and at most `max_cells` cells, in the order of their sets. Weights
// by overlap are at most 2^16, and in proportion where marginals of the workload are more.
std::vector<MarginalCandidate> CandidatesOf(const Domain& domain, std::span<const AttributeSet> workload,
                                            CandidateSets kind, CandidateWeights weights, int64_t max_cells);

std::vector<AttributeSet> SetsOf(std::span<const MarginalCandidate> candidates);

// The mean number of cells of the candidates, each counted as at most 2^40; 0 of none.
double MeanCells(const Domain& domain, std::span<const MarginalCandidate> candidates);

// INVALID_ARGUMENT ("workload") for more than 20,000 candidates: `method` estimates all of them in a round.
absl::Status CheckNumberOf(std::span<const MarginalCandidate> candidates, std::string_view method);

// INVALID_ARGUMENT (`field`) when the cells of all candidates are too many to be counted at once; the message
// says what to choose instead.
absl::Status CheckCellsOf(const Domain& domain, std::span<const MarginalCandidate> candidates,
                          std::string_view field, std::string_view instead);

}  // namespace curator::dp
