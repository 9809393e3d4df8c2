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

// Both sequences are non-empty. Short ones are convolved directly, long ones by Fourier transforms. The
// error is infinite where the norms of the sequences are not finite or above 1e10. Thread-safe.
Convolution Convolve(const std::vector<double>& a, const std::vector<double>& b);

// How long Convolve() takes for sequences of these lengths, about: in values of a transform.
double ConvolutionSteps(double a, double b);

// The error that transforms of length 2^levels, levels >= 3, add to a convolution: at most this times |a| |b|
// (Euclidean norms) in every value. Rounded up. Proof: docs/PRIVACY-accounting.md, "The transform".
double TransformRounding(int levels);

}  // namespace curator::dp
