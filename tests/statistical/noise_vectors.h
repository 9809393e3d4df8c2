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

  // All of it as events, on both sides of zero.
  std::vector<Event> Events() const;
};

// The cases of `name` ("vectors/discrete_noise.json") in the shared folder. The file must exist.
std::vector<NoiseVector> ReadNoiseVectors(const std::string& name);

}  // namespace curator::statistics
