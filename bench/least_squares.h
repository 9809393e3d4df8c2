// Least squares of one attribute's code on all other attributes.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "income_classifier.h"

namespace curator::bench {

// Which attributes there are: `sizes` of all, and those whose codes are numbers; indicators stand for others.
struct Predictors {
  std::vector<int64_t> sizes;
  std::set<size_t> numbers;
};

// Fits on `training` and returns the mean squared error on `test`.
double SquaredErrorOfLeastSquares(const CodedRows& training, const CodedRows& test,
                                  const Predictors& predictors, size_t target);

// The same of answering the mean of `training`.
double SquaredErrorOfMean(const CodedRows& training, const CodedRows& test, size_t target);

}  // namespace curator::bench
