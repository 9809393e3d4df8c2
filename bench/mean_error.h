// A mean and its standard error.
#pragma once

#include <cmath>
#include <vector>

namespace curator::bench {

struct MeanError {
  double mean = 0;
  double error = 0;  // 0 of a single value
};

// Of at least one value.
inline MeanError MeanErrorOf(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanError result;
  for (const double value : values) result.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.error = std::sqrt(squares / (count - 1) / count);
  return result;
}

}  // namespace curator::bench
