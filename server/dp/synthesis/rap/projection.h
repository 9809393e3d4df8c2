// Projection: the relaxed dataset whose answers come nearest to given noisy answers (Aydore et al. 2021,
// algorithm 1).
//
// A relaxed dataset has n' rows; each row is a distribution over the values of each attribute, computed from
// real parameters by SparseMax (the paper's) or softmax. A record is a row whose distributions are certain,
// and every query below agrees with its meaning on such rows:
//   - the cell of a k-way marginal is a product of k columns;
//   - 1-of-k is 1 - product of (1 - x); t-of-k, and any other function of k columns, is a polynomial of them
//     (AtLeast(), or one product for each cell that a linear query counts);
//   - a whole marginal is all of its cells.
// The loss is the sum over answers of weight * (answer of the rows - given answer)^2, both as shares of the
// records. Adam descends its gradient.
//
// Interface. Projector is all that the method knows about optimisation: an implementation on another
// processor takes the same problem and returns rows. It must be a pure function, to the last bit on all
// machines that restore or refit the same release; one that cannot promise that (a GPU that reduces in any
// order) may be used where a model is fitted once and stored. Nothing here is private: answers are noisy
// already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

// coefficient * product over `columns` (all different, 1 to kMostFactors of them) of x, or of 1 - x.
struct ProductTerm {
  float coefficient = 1;
  std::vector<uint32_t> columns;
  bool complemented = false;
};

// The noisy answer to constant + sum of terms, averaged over the rows.
struct PolynomialAnswer {
  float constant = 0;
  std::vector<ProductTerm> terms;
  float answer = 0;  // share of the records
  float weight = 1;
};

// Noisy shares of all cells of a marginal.
struct MarginalAnswer {
  std::vector<size_t> positions;  // of attributes in the layout; rising, at least one
  std::vector<float> answers;     // row-major, the last attribute runs fastest
  float weight = 1;               // of each cell's squared error
};

struct ProjectionProblem {
  std::vector<MarginalAnswer> marginals;
  std::vector<PolynomialAnswer> polynomials;
};

// Terms of "at least `threshold` of these columns are 1", for different attributes' columns. 1-of-k is one
// complemented product; else the sum over subsets, by inclusion and exclusion. 1 <= threshold <= columns, at
// most kMostFactors of them.
PolynomialAnswer AtLeast(size_t threshold, const std::vector<uint32_t>& columns);

enum class Relaxation { kSparseMax, kSoftmax };

// The gradient that a step follows. kByParameters: the gradient of the loss by the parameters, which under
// SparseMax is 0 at values of which a row has no share. kByShares: its gradient by the distributions, as in
// the paper, which applies SparseMax to the rows after each step. Steps add up in the parameters, and
// SparseMax takes the nearest distributions (Nesterov's dual averaging), so a value that was dropped can come
// back.
enum class GradientMode { kByParameters, kByShares };

struct ProjectionRule {
  Relaxation relaxation = Relaxation::kSparseMax;
  GradientMode gradient_mode = GradientMode::kByParameters;
  int64_t most_steps = 5000;
  float rate = 1e-3F;  // of Adam
  // The rate falls linearly to this share of itself at the last step.
  float last_rate = 1;
  // A projection ends when the loss has fallen by less than this share of itself over `patience` steps.
  double tolerance = 1e-7;
  int64_t patience = 1;
  // A projection ends when the loss is at most this, possibly before the first step: more would fit the
  // noise.
  double enough = 0;
  // Where `least_gain` is above 0, and only marginals were measured: a projection ends when the steps since
  // the last look have brought the answers nearer to the true ones, in expected squared deviations, by less
  // than this share of the degrees of freedom in which they follow their noise. Not before `least_steps`, nor
  // while the loss is more than noise explains. Takes twice the time, for a shadow (RelaxedRows).
  double least_gain = 0;
  int64_t least_steps = 1;
  // Parameters stay within -bound..bound.
  float bound = 1;
};

// Parameters of a relaxed dataset.
struct RelaxedRows {
  RelaxedLayout layout;
  AlignedFloats parameters;
  // Of rows that took the same steps towards answers with a little more noise, which is known: how far they
  // followed it shows how far the others follow theirs. Empty where none have.
  AlignedFloats shadow = {};
};

// The result of a projection.
struct Projected {
  RelaxedRows rows;
  int64_t steps = 0;      // along the gradient: none where the first loss was enough
  double first_loss = 0;  // of the rows that it started from
  double last_loss = 0;   // of `rows`; where most_steps were taken, of those before the last step
};

// Thread-safe.
class Projector {
 public:
  virtual ~Projector() = default;

  // Starts from `start`. `progress` receives the share of rule.most_steps that is done. Errors:
  // INVALID_ARGUMENT for a problem that does not fit the layout (positions, cells, columns); CANCELLED as in
  // Pacer.
  virtual absl::StatusOr<Projected> Project(const ProjectionProblem& problem, RelaxedRows start,
                                            const ProjectionRule& rule, Pacer& pacer,
                                            const Progress& progress = NoProgress()) const = 0;
};

// +1 or -1 for each cell of each marginal of a problem, as good as random: which way a shadow's answers are
// moved. The same on every machine.
float ShadowSign(size_t marginal, size_t cell);

// How many products of columns a step of the optimiser computes in each row: one for each cell of a marginal,
// and for each term of a polynomial.
int64_t ProductsOf(const ProjectionProblem& problem);

// Starts of a projection: rows that differ, so that they can move apart. The same bits on every machine:
// nothing here is secret, and pseudo-random numbers are computed from the position alone.

// For SparseMax: parameters uniform in [-1, 1], as in the paper.
RelaxedRows UniformStart(const RelaxedLayout& layout);

// For softmax: each attribute of a row is its marginal with one value, drawn from it, made e^spread times as
// likely. shares[i] are those of the attribute at position i, positive, summing to 1.
RelaxedRows IndependentStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares,
                             double spread);

// The same for SparseMax, which leaves distributions as they are: each attribute of a row is half its
// marginal and half one value, drawn from it.
RelaxedRows MixedStart(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares);

// Noisy counts as shares: shrunk towards even counts as far as noise of this standard deviation explains how
// uneven they are (James and Stein 1961), the nearest distribution to them, and of that at least a small part
// of the uniform share. Noise that is merely cut off at 0 would add to every total.
std::vector<double> PositiveShares(std::vector<double> noisy, double deviation);

}  // namespace curator::dp
