#include "dp/synthesis/models/block_loops.h"

#include <algorithm>
#include <cstddef>

#include "base/processor.h"
#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
namespace {

constexpr float kSmallestWeight = 1e-30F;
constexpr double kLargestLogarithm = 60;

// Written once, compiled for each instruction set: `inline` functions take over the target of their caller.
template <typename Value>
[[gnu::always_inline]] inline void Add(const Value* __restrict values, double* __restrict sums,
                                       size_t count) {
  for (size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(values[i]);
}

[[gnu::always_inline]] inline void Multiply(const float* __restrict factors, float* __restrict weights,
                                            size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float product = weights[i] * factors[i];
    weights[i] = product < kSmallestWeight ? 0.0F : product;
  }
}

[[gnu::always_inline]] inline void Gather(const float* __restrict factors, const uint32_t* __restrict index,
                                          float* __restrict weights, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float product = weights[i] * factors[index[i]];
    weights[i] = product < kSmallestWeight ? 0.0F : product;
  }
}

[[gnu::always_inline]] inline void Exponentials(double base, const double* __restrict logarithms,
                                                float* __restrict weights, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const double bounded = std::min(std::max(logarithms[i], -kLargestLogarithm), kLargestLogarithm);
    const auto weight = static_cast<float>(base * PortableExp(bounded));
    weights[i] = weight < kSmallestWeight ? 0.0F : weight;
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void AddFloatsAvx2(const float* values, double* sums, size_t count) {
  Add(values, sums, count);
}
[[gnu::target("avx2")]] void AddDoublesAvx2(const double* values, double* sums, size_t count) {
  Add(values, sums, count);
}
[[gnu::target("avx2")]] void MultiplyAvx2(const float* factors, float* weights, size_t count) {
  Multiply(factors, weights, count);
}
[[gnu::target("avx2")]] void GatherAvx2(const float* factors, const uint32_t* index, float* weights,
                                        size_t count) {
  Gather(factors, index, weights, count);
}
[[gnu::target("avx2")]] void ExponentialsAvx2(double base, const double* logarithms, float* weights,
                                              size_t count) {
  Exponentials(base, logarithms, weights, count);
}
#endif

}  // namespace

void AddBlock(std::span<const float> values, std::span<double> sums) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return AddFloatsAvx2(values.data(), sums.data(), values.size());
#endif
  Add(values.data(), sums.data(), values.size());
}

void AddBlock(std::span<const double> values, std::span<double> sums) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return AddDoublesAvx2(values.data(), sums.data(), values.size());
#endif
  Add(values.data(), sums.data(), values.size());
}

void MultiplyBlock(std::span<const float> factors, std::span<float> weights) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return MultiplyAvx2(factors.data(), weights.data(), weights.size());
#endif
  Multiply(factors.data(), weights.data(), weights.size());
}

void MultiplyGathered(std::span<const float> factors, std::span<const uint32_t> index,
                      std::span<float> weights) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return GatherAvx2(factors.data(), index.data(), weights.data(), weights.size());
#endif
  Gather(factors.data(), index.data(), weights.data(), weights.size());
}

void ExpBlock(double base, std::span<const double> logarithms, std::span<float> weights) {
#if defined(__x86_64__)
  if (MachineHasAvx2()) return ExponentialsAvx2(base, logarithms.data(), weights.data(), weights.size());
#endif
  Exponentials(base, logarithms.data(), weights.data(), weights.size());
}

}  // namespace curator::dp
