// The two ways to measure quantiles, and which of them errs less in rank: the number of records between the
// answer and the quantile.
//
// A tree of L levels measures the number of records in each of its blocks. Let P be the estimate of the
// number of records up to a code and T that of all; both are least squares estimates (interval_tree.h), and
// the code is compared with the quantile q by P - q T, a linear combination of the noise with known weights.
// Its levels share a budget: each value has L times the variance (Gaussian noise), or L squared times
// (Laplace). All quantiles of a column are read from one tree.
//
// A selection takes a code with a probability that falls by exp(-epsilon / r) for each record of its rank's
// error, r = 2 k max(q, 1 - q) under ADD_REMOVE and 2 k under REPLACE_ONE for units of at most k records. So
// the error exceeds (r / epsilon) ln(codes / (1 - level)) with a probability of at most 1 - level (McSherry
// and Talwar 2007). Each quantile has its own.
//
// From public facts alone. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "dp/accounting/units.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"

namespace curator::dp {

// Of the trees over so many codes, the number of branches of the one whose errors in rank are least, over
// codes spread evenly and over these quantiles.
int64_t BranchingFor(int64_t codes, Mechanism mechanism, std::span<const int32_t> thousandths);

// Whether a tree for all of these quantiles of one column errs at most twice as much in rank, at 95%, as a
// selection for each at the same budget: only an answer from a tree has an interval of values, for which one
// by selections would need two more of them. The numbers of records drop out.
bool TreeIsBetter(const UnitBound& unit, Mechanism mechanism, int64_t codes, int64_t groups,
                  std::span<const int32_t> thousandths);

// What a selection's error in rank does not exceed with the probability `level`, and its standard deviation
// at most: ranks fall off as an exponential does.
double SelectedRankBound(const UnitBound& unit, int32_t thousandths, int64_t codes, Epsilon epsilon,
                         double level);
double SelectedRankDeviation(const UnitBound& unit, int32_t thousandths, Epsilon epsilon);

// What `mechanism`'s epsilon is, in ratio to 1, for a selection that the zCDP cost rho buys: floor of
// sqrt(8 rho), whose cost epsilon^2 / 8 (Cesar and Rogers 2021) holds under every rule that counts rho.
Epsilon SelectionFor(Rho rho);

}  // namespace curator::dp
