#include "dp/accounting/numerical/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <unsupported/Eigen/FFT>

namespace curator::dp {
namespace {

using Complex = std::complex<double>;
using Transform = Eigen::FFT<double>;

constexpr double kUnitRoundoff = 0x1p-53;
// Below this length of the shorter sequence, multiplying out is faster.
constexpr size_t kShort = 24;
// As many products are multiplied out in the time that one value of a transform takes.
constexpr double kProductsPerValue = 16;
// Lost to underflow, at most, in one value.
constexpr double kUnderflow = 1e-300;
// More than the error when a bound or a norm of at most 2^23 values is computed in doubles.
constexpr double kRaised = 1 + 0x1p-20;
// Of a sequence: far above 1, which masses sum to, and far below what overflows.
constexpr double kLargestNorm = 1e10;
// A thread keeps its twiddle factors up to this length (3 MiB for all of them). Longer ones are computed
// for each convolution.
constexpr size_t kLongestKept = size_t{1} << 16;

// A real transform and its inverse without the division by the length, both of half the spectrum.
Transform NewTransform() {
  Transform transform;
  transform.SetFlag(Transform::HalfSpectrum);
  transform.SetFlag(Transform::Unscaled);
  return transform;
}

std::vector<Complex> Spectrum(const std::vector<double>& values, std::vector<double>& buffer,
                              Transform& transform) {
  const auto rest = std::copy(values.begin(), values.end(), buffer.begin());
  std::fill(rest, buffer.end(), 0.0);
  std::vector<Complex> spectrum(buffer.size() / 2 + 1);
  transform.fwd(spectrum.data(), buffer.data(), static_cast<Eigen::Index>(buffer.size()));
  return spectrum;
}

// The first a.size() + b.size() - 1 values of the cyclic convolution of length `size`.
std::vector<double> Transformed(const std::vector<double>& a, const std::vector<double>& b, size_t size,
                                Transform& transform) {
  std::vector<double> buffer(size);
  std::vector<Complex> product = Spectrum(a, buffer, transform);
  if (&a == &b) {
    for (Complex& value : product) value *= value;
  } else {
    const std::vector<Complex> other = Spectrum(b, buffer, transform);
    for (size_t k = 0; k < product.size(); ++k) product[k] *= other[k];
  }
  transform.inv(buffer.data(), product.data(), static_cast<Eigen::Index>(size));
  buffer.resize(a.size() + b.size() - 1);
  const double scale = 1 / static_cast<double>(size);  // a power of two: exact
  for (double& value : buffer) value *= scale;
  return buffer;
}

// Of the ratios to the largest value, whose squares do not underflow where they count.
double Norm(const std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  if (!(largest > 0)) return 0;
  double sum = 0;
  for (const double value : values) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum) * kRaised;
}

Convolution MultipliedOut(const std::vector<double>& shorter, const std::vector<double>& longer) {
  Convolution result;
  result.values.assign(shorter.size() + longer.size() - 1, 0.0);
  for (size_t i = 0; i < shorter.size(); ++i) {
    const double weight = shorter[i];
    for (size_t j = 0; j < longer.size(); ++j) result.values[i + j] += weight * longer[j];
  }
  result.relative_error = 2 * static_cast<double>(shorter.size() + 1) * kUnitRoundoff;
  result.absolute_error = kUnderflow;
  return result;
}

// A transform that an allocation's failure has left with half of its factors would give wrong values, so it
// is not kept then.
std::vector<double> TransformedByKept(const std::vector<double>& a, const std::vector<double>& b,
                                      size_t size) {
  thread_local std::optional<Transform> kept;
  if (!kept) kept = NewTransform();
  try {
    return Transformed(a, b, size, *kept);
  } catch (...) {
    kept.reset();
    throw;
  }
}

}  // namespace

double ConvolutionSteps(double a, double b) {
  const double length = a + b - 1;
  if (std::min(a, b) <= static_cast<double>(kShort)) return length + a * b / kProductsPerValue;
  return std::exp2(std::ceil(std::log2(length)));
}

double TransformRounding(int levels) {
  // In units of kUnitRoundoff, to first order; kRaised covers the rest.
  constexpr double kMultiplication = 2.83;  // of two complex numbers
  constexpr double kTwiddle = 2.5;          // a factor's distance from the root of unity
  constexpr double kHalfTwiddle = 5.7;      // the same of those that join the halves of a real transform
  const int complex_levels = levels - 1;
  const int stages = (complex_levels + 1) / 2;
  const double complex = stages * (kMultiplication + kTwiddle) + complex_levels;
  const double real = complex + kMultiplication + kHalfTwiddle + 2;
  return ((2 + std::sqrt(2.0)) * real + kMultiplication) * kUnitRoundoff * kRaised;
}

Convolution Convolve(const std::vector<double>& a, const std::vector<double>& b) {
  if (std::min(a.size(), b.size()) <= kShort)
    return a.size() < b.size() ? MultipliedOut(a, b) : MultipliedOut(b, a);
  size_t size = 1;
  int levels = 0;
  while (size < a.size() + b.size() - 1) {
    size *= 2;
    ++levels;
  }
  Convolution result;
  if (size <= kLongestKept) {
    result.values = TransformedByKept(a, b, size);
  } else {
    Transform once = NewTransform();
    result.values = Transformed(a, b, size, once);
  }
  const double norms = Norm(a) * Norm(b);
  result.absolute_error = norms <= kLargestNorm * kLargestNorm
                              ? TransformRounding(levels) * norms + kUnderflow
                              : std::numeric_limits<double>::infinity();  // NaN is among them
  return result;
}

}  // namespace curator::dp
