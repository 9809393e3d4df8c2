// Convolution of non-negative sequences, with a proven bound of its rounding error.
#pragma once

#include <vector>

namespace curator::dp {

struct Convolution {
  std::vector<double> values;  // may be slightly negative
  // |value - true| <= relative_error * value + absolute_error for every value.
  double relative_error = 0;
  double absolute_error = 0;
};

// Both sequences are non-empty; their sums are at most 1e10. Short ones are multiplied out, long ones go
// through Fourier transforms. Thread-safe.
Convolution Convolve(const std::vector<double>& a, const std::vector<double>& b);

// What transforms of length 2^levels, levels >= 3, add to a convolution: every value is off by at most this
// times |a| |b| (Euclidean norms). Rounded up. The proof: docs/PRIVACY-accounting.md, "The transform".
double TransformRounding(int levels);

}  // namespace curator::dp
