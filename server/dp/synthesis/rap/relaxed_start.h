// Where a projection begins: rows that differ, so that they can move apart.
//
// Thread-safe: pure functions. The same bits on every machine. Nothing here is secret, so what looks random
// is computed from the position alone.
#pragma once

#include <vector>

#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

// For SparseMax: parameters uniform in [-1, 1], as in the paper.
RelaxedRows UniformStart(const RelaxedLayout& layout);

// For softmax: each attribute of a row is its marginal with one value, drawn from it, made e^spread times as
// likely. shares[i] are those of the attribute at position i, positive, summing to 1.
RelaxedRows IndependentStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares,
                             double spread);

// The same for SparseMax, which leaves distributions as they are: each attribute of a row is half its
// marginal and half one value, drawn from it.
RelaxedRows MixedStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares);

// Noisy counts as shares: cut at a small share of an even spread, and scaled to 1.
std::vector<double> PositiveShares(const std::vector<double>& noisy);

// ln x for normal positive x, within 1e-12.
double PortableLog(double x);

}  // namespace curator::dp
