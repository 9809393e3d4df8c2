// Fits a product of marginals' factors to noisy answers, held as the cliques of a junction tree, by
// multiplicative updates that are replayed until they converge.
//
// The fit is the minimiser of
//
//   prior_weight * KL(weights | base) + sum over answers ((answer - q(weights)) / sigma)^2 / 2:
//
// close to every answer as far as its noise lets it be known, and otherwise as near as possible to a base,
// which is uniform, or uniform where the base's own factors do not forbid a cell.
// Its dual has one number for each answer, lambda = (answer - q(weights)) / (prior_weight sigma^2), and the
// weights are base * exp(sum of lambda q). One update maximises over one answer's lambda exactly (over all
// cells of a marginal at once: they are disjoint), so it never overshoots, and stale or contradicting answers
// converge instead of diverging. With answers without noise an update is one step of iterative proportional
// fitting; its first-order form is the update of Hardt, Ligett, McSherry 2012, figure 1.
//
// A sweep walks over the tree: it updates the answers whose attributes lie in one clique, carries what they
// changed on to the next, and so passes over each clique's weights once for each set of attributes that was
// measured and twice for each of its edges (Jirousek, Preucil 1995, for proportional fitting).
//
// Not thread-safe. Everything here is a function of public noisy answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/clique_tables.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/models/measured_set.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// A noisy number of records.
struct NoisyRecords {
  double answer = 0;
  double standard_deviation = 1;
};

class CliqueFit {
 public:
  // Uniform over `attributes`, until SetBase(). `domain` must outlive it. `max_cells`: of all cliques
  // together; `max_separator`: of each separator.
  CliqueFit(const Domain& domain, AttributeSet attributes, NoisyRecords records, int64_t max_cells,
            int64_t max_separator = kMostSeparatorCells);

  // Whether a measurement over `set` would leave the cliques within max_cells and max_separator. Once it
  // would not, it is taken not to for ever.
  bool Fits(const AttributeSet& set) const;

  // The same with at most `most_cells` instead of max_cells, for this time alone.
  bool FitsInto(const AttributeSet& set, int64_t most_cells) const;

  // Has a clique hold `set`, from the next replay on. Errors: INVALID_ARGUMENT when it does not fit, or for a
  // set that is not within the attributes.
  absl::Status Join(const AttributeSet& set);

  // Multiplies the weights that everything starts from by these factors, each of one set. Before the first
  // replay. Errors: those of Join(); CANCELLED as in Pacer.
  absl::Status SetBase(std::vector<LogFactor> base, Pacer& pacer);

  // Adds a measurement, which counts from the next replay on. Errors: those of Join(); CANCELLED as in Pacer.
  absl::Status Add(NoisyAnswers measurement, Pacer& pacer);

  // Sweeps over all measurements until they have converged. Errors: CANCELLED as in Pacer.
  absl::StatusOr<Replayed> Replay(const ReplayRule& rule, Pacer& pacer);

  // Estimated counts of the cells of each set, row-major, as of the last replay. Errors: INVALID_ARGUMENT for
  // a set that is not within the attributes, or of more than 2^26 cells; CANCELLED as in Pacer.
  absl::StatusOr<std::vector<std::vector<double>>> Marginals(std::span<const AttributeSet> sets,
                                                             Pacer& pacer);

  // The cells of the largest table that Marginals() of a set within the attributes takes, as of the last
  // replay.
  int64_t CellsToEstimate(const AttributeSet& set) const;

  // The number of records, as of the last replay; before, the noisy one. At least 1.
  double records() const;

  // The factors that the weights are the product of, with e^log_base(): those of the base first.
  std::vector<LogFactor> factors() const;
  double log_base() const { return log_base_; }
  CliqueTree tree() const { return graph_.Tree(); }

  // Which attributes are in one measured set.
  const CliqueGraph& graph() const { return graph_; }

 private:
  // A measured set, and its place in the tables.
  struct Placed {
    size_t clique = 0;
    DenseMarginal marginal;
  };

  absl::Status MakeTables(Pacer& pacer);
  absl::Status Calibrate(Pacer& pacer);
  // Updates one set's answers; returns how far the fit to one has moved.
  absl::StatusOr<double> Update(size_t set, const ReplayRule& rule, Pacer& pacer);
  absl::StatusOr<double> Sweep(const ReplayRule& rule, Pacer& pacer);

  const Domain& domain_;
  const NoisyRecords count_;
  const int64_t max_cells_;
  const int64_t max_separator_;
  double log_base_ = 0;
  CliqueGraph graph_;
  std::vector<LogFactor> base_;
  std::vector<MeasuredSet> sets_;
  mutable std::set<AttributeSet> unfit_;
  // Of the present graph, when there are any:
  std::optional<CliqueTables> tables_;
  std::vector<Placed> placed_;                // of each measured set
  std::vector<std::vector<size_t>> members_;  // the measured sets of each clique
  // How far a log-factor may have risen since the weights were last computed from them all.
  double risen_ = 0;
};

}  // namespace curator::dp
