#include "dp/accounting/numerical/fft.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <mutex>

namespace curator::dp {
namespace {

constexpr double kUnitRoundoff = 0x1p-53;
// Below this length of the shorter sequence, multiplying out is faster.
constexpr size_t kShort = 24;
// Lost to underflow, at most, in one value.
constexpr double kUnderflow = 1e-300;

struct FreeReals {
  void operator()(double* p) const { fftw_free(p); }
};
struct FreeComplexes {
  void operator()(fftw_complex* p) const { fftw_free(p); }
};
using Reals = std::unique_ptr<double[], FreeReals>;
using Complexes = std::unique_ptr<fftw_complex[], FreeComplexes>;

struct Plans {
  fftw_plan forward = nullptr;
  fftw_plan backward = nullptr;
};

// Plans live as long as the program; FFTW makes them under a lock and runs them without.
Plans PlansOf(size_t size) {
  static std::mutex mutex;
  static std::map<size_t, Plans>& plans = *new std::map<size_t, Plans>;
  const std::lock_guard<std::mutex> lock(mutex);
  Plans& made = plans[size];
  if (made.forward == nullptr) {
    const Reals reals(fftw_alloc_real(size));
    const Complexes spectrum(fftw_alloc_complex(size / 2 + 1));
    const int n = static_cast<int>(size);
    made.forward = fftw_plan_dft_r2c_1d(n, reals.get(), spectrum.get(), FFTW_ESTIMATE);
    made.backward = fftw_plan_dft_c2r_1d(n, spectrum.get(), reals.get(), FFTW_ESTIMATE);
  }
  return made;
}

Complexes Spectrum(const std::vector<double>& values, size_t size, const Plans& plans, double* buffer) {
  std::copy(values.begin(), values.end(), buffer);
  std::fill(buffer + values.size(), buffer + size, 0.0);
  Complexes spectrum(fftw_alloc_complex(size / 2 + 1));
  fftw_execute_dft_r2c(plans.forward, buffer, spectrum.get());
  return spectrum;
}

double Norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
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

}  // namespace

Convolution Convolve(const std::vector<double>& a, const std::vector<double>& b) {
  if (std::min(a.size(), b.size()) <= kShort)
    return a.size() < b.size() ? MultipliedOut(a, b) : MultipliedOut(b, a);
  const size_t length = a.size() + b.size() - 1;
  size_t size = 1;
  int levels = 0;
  while (size < length) {
    size *= 2;
    ++levels;
  }
  const Plans plans = PlansOf(size);
  const Reals buffer(fftw_alloc_real(size));
  const Complexes left = Spectrum(a, size, plans, buffer.get());
  const bool same = &a == &b;
  const Complexes right = same ? nullptr : Spectrum(b, size, plans, buffer.get());
  const fftw_complex* other = same ? left.get() : right.get();
  for (size_t k = 0; k <= size / 2; ++k) {
    const std::complex<double> product =
        std::complex<double>(left[k][0], left[k][1]) * std::complex<double>(other[k][0], other[k][1]);
    left[k][0] = product.real();
    left[k][1] = product.imag();
  }
  fftw_execute_dft_c2r(plans.backward, left.get(), buffer.get());
  Convolution result;
  result.values.resize(length);
  const double scale = 1 / static_cast<double>(size);
  for (size_t i = 0; i < length; ++i) result.values[i] = buffer[i] * scale;
  // Percival 2003 (Brent, Percival, Zimmermann 2007): the error of a convolution through radix-2 transforms
  // of length 2^n is at most |a| |b| ((1+u)^3n (1+u sqrt 5)^(3n+1) (1+beta)^3n - 1), below 13 n u |a| |b|
  // with twiddles good to beta = u. Twice that is taken: FFTW's transforms of such lengths do no more
  // roundings.
  result.absolute_error = 26 * (levels + 1) * kUnitRoundoff * Norm(a) * Norm(b) + kUnderflow;
  return result;
}

}  // namespace curator::dp
