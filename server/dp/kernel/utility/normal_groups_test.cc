#include "dp/kernel/utility/normal_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace curator::dp {
namespace {

// The same density by its definition: mu integrated out numerically.
double ByIntegration(const std::vector<double>& members, const NormalParameters& p) {
  const auto log_normal = [](double x, double mean, double deviation) {
    const double z = (x - mean) / deviation;
    return -0.5 * z * z - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
  };
  double integral = 0;
  const double width = p.between / 500;
  for (int i = -6000; i <= 6000; ++i) {
    const double mu = p.mean + i * width;
    double log_density = log_normal(mu, p.mean, p.between);
    for (const double y : members) log_density += log_normal(y, mu, p.within);
    integral += std::exp(log_density) * width;
  }
  return std::log(integral);
}

GroupSums SumsOf(const std::vector<double>& members) {
  GroupSums sums{.members = static_cast<int64_t>(members.size()), .mean = 0, .squares = 0};
  for (const double y : members) sums.mean += y / static_cast<double>(members.size());
  for (const double y : members) sums.squares += (y - sums.mean) * (y - sums.mean);
  return sums;
}

TEST(NormalGroupLikelihood, IsTheIntegralOverTheGroupsMean) {
  const std::vector<NormalParameters> candidates = {{0, 1, 1}, {2, 0.5, 0.25}, {-1, 3, 2}};
  for (const std::vector<double>& members :
       {std::vector<double>{0.3}, std::vector<double>{1, 2}, std::vector<double>{-1, 0, 0.5, 4}}) {
    std::vector<double> values(candidates.size());
    NormalGroupLikelihood(candidates).Evaluate(SumsOf(members), values);
    for (size_t j = 0; j < candidates.size(); ++j)
      EXPECT_NEAR(values[j], ByIntegration(members, candidates[j]), 1e-9 * (1 + std::abs(values[j])));
  }
}

TEST(NormalGroupLikelihood, OfGroupsThatDoNotDifferIsThatOfIndependentMembers) {
  const std::vector<NormalParameters> candidates = {{1, 0, 2}};
  std::vector<double> value(1);
  NormalGroupLikelihood(candidates).Evaluate(SumsOf({0, 3}), value);
  EXPECT_NEAR(value[0], -std::log(2 * std::numbers::pi) - 2 * std::log(2.0) - (1.0 + 4.0) / 8, 1e-12);
}

TEST(NormalGroupLikelihood, StaysFiniteAtTheLargestPublicNumbers) {
  const double far = kLargestNormalNumber;
  const std::vector<NormalParameters> candidates = {{far, 0, kLeastWithin}, {-far, far, far}};
  std::vector<double> values(2);
  NormalGroupLikelihood(candidates)
      .Evaluate({.members = (int64_t{1} << 31) - 1, .mean = -far, .squares = 4e12 * 2147483647.0}, values);
  EXPECT_TRUE(std::isfinite(values[0]));
  EXPECT_TRUE(std::isfinite(values[1]));
}

TEST(NormalGroupLikelihood, OfAGroupWithoutMembersIsNothing) {
  const std::vector<NormalParameters> candidates = {{0, 1, 1}};
  std::vector<double> value = {7};
  NormalGroupLikelihood(candidates).Evaluate({}, value);
  EXPECT_EQ(value[0], 0);
}

}  // namespace
}  // namespace curator::dp
