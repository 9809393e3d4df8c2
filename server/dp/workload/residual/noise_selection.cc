#include "dp/workload/residual/noise_selection.h"

#include <algorithm>
#include <cmath>

namespace curator::dp {
namespace {

// A set on which nothing depends that is asked gets this share of the budget's root, not infinite noise.
constexpr double kLeastShare = 1e-9;

std::vector<double> VariancesOf(std::span<const ErrorForm> forms, std::span<const double> parameters) {
  std::vector<double> variances;
  variances.reserve(forms.size());
  for (const ErrorForm& each : forms) {
    double variance = 0;
    for (size_t i = 0; i < each.sets.size(); ++i) variance += each.factors[i] * parameters[each.sets[i]];
    variances.push_back(variance);
  }
  return variances;
}

using LeastSumOf = NoiseSelection (*)(std::span<const double> costs, std::span<const double> factors);

NoiseSelection LeastLargestBy(LeastSumOf least_sum, std::span<const double> costs,
                              std::span<const ErrorForm> forms) {
  std::vector<double> multipliers(forms.size(), 1.0 / static_cast<double>(forms.size()));
  NoiseSelection best;
  double bound = 0;
  for (int round = 0; round < kMostSelectionRounds; ++round) {
    std::vector<double> factors(costs.size());
    for (size_t q = 0; q < forms.size(); ++q) {
      for (size_t i = 0; i < forms[q].sets.size(); ++i)
        factors[forms[q].sets[i]] += multipliers[q] * forms[q].factors[i];
    }
    NoiseSelection selection = least_sum(costs, factors);
    bound = std::max(bound, selection.objective / (1 + selection.gap));
    const std::vector<double> variances = VariancesOf(forms, selection.parameters);
    selection.objective = *std::ranges::max_element(variances);
    if (round == 0 || selection.objective < best.objective) best = std::move(selection);
    if (best.objective <= bound * (1 + kMostSelectionGap)) break;
    double sum = 0;
    for (size_t q = 0; q < forms.size(); ++q) sum += multipliers[q] *= variances[q];
    for (double& multiplier : multipliers) multiplier /= sum;
  }
  best.gap = std::max(0.0, best.objective / bound - 1);
  return best;
}

}  // namespace

NoiseSelection LeastSum(std::span<const double> costs, std::span<const double> factors) {
  std::vector<double> roots(costs.size());
  double sum = 0;
  for (size_t i = 0; i < costs.size(); ++i) sum += roots[i] = std::sqrt(costs[i] * factors[i]);
  const double bound = sum * sum;
  for (double& root : roots) {
    const double raised = std::max(root, kLeastShare * std::sqrt(bound));
    sum += raised - root;
    root = raised;
  }
  NoiseSelection selection;
  for (size_t i = 0; i < costs.size(); ++i) {
    const double parameter = sum * costs[i] / roots[i];
    selection.parameters.push_back(parameter);
    selection.objective += factors[i] * parameter;
  }
  selection.gap = std::max(0.0, selection.objective / bound - 1);
  return selection;
}

NoiseSelection LeastLargest(std::span<const double> costs, std::span<const ErrorForm> forms) {
  return LeastLargestBy(LeastSum, costs, forms);
}

NoiseSelection LeastSumOfLaplace(std::span<const double> costs, std::span<const double> factors) {
  std::vector<double> roots(costs.size());
  double sum = 0;
  for (size_t i = 0; i < costs.size(); ++i) {
    roots[i] = std::cbrt(factors[i] / costs[i]);
    sum += costs[i] * roots[i];
  }
  NoiseSelection selection;
  for (size_t i = 0; i < costs.size(); ++i) {
    selection.parameters.push_back(std::pow(sum / roots[i], 2));
    selection.objective += factors[i] * selection.parameters.back();
  }
  return selection;
}

NoiseSelection LeastLargestOfLaplace(std::span<const double> costs, std::span<const ErrorForm> forms) {
  return LeastLargestBy(LeastSumOfLaplace, costs, forms);
}

}  // namespace curator::dp
