// The views to measure: chosen from public facts, or listed by the request; and how they split a budget.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// What the views may cost together, for choosing and forecasting; nothing is admitted by these numbers:
// discrete Laplace noise for `amount` epsilon in all, or discrete Gaussian noise for `amount` rho.
struct ViewBudget {
  bool pure = true;
  double amount = 1;
  double l1_sensitivity = 1;          // of one view
  double squared_l2_sensitivity = 1;  // of one view
};

enum class BudgetSplit {
  kEqual,         // all views have the same noise
  kSquaredError,  // the sum over all views' cells of the noise's variance is least
};

// The share of the budget of each view, by its number of cells. Least squared error: with Gaussian noise a
// view's variance is its sensitivity / share, so shares go as cells^(1/2); with Laplace noise as 1 / share^2,
// and shares as cells^(1/3) (Lagrange). Views whose cells differ by less than a factor of four get the same,
// so that there are few kinds of noise.
std::vector<double> BudgetShares(std::span<const int64_t> cells, BudgetSplit split, bool pure);

// The variance of the noise of a view that gets `share` of the budget.
double NoiseVariance(const ViewBudget& budget, double share);

// Cells, capped at 2^62.
int64_t CellsOf(const Domain& domain, const AttributeSet& set);

struct ViewQuestion {
  const Domain& domain;
  std::vector<AttributeSet> workload;  // the marginals that should be answered well
  ViewBudget budget;                   // of the views
  BudgetSplit split = BudgetSplit::kEqual;
  double records = 20'000;           // a public guess
  int64_t max_view_cells = 1 << 16;  // of any view of several attributes
  std::optional<int64_t> cells;      // the bound of the design, when it is given
  std::optional<int64_t> strength;   // 2 or 3, when it is given
  int64_t last_step = 0;             // to which the pacer may count
};

struct ViewChoice {
  std::vector<AttributeSet> views;      // of two or more attributes, in lexicographic order
  std::vector<AttributeSet> uncovered;  // pairs of the workload with too many cells for any view
  int64_t cells = 0;                    // the bound that was chosen
  int64_t strength = 2;
  double squared_error = 0;  // expected of a workload marginal, the sum over its cells, in records^2
  std::vector<std::string> considered;  // for display: each candidate in one line
};

// The covering design of least expected squared error. Candidates: strengths 2 and 3 (what is covered: every
// pair, or every triple, that some set of the workload holds), and bounds on a block's cells by powers of
// two. A wanted pair that has more cells than the bound, but not more than max_view_cells, is a view of its
// own.
//
// The expectation for a set of the workload: if views hold all of it, C_v sigma_v^2 for a view v of C_v
// cells, combined over such views by inverse variance; otherwise the largest that its pairs have, plus a
// model error of records^2 / 20,000 for the share of its triples that no view holds: what the largest entropy
// with given pairs misses of a triple, by experience. Errors: INVALID_ARGUMENT ("workload",
// "settings.cells") when no candidate has at most kMostViews views, or they take steps beyond last_step;
// CANCELLED as in Pacer.
inline constexpr size_t kMostViews = 4096;
inline constexpr size_t kMostDesignAttributes = 512;
absl::StatusOr<ViewChoice> ChooseViews(const ViewQuestion& question, Pacer& pacer);

// What noise adds to a pair of attributes when `views` are measured: the mean over up to 150 of `pairs`,
// evenly spread, of the expected L1 norm of the noise on the pair's shares, from the views that hold it. A
// pair counts for 1 at most: that noise is shrunk away, with what the pair would have told. 0 without pairs.
// Errors: as in ChooseViews().
absl::StatusOr<double> PairNoise(const ViewQuestion& question, const std::vector<AttributeSet>& pairs,
                                 const std::vector<AttributeSet>& views, Pacer& pacer);

// The expected L1 norm, as a share of `records`, of Gaussian noise of this variance on `cells` counts.
double NoiseShare(int64_t cells, double variance, double records);

// Reads "age,sex;sex,income,race": views are separated by semicolons, the names of their attributes by
// commas; "#3" is the attribute with index 3, for names that hold one of these. Sets come back sorted, each
// once. Errors: INVALID_ARGUMENT ("settings.views") with the reason.
absl::StatusOr<std::vector<AttributeSet>> ReadViews(const Domain& domain, std::string_view text,
                                                    int64_t max_view_cells);

}  // namespace curator::dp
