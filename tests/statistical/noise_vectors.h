// The reference values of the two noise distributions, computed elsewhere with 60 digits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dp/accounting/units.h"
#include "tests/statistical/frequencies.h"

namespace curator::statistics {

struct NoiseVector {
  enum class Law { kDiscreteLaplace, kDiscreteGaussian };

  std::string id;
  Law law = Law::kDiscreteLaplace;
  dp::Rational parameter;  // scale, or sigma squared
  double variance = 0;
  std::map<int64_t, double> probability;  // of x and of -x
  std::map<int64_t, double> at_least;     // P(X >= k)
  std::map<int64_t, double> at_most;      // P(X <= k)
  std::map<int64_t, double> beyond;       // P(|X| > k), where it is given
  std::optional<double> normaliser;       // the sum over x of exp(-x^2 / (2 sigma^2)), where it is given

  // All of it as events, on both sides of zero.
  std::vector<Event> Events() const;
};

inline constexpr char kNoiseVectors[] = "vectors/discrete_noise.json";

// All cases of the file kNoiseVectors in the shared folder, which must exist.
std::vector<NoiseVector> ReadNoiseVectors();

}  // namespace curator::statistics
