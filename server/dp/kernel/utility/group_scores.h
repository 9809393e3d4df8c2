// The scores that groups give to candidates: as private as the groups.
//
// Thread-safe: pure functions of immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/executor.h"
#include "dp/kernel/utility/group_models.h"

namespace curator::dp {

// A question about groups, rounded to the lattice (lattice_utility.h).
struct LatticeGroups {
  GroupGrid grid;
  std::vector<int64_t> weights;  // of each code of the response, in units of 2^-16
  GroupWeight group = GroupWeight::kOne;
  std::optional<int64_t> low;  // what contributions are clipped to from below, in steps; none: not clipped
  GroupRole role = GroupRole::kUnit;
};

// The natural logarithm of a group's integrated, weighted density under each candidate of a row:
//
//   normal: with w = the sum of weights, y their weighted mean and S the weighted sum of squares around it,
//     -(w ln(2 pi within^2) + S / within^2 + ln(1 + w between^2 / within^2)
//       + w (y - mean)^2 / (within^2 + w between^2)) / 2;
//     all of the integrand to the power b: w and S count b times and between^2 1/b times, and the prior's
//     norm adds ((1 - b) ln(2 pi between^2) - ln b) / 2;
//   binomial: with K and F the weights of successes and failures,
//     ln of sum over points q of share_q p_q^K (1 - p_q)^F, less the largest p_q^K (1 - p_q)^F.
//
// `power` is 1 unless the model is normal and all its betweens are at least kLeastInsideBetween. Finite; 0
// for a group without weight.
void LogDensitiesOfRow(const GroupGrid& grid, const GroupSums& group, double power, size_t row,
                       std::span<double> log_densities);

// The score of each candidate, in steps: the sum over groups of
//   - unclipped: the logarithm, off by less than ErrorInSteps() (record_influence.h);
//   - clipped: round(weight (logarithm - that of the group's best candidate)), at least low and at most 0, a
//     function of the group alone, to the last bit.
// Rows are shared out among the cores of `executor`; the result does not depend on how.
std::vector<int64_t> ScoresOfGroups(const LatticeGroups& question, std::span<const GroupSums> groups,
                                    Executor& executor);

}  // namespace curator::dp
