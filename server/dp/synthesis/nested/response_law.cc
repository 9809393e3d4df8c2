#include "dp/synthesis/nested/response_law.h"

#include <cmath>
#include <numbers>

#include "dp/kernel/utility/group_models.h"

namespace curator::dp {

double UniformDoubles::Next() {
  if (next_ == words_.size()) {
    bits_.Fill(words_);
    next_ = 0;
  }
  return static_cast<double>(words_[next_++] >> 11) * 0x1p-53;
}

double UniformDoubles::NextNormal() {
  const double radius = std::sqrt(-2 * std::log1p(-Next()));  // of 1 - U, which is above 0
  return radius * std::cos(2 * std::numbers::pi * Next());
}

ResponseLaw::ResponseLaw(std::span<const double> numbers, double edge, const NestedParameters& parameters)
    : edge_(edge), parameters_(parameters) {
  for (size_t i = 1; i < numbers.size(); ++i)
    ends_.push_back(numbers[i - 1] + (numbers[i] - numbers[i - 1]) / 2);
  if (edge <= 0) return;
  const GroupGrid grid = GridOf(BinomialGroups{
      .successes = {0, 1}, .edge = edge, .means = {parameters.mean}, .correlations = {parameters.between}});
  const auto& binomial = std::get<BinomialGroupGrid>(grid);
  double sum = 0;
  for (size_t q = 0; q < kEffectPoints; ++q) {
    points_.push_back(std::exp(binomial.log_success[q]));
    cumulative_.push_back(sum += binomial.shares[q]);
  }
}

std::vector<double> ResponseLaw::Shares() const {
  if (edge_ > 0) {
    double successes = 0;
    for (size_t q = 0; q < points_.size(); ++q)
      successes += points_[q] * (cumulative_[q] - (q == 0 ? 0 : cumulative_[q - 1]));
    return {1 - successes, successes};
  }
  const double deviation = std::hypot(parameters_.between, parameters_.within);
  std::vector<double> shares;
  double below = 0;
  for (const double end : ends_) {
    const double up_to = std::erfc((parameters_.mean - end) / deviation / std::numbers::sqrt2) / 2;
    shares.push_back(std::max(0.0, up_to - below));
    below = up_to;
  }
  shares.push_back(std::max(0.0, 1 - below));
  return shares;
}

double ResponseLaw::DrawEffect(UniformDoubles& uniform) const {
  if (edge_ <= 0) return parameters_.mean + parameters_.between * uniform.NextNormal();
  const double aim = uniform.Next() * cumulative_.back();
  const auto found = static_cast<size_t>(std::ranges::upper_bound(cumulative_, aim) - cumulative_.begin());
  return points_[std::min(found, points_.size() - 1)];
}

uint32_t ResponseLaw::DrawCode(double effect, UniformDoubles& uniform) const {
  if (edge_ > 0) return uniform.Next() < effect ? 1 : 0;
  const double response = effect + parameters_.within * uniform.NextNormal();
  return static_cast<uint32_t>(std::ranges::lower_bound(ends_, response) - ends_.begin());
}

}  // namespace curator::dp
