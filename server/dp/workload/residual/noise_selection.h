// How much noise each measured set gets, so that the error of a workload is least.
//
// With the parameter s_B of the noise on set B, a measurement costs rho = sum a_B / s_B, and an answer q has
// the variance sum f_qB s_B. Costs and factors are public and positive.
//
// Sum of variances, v_B = sum over q of f_qB (each times a weight, where some matter more): by Cauchy and
// Schwarz
//
//   (sum v_B s_B) (sum a_B / s_B) >= (sum sqrt(v_B a_B))^2 = T,   attained by s_B = sqrt(a_B T / v_B) / rho.
//
// Largest variance: for multipliers y_q >= 0 that sum to 1, the largest is at least the least of sum y_q
// var_q, which is T with v_B = sum y_q f_qB. Multipliers are moved towards the answers of larger variance
// until the largest is within kMostSelectionGap of that bound, or kMostSelectionRounds rounds.
//
// Laplace noise: with the squared scale s_B, a measurement costs epsilon = sum a_B / sqrt(s_B). By Hoelder
//
//   (sum v_B s_B) (sum a_B / sqrt(s_B))^2 >= (sum cbrt(v_B a_B^2))^3 = T,
//
// attained by s_B = cbrt(T)^2 cbrt(a_B / v_B)^2 / epsilon^2. Largest variance: as above, with this T.
//
// Source: Xiao, He, Zhang, Kifer 2023 (ResidualPlanner), Sec. 5. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace curator::dp {

// The parameters for rho = 1, or the squared scales for epsilon = 1.
struct NoiseSelection {
  std::vector<double> parameters;
  double objective = 0;  // the sum, or the largest, with these
  double gap = 0;        // objective / (a proved lower bound of all choices of parameters) - 1
};

NoiseSelection LeastSum(std::span<const double> costs, std::span<const double> factors);

// Answers with errors of one form.
struct ErrorForm {
  std::vector<uint32_t> sets;   // positions of the measured sets that enter
  std::vector<double> factors;  // f of each of them
};

inline constexpr double kMostSelectionGap = 1e-4;
inline constexpr int kMostSelectionRounds = 400;
NoiseSelection LeastLargest(std::span<const double> costs, std::span<const ErrorForm> forms);

// The same for Laplace noise. Each set has a positive factor in some form.
NoiseSelection LeastSumOfLaplace(std::span<const double> costs, std::span<const double> factors);
NoiseSelection LeastLargestOfLaplace(std::span<const double> costs, std::span<const ErrorForm> forms);

}  // namespace curator::dp
