// Convolution of non-negative sequences, with a bound of its rounding error.
#pragma once

#include <vector>

namespace curator::dp {

struct Convolution {
  std::vector<double> values;  // may be slightly negative
  // |value - true| <= relative_error * value + absolute_error for every value.
  double relative_error = 0;
  double absolute_error = 0;
};

// Both sequences are non-empty. Short ones are multiplied out, long ones go through FFTW. Thread-safe.
Convolution Convolve(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace curator::dp
