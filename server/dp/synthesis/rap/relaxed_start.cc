#include "dp/synthesis/rap/relaxed_start.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace curator::dp {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): neighbouring numbers come out unrelated.
uint64_t Scrambled(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// In [0, 1), by row and column.
double Spread(size_t row, size_t column) {
  return static_cast<double>(Scrambled(Scrambled(row) + column) >> 11) * 0x1.0p-53;
}

// The code that a row draws from an attribute's shares.
size_t DrawnCode(const RelaxedLayout& layout, size_t row, size_t position,
                 const std::vector<double>& shares) {
  const double height = Spread(row, layout.columns() + position);
  double sum = 0;
  size_t drawn = 0;
  while (drawn + 1 < shares.size() && (sum += shares[drawn]) <= height) ++drawn;
  return drawn;
}

}  // namespace

RelaxedRows UniformStart(const RelaxedLayout& layout) {
  RelaxedRows rows{.layout = layout, .parameters = AlignedFloats(layout.elements())};
  for (size_t row = 0; row < layout.rows(); ++row) {
    for (size_t column = 0; column < layout.columns(); ++column)
      rows.parameters[layout.ElementAt(row, column)] = static_cast<float>(2 * Spread(row, column) - 1);
  }
  return rows;
}

RelaxedRows IndependentStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares,
                             double spread) {
  RelaxedRows rows{.layout = layout, .parameters = AlignedFloats(layout.elements())};
  for (size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> logarithms;
    for (const double share : shares[i]) logarithms.push_back(PortableLog(share));
    for (size_t row = 0; row < layout.rows(); ++row) {
      const size_t drawn = DrawnCode(layout, row, i, shares[i]);
      for (size_t code = 0; code < shares[i].size(); ++code) {
        rows.parameters[layout.ElementAt(row, layout.first_columns()[i] + code)] =
            static_cast<float>(logarithms[code] + (code == drawn ? spread : 0));
      }
    }
  }
  return rows;
}

RelaxedRows MixedStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares) {
  RelaxedRows rows{.layout = layout, .parameters = AlignedFloats(layout.elements())};
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t row = 0; row < layout.rows(); ++row) {
      const size_t drawn = DrawnCode(layout, row, i, shares[i]);
      for (size_t code = 0; code < shares[i].size(); ++code) {
        rows.parameters[layout.ElementAt(row, layout.first_columns()[i] + code)] =
            static_cast<float>(0.5 * shares[i][code] + (code == drawn ? 0.5 : 0));
      }
    }
  }
  return rows;
}

std::vector<double> PositiveShares(const std::vector<double>& noisy) {
  constexpr double kLeast = 0.02;  // of an even spread
  double total = 0;
  for (const double count : noisy) total += std::max(count, 0.0);
  std::vector<double> shares(noisy.size(), 1.0 / static_cast<double>(noisy.size()));
  if (!(total > 0)) return shares;
  double sum = 0;
  for (size_t i = 0; i < noisy.size(); ++i)
    sum += shares[i] = std::max(noisy[i] / total, kLeast / static_cast<double>(noisy.size()));
  for (double& share : shares) share /= sum;
  return shares;
}

double PortableLog(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52));
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  // ln m = 2 artanh((m - 1) / (m + 1)), |argument| < 0.172: eight terms.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double series = 0;
  for (int k = 17; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return 2 * t * series + exponent * 0.693147180559945309;
}

}  // namespace curator::dp
