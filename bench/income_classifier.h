// A classifier of one binary attribute by all others: logistic regression on indicators of their values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace curator::bench {

using CodedRows = std::vector<std::vector<uint32_t>>;

// Trains on `training` (20 rounds of stochastic gradient descent, rows in a fixed shuffled order) and returns
// the share of `test` whose last attribute it gets wrong. `sizes` are those of the attributes.
double Misclassification(const CodedRows& training, const CodedRows& test, std::span<const int64_t> sizes);

// The share that always saying the more frequent value gets wrong.
double MisclassificationByGuess(const CodedRows& test);

}  // namespace curator::bench
