// Consistency of overlapping noisy marginals: the weighted least-squares estimate, in closed form; and
// rounding to whole numbers.
//
// Two marginals overlap in the attributes that they share, and the sums of their cells over the others should
// be the same. With noise they are not. The estimate here is the one that is nearest to what was measured,
// each marginal's squares divided by its variance, among all that agree: for Gaussian noise the best unbiased
// one, and for any noise the best linear one (Gauss-Markov).
//
// Method. The tables over the attributes A are the orthogonal sum, over the subsets S of A, of the tables
// that depend on S alone and sum to 0 along each attribute of S. Let r_S be a marginal's table on S (its
// cells summed over A \ S) with its mean along each attribute of S taken out. Then
//
//   cell a of A = sum over S of r_S(a on S) / D,   D the number of cells of A \ S,
//
// and marginals agree on everything that they share exactly when they have the same r_S for every S that they
// share (then there is also one table, with negative cells perhaps, whose marginals they are). The S-part of
// A contributes |r_S|^2 / D to the squares, so the sum to be minimised falls apart into one for each S, whose
// solution is the mean of the measured r_S with weights 1 / (variance D).
//
// In place: along each axis, the first coordinate becomes the sum and the others lose the mean (the first
// residual follows from the rest). A coordinate that is not 0 in exactly the axes S belongs to r_S. Linear in
// the cells, times the number of attributes.
//
// Source: the residual basis of Xiao, He, Zhang, Kifer 2023 (ResidualPlanner), Thm 4; analysis of variance.
//
// Thread-safe: immutable after creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// A marginal whose cells carry independent noise of this variance, positive.
struct MeasuredShape {
  AttributeSet attributes;
  double variance = 1;
};

// The cells of one marginal, row-major (the last attribute varies fastest).
using CellValues = std::vector<double>;

inline constexpr int64_t kMostConsistentCells = int64_t{1} << 24;

// INVALID_ARGUMENT ("post_processing") unless there is a marginal, each is of the domain with a variance that
// is positive and finite, and all cells together are at most kMostConsistentCells.
absl::Status CheckConsistency(const Domain& domain, std::span<const MeasuredShape> marginals);

class MarginalConsistency {
 public:
  // Memory: 12 bytes a cell. Errors: those of CheckConsistency().
  static absl::StatusOr<MarginalConsistency> Create(const Domain& domain,
                                                    std::span<const MeasuredShape> marginals);

  // The estimate from `tables`, in the order of the marginals and of their cells. With `total`, the nearest
  // one whose cells sum to it.
  std::vector<CellValues> Estimate(std::vector<CellValues> tables, std::optional<double> total) const;

  // Whole numbers near `tables`, which agree, that agree exactly: the cumulative counts (from the first cell,
  // along all axes) rounded, and their differences. A cumulative count moves by at most 1/2, a run of values
  // in a one-way marginal by less than 1, a cell of a k-way marginal by less than 2^(k-1). Cells of
  // one-way marginals that were not negative stay so; others may not.
  std::vector<CellValues> Rounded(std::vector<CellValues> tables) const;

  // The variance of one cell of each estimate made without `total`, the same for all its cells: the sum over
  // S of prod over S of (1 - 1/d_j) / (W_S D^2), where W_S is the sum of the weights at r_S.
  const std::vector<double>& variances() const { return variances_; }

 private:
  struct Layout {
    std::vector<size_t> sizes;
    std::vector<uint32_t> places;  // of each coordinate among all r_S
    std::vector<double> shares;    // of this marginal's coordinate in the mean
  };
  MarginalConsistency() = default;

  std::vector<Layout> layouts_;
  std::vector<double> variances_;
  size_t coordinates_ = 0;  // of all r_S; the total is the first
};

// Whole numbers from a table of estimates without negative cells: each cell rounded down, then raised by 1
// where most was cut off, until they sum to `total`, a whole number within the number of cells from their
// sum. Cells move by less than 1 when `total` is their sum, rounded.
CellValues RoundedToTotal(const CellValues& cells, double total);

// Tables that agree, none with a negative cell, as whole numbers, none negative, all of the same total.
// Marginals over one and two attributes agree exactly: one-way tables are the differences of their rounded
// cumulative counts, and a two-way table is rounded down and filled up to the rounded one-way counts of its
// rows and columns, which is always possible since these have the same sum. Wider marginals are rounded to
// the total by themselves.
std::vector<CellValues> RoundedAlike(const Domain& domain, std::span<const MeasuredShape> marginals,
                                     std::vector<CellValues> tables);

}  // namespace curator::dp
