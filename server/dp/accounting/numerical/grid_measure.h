// Privacy loss distributions on an integer grid, exponentially tilted, with every error on the chosen side.
//
// The measure of the loss i h is e^(log_scale - tilt i h) mass[i - first]. The tilt (the same for all
// measures that are composed) lifts the tail that determines delta, so that rounding errors are small
// relative to delta, however small delta is (Esscher 1932; RDP does the same in theory).
//
// Upper bounds: every mass is at least the true one, or lies at a higher loss; mass cut off on the right goes
// to infinity, on the left to the lowest cell. Lower bounds: every mass is at most the true one, or lies at a
// lower loss; mass that is cut off is dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/accounting/numerical/privacy_loss.h"

namespace curator::dp {

enum class Bound { kUpper, kLower };

// In lower bounds the loss of a mechanism may be too high by this share of a step; results are lowered by as
// much for each mechanism.
inline constexpr double kLowerSnap = 1e-9;

// Shared by all measures that are composed together.
struct LossGrid {
  double step = 1e-4;
  double tilt = 0;
  Bound bound = Bound::kUpper;
};

struct GridMeasure {
  int64_t first = 0;
  std::vector<double> mass;
  double log_scale = 0;
  double infinity_mass = 0;  // in the original measure
};

// The mass that may be cut off: `right` in the original measure, `left` relative to the tilted one.
struct CutOff {
  double right = 0;
  double left = 0;
};

// `loss` on the grid. Upper: the mass of each cell between two points is split over them so that the masses
// under P and under Q both stay (connect the dots: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022). Lower:
// atoms move down to the grid; the smooth piece is merged around grid points, which is post-processing. A
// Gaussian's tails beyond `cut_off.right` go to infinity and to the lowest cell (upper) or are dropped
// (lower).
GridMeasure Discretized(const PrivacyLoss& loss, const LossGrid& grid, const CutOff& cut_off);

// About how many cells Discretized() returns.
double CellsOf(const PrivacyLoss& loss, const LossGrid& grid, const CutOff& cut_off);

// The convolution: the losses of both mechanisms added. Its rounding errors are added to (upper) or
// subtracted from (lower) every cell.
GridMeasure Convolved(const GridMeasure& a, const GridMeasure& b, const LossGrid& grid);

// Cuts off both tails and scales the rest to a sum of 1.
void Trim(GridMeasure& measure, const LossGrid& grid, const CutOff& cut_off);

}  // namespace curator::dp
