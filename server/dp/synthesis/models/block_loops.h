// The loops that dense synthesis spends its time in, compiled for the instruction sets that machines have.
//
// Every element is computed by itself and added in a fixed order, so the results are the same whatever the
// width of the machine's vectors. Spans of one call have equal lengths. Thread-safe: pure functions of their
// arguments.
#pragma once

#include <cstdint>
#include <span>

namespace curator::dp {

// sums[i] += values[i]
void AddBlock(std::span<const float> values, std::span<double> sums);
void AddBlock(std::span<const double> values, std::span<double> sums);

// weights[i] *= factors[i]; what falls below 1e-30 becomes 0 (numbers near the smallest floats are slow).
void MultiplyBlock(std::span<const float> factors, std::span<float> weights);

// weights[i] *= factors[index[i]]
void MultiplyGathered(std::span<const float> factors, std::span<const uint32_t> index,
                      std::span<float> weights);

// weights[i] = base * e^logarithms[i], the logarithm bounded to [-60, 60]; what falls below 1e-30 becomes 0.
void ExpBlock(double base, std::span<const double> logarithms, std::span<float> weights);

}  // namespace curator::dp
