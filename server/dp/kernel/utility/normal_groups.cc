#include "dp/kernel/utility/normal_groups.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace curator::dp {

NormalGroupLikelihood::NormalGroupLikelihood(std::span<const NormalParameters> candidates) {
  for (const NormalParameters& candidate : candidates) {
    mean_.push_back(candidate.mean);
    between_squared_.push_back(candidate.between * candidate.between);
    within_squared_.push_back(candidate.within * candidate.within);
    log_within_squared_.push_back(std::log(within_squared_.back()));
  }
}

void NormalGroupLikelihood::Evaluate(const GroupSums& group, std::span<double> log_likelihoods) const {
  if (group.members == 0) {
    std::ranges::fill(log_likelihoods, 0);
    return;
  }
  const auto n = static_cast<double>(group.members);
  const double constant = n * std::log(2 * std::numbers::pi);
  for (size_t j = 0; j < log_likelihoods.size(); ++j) {
    const double of_mean = within_squared_[j] + n * between_squared_[j];  // n times the variance of the mean
    const double distance = group.mean - mean_[j];
    log_likelihoods[j] = -0.5 * (constant + (n - 1) * log_within_squared_[j] + std::log(of_mean) +
                                 group.squares / within_squared_[j] + n * distance * distance / of_mean);
  }
}

}  // namespace curator::dp
