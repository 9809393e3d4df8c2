// The normal model of groups: members y_i = mu + e_i of one group, mu ~ N(mean, between^2), e_i ~ N(0,
// within^2).
//
// Thread-safe: immutable after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/kernel/utility/utility.h"

namespace curator::dp {

// What the model needs to know of a group: exact sums over its members, in public units.
struct GroupSums {
  int64_t members = 0;
  double mean = 0;
  double squares = 0;  // of the distances from the mean
};

class NormalGroupLikelihood {
 public:
  // `candidates` as ToLattice() found them valid.
  explicit NormalGroupLikelihood(std::span<const NormalParameters> candidates);

  // The natural logarithm of the density of the group's members, mu integrated out, under every candidate:
  // with n members of mean y and sum of squares S around it,
  //
  //   -(n ln(2 pi) + (n - 1) ln within^2 + ln(within^2 + n between^2) + S / within^2
  //     + n (y - mean)^2 / (within^2 + n between^2)) / 2,
  //
  // the multivariate normal with compound symmetry. Finite; 0 for a group without members. A function of
  // `group` and the candidate alone, to the last bit.
  void Evaluate(const GroupSums& group, std::span<double> log_likelihoods) const;

 private:
  std::vector<double> mean_;
  std::vector<double> between_squared_;
  std::vector<double> within_squared_;
  std::vector<double> log_within_squared_;
};

}  // namespace curator::dp
