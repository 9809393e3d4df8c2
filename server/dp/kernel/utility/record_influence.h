// How far one record can move the logarithm of its group's integrated, weighted density: the theorem of the
// record unit, and the weights that follow from it.
//
// Everything here is computed from public facts. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/kernel/utility/group_models.h"

namespace curator::dp {

// At least max h - min h over all candidates, h = what adding a record of this code with the exponent
// `weight` (0..1) adds to the logarithm of its group's density, for all other members of the group and all
// their weights. Does not fall as `weight` rises. Accurate to about 1e-12 of itself.
//
// Theorem (normal). Let f_i(mu) = (2 pi s^2)^(-1/2) exp(-(y_i - mu)^2 / (2 s^2)), s = within, t = between,
// and L = ln of the integral of prod_j f_j^a_j over mu ~ N(nu, t^2), with exponents a_j >= 0 that are
// functions of y_j; y_j and nu in [low, high]. Let R = max(y_i - low, high - y_i). Then one more record adds
// h = ln E[f_i(mu)^a_i], mu from the normal posterior N(m, v) given the others, and
//
//   -a ln(2 pi s^2) / 2 - g  <=  h  <=  -a ln(2 pi s^2) / 2,
//   g = max(a R^2 / (2 s^2), ln(1 + a t^2 / s^2) / 2 + a R^2 / (2 (s^2 + a t^2))).
//
// Proof. Power-weighted normal densities are normal: the posterior has precision 1/t^2 + sum a_j / s^2, so v
// lies in [0, t^2], and a mean m that is a weighted mean of nu and the y_j, so |y_i - m| <= R. The integral
// that defines h is Gaussian:
//
//   h = -a ln(2 pi s^2) / 2 - ln(1 + a v / s^2) / 2 - a (y_i - m)^2 / (2 (s^2 + a v)).
//
// The last two terms are at most 0. In v, with x = s^2 + a v, they have the derivative
// a (a r^2 / x - 1) / (2 x), r = |y_i - m|: they rise, then fall, so they are least at v = 0 or at v = t^2;
// both values fall as r grows to R. (Jensen's bound a (R^2 + t^2) / (2 s^2) is never less than g, as
// ln(1 + x) <= x.)
//
// So max h - min h <= max over candidates of (a ln(2 pi s^2) / 2 + g) - min of a ln(2 pi s^2) / 2. A choice
// of units for y does not change it. Each term of the maximum rises with a faster than the minimum does.
//
// Theorem (binomial). h = ln E[p^a] or ln E[(1 - p)^a], over some distribution of p on the points, all of
// which lie in [edge, 1 - edge]: so a ln(edge) <= h <= a ln(1 - edge).
double SpreadOfOneRecord(const GroupGrid& grid, uint32_t code, double weight);

// The exponents of each code, in units of 2^-16, rounded down. Under kScalar and kVector none makes
// SpreadOfOneRecord() exceed `width`.
std::vector<int64_t> WeightsOfCodes(const GroupGrid& grid, size_t codes, RecordWeights kind, double width);

// The largest SpreadOfOneRecord() of any code with its weight.
double LargestSpread(const GroupGrid& grid, std::span<const int64_t> weights);

// By how many steps of the lattice a group's score may differ from the exact logarithm, rounding included,
// whatever the group (group_scores.cc): up to a number that is the same for all candidates.
int64_t ErrorInSteps(const GroupGrid& grid);

// Up to this sum of weights times LargestTerm(), doubles keep to ErrorInSteps().
inline constexpr double kMostInDoubles = 0x1p29;

// Of the normal model: no record has a larger term, of weight one, in its group's logarithm.
double LargestTerm(const NormalGroupGrid& grid);

}  // namespace curator::dp
