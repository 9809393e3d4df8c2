// Noise of a mechanism without a query under it: for tests and reports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/noise/bit_source.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/noise_spec.h"

namespace curator::dp {

// Replaces `values` by noise, which must be valid.
inline void FillWithNoise(const NoiseSpec& noise, BitSource& bits, std::span<int64_t> values) {
  if (noise.mechanism == Mechanism::kDiscreteLaplace) {
    DiscreteLaplace::Create(noise.parameter).value().Fill(bits, values);
  } else {
    DiscreteGaussian::Create(noise.parameter).value().Fill(bits, values);
  }
}

inline std::vector<int64_t> DrawnNoise(const NoiseSpec& noise, BitSource& bits, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  FillWithNoise(noise, bits, values);
  return values;
}

}  // namespace curator::dp
