// Questions about groups of records: how many of them are described by which values, and have which mean of a
// number.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// Bins of the mean of an attribute's codes over the records of a group, in steps of 1 / kStepsOfACode,
// rounded down: bin i holds the means from least[i] to least[i + 1] - 1, the last one all larger ones.
// `least` rises from 0.
struct MeanBins {
  uint32_t attribute = 0;
  std::vector<int64_t> least;

  bool operator==(const MeanBins&) const = default;
};
inline constexpr size_t kMostMeanBins = 64;
inline constexpr int64_t kStepsOfACode = 1024;

// Numbers of groups by the attributes that describe them, row-major, and by a mean, whose bins run fastest.
// Each group lies in one cell: by the attributes in the least that a record of it has. That is the cell of
// all its records where these agree, and does not depend on their order.
struct GroupMarginal {
  AttributeSet attributes;
  std::optional<MeanBins> mean;

  bool operator==(const GroupMarginal&) const = default;
};

// No request counts groups in more cells.
inline constexpr int64_t kMostCellsOfGroups = int64_t{1} << 26;

// Of a valid marginal.
int64_t CellsOf(const Domain& domain, const GroupMarginal& marginal);

// Checks that there is at least one marginal, at most 2^18 of them with at most 2^26 cells together, each of
// valid attributes and bins, and of at least one of the two. Errors: INVALID_ARGUMENT.
absl::Status ValidateGroupMarginals(const Domain& domain, std::span<const GroupMarginal> marginals);

}  // namespace curator::dp
