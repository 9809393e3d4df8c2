// Answers without negative counts from measured residuals (residual_measurement.h): the tables that are
// nearest to what was measured, of those without a negative cell.
//
// A table over A is the sum over the subsets B of A of a_B times the offsets of A \ B, where a_B is a table
// over B that sums to 0 along each axis. It was measured as z_B with noise of the covariance sigma_B^2 Q_B,
// Q_B the product of its axes' (axis_parts.h). So tables agree whatever the a_B are, and these minimise
//
//   sum over B of w_B (a_B - z_B)^T Q_B^-1 (a_B - z_B) / sigma_B^2
//
// of those with the measured total, 0 where that is negative, and without a negative cell in any of the
// tables asked for. With w_B = 1 this is the metric of the noise, in which the likelihood is largest. But
// what many small cells gain when they are raised to 0 adds up in their sums, at the expense of where the
// large counts are: the parts over few attributes. So w_B is the firmness, to the power of how many
// attributes B has fewer than the widest table that contains it. On Adult's marginals the error is lowest
// near 8 at all budgets (docs/results/post-processing.md).
//
// By Lagrange, with multipliers s_A m_A of the cells, and t_B^2 = sigma_B^2 / w_B,
//
//   a_B = z_B + t_B^2 Q_B (sum over A that contain B of s_A times the offsets of A \ B, transposed, m_A),
//
// which is linear in m and is ascended by dual_ascent.h. The steps s_A are the largest, up to a common
// direction, for which no eigenvalue can be above 1: the images of different B are orthogonal but for axes
// with another offset than the even one, where |u + v|^2 <= (1 + r) (|u|^2 + |v|^2), r their overlap, so that
//
//   t_B^2 (prod over B of |Q_i|) (sum over A of s_A (prod over A of 1 + r_i) prod over A \ B of |c_i|^2)
//
// at most 1 for every B is enough.
//
// Tables that lie within another one have no condition of their own: theirs follows.
//
// Immutable: thread-safe. Released numbers and public facts alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/workload/dual_ascent.h"
#include "dp/workload/residual/axis_parts.h"
#include "dp/workload/residual/residual_errors.h"
#include "dp/workload/residual/residual_measurement.h"

namespace curator::dp {

// Those of `sets`, kMostProductAxes attributes each at most, that lie within no other one, each once. Takes a
// hash lookup for each subset, and the memory of an entry.
class WidestSets {
 public:
  explicit WidestSets(std::span<const AttributeSet> sets);

  const std::vector<AttributeSet>& sets() const { return sets_; }
  // A position in sets(), for one of `sets`.
  size_t Containing(const AttributeSet& set) const { return containing_.at(set); }

 private:
  std::vector<AttributeSet> sets_;
  absl::flat_hash_map<AttributeSet, size_t> containing_;
};

// Tables of up to so many steps are projected in 20 s at worst: 2^19 cells, fewer where attributes have
// prefixes or ranges.
inline constexpr int64_t kMostProjectionSteps = int64_t{1} << 19;

inline constexpr double kFirmness = 8;

// The cells of all sets, each counted once and again for every 96 codes of each axis that has a matrix. Where
// that is above kMostProjectionSteps: kMostProjectionSteps + 1.
int64_t ProjectionSteps(const Domain& domain, const ProductQueries& queries,
                        std::span<const AttributeSet> widest);
// Memory of a projection with its results.
int64_t ProjectionBytes(const Domain& domain, std::span<const AttributeSet> widest);

class ResidualProjection {
 public:
  // `errors` are those of the measurement; all subsets of `widest`, none of which lies within another, were
  // measured. 1 for `firmness` is the metric of the noise. Holds no reference.
  ResidualProjection(const ResidualMeasurement& measurement, const ResidualErrors& errors,
                     const std::vector<AttributeSet>& widest, double firmness = kFirmness);

  // From the unbiased tables over `widest`, in their order. Errors: those of AscendDual().
  absl::StatusOr<NonNegativeTables> Nearest(Tables unbiased, const std::stop_token& stop) const;

 private:
  struct Layout {
    std::vector<size_t> axes;      // positions in axes_
    std::vector<size_t> codes;     // of each
    std::vector<uint32_t> places;  // of each coordinate among all parts
  };
  size_t AxisOf(const AxisReading& reading, const AxisQueries& queries);
  template <typename Change>
  void AlongAxes(const Layout& layout, const Change& change) const;
  void SetWeights(std::span<const std::vector<uint32_t>> subsets, std::span<const double> variances);

  std::vector<AxisParts> axes_;
  std::vector<const AxisReading*> readings_;  // of each, to find it again while this is made
  std::vector<Layout> layouts_;
  std::vector<double> variances_;  // of each coordinate: t_B^2; the total is the first
  std::vector<double> weights_;    // s_A
};

// The sums of a table over the attributes of `from` that are not in `to`, which lies within `from`.
CellValues SumTo(const Domain& domain, const AttributeSet& from, const CellValues& cells,
                 const AttributeSet& to);

}  // namespace curator::dp
