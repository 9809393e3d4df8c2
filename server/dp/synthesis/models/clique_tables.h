// The weights of a product of marginals' factors, held as the marginals of the cliques of a junction tree, so
// that memory is that of the cliques and not of the domain. One clique is a dense table; cliques without
// common attributes are independent parts.
//
// The tables are consistent when any two cliques agree on what they share. Then the weight of a cell of the
// domain is the product of its cliques' weights, divided by those of the separators.
//
// Not thread-safe, but for const functions. Everything here is a function of public noisy answers, and has
// the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/models/attribute_table.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/product_component.h"
#include "dp/synthesis/pacer.h"

namespace curator::dp {

// Marginals that no clique holds are assembled from tables of at most so many cells each, or as many as the
// largest clique has; where they would be larger, for one code of an attribute after the other.
inline constexpr int64_t kMostCellsOfATable = int64_t{1} << 22;

// In a factor: of a cell that no record has. Measurements move no logarithm so far.
inline constexpr double kLogOfZero = -1e6;

class CliqueTables {
 public:
  // The weights are undefined before Calibrate(). `domain` must outlive it. Errors: CANCELLED as in Pacer.
  static absl::StatusOr<CliqueTables> Create(const Domain& domain, CliqueTree tree, Pacer& pacer);

  // Makes the weight of each cell of the domain e^(log_base + the sum of its factors' logarithms), and the
  // tables consistent. A weight that is less than e^-60 of the largest of its separator's cell counts as
  // that, and one with kLogOfZero as 0, unless all have it. Errors: INVALID_ARGUMENT for a factor that no
  // clique holds; CANCELLED as in Pacer.
  absl::Status Calibrate(double log_base, std::span<const LogFactor> factors, Pacer& pacer);

  const CliqueTree& tree() const { return tree_; }
  double total() const { return total_; }  // of the weights

  // The sums of the weights in each cell of each set, row-major, of consistent tables. Every set lies in the
  // tree's attributes and has cells that fit into memory. Errors: CANCELLED as in Pacer.
  absl::StatusOr<std::vector<std::vector<double>>> Marginals(std::span<const AttributeSet> sets,
                                                             Pacer& pacer) const;

  // The steps of Marginals() of one set, at most 2^60, and the cells of the largest table that it would make
  // at once.
  struct Effort {
    int64_t steps = 0;
    int64_t largest = 0;
  };
  Effort EffortOf(const AttributeSet& set) const;

  // For fits, which change one clique at a time and carry each change on to the next.

  const DenseLayout& layout(size_t clique) const { return cliques_[clique]->layout; }
  std::span<const float> weights(size_t clique) const { return cliques_[clique]->weights; }

  // Multiplies the weights of one clique by the factors of `marginal`'s cells.
  absl::Status Scale(size_t clique, const DenseMarginal& marginal, std::span<const float> factors,
                     Pacer& pacer);

  // A walk over the tree in which each edge is passed down once and up once; cliques are reached in order.
  struct Move {
    size_t edge = 0;  // the position of the clique below it; 0 for arriving at the root
    bool down = true;
  };
  const std::vector<Move>& walk() const { return walk_; }

  // Carries what has changed in the clique on one end of an edge to the other end. A weight that falls below
  // 1e-30 becomes 0, and does not rise again before Calibrate().
  absl::Status Carry(Move move, Pacer& pacer);

 private:
  struct Clique {
    explicit Clique(DenseLayout made) : layout(std::move(made)) {}

    DenseLayout layout;
    std::vector<float> weights;
    // Of the separator above it: as marginals of this clique and of its parent, and their common cells.
    std::unique_ptr<DenseMarginal> below;
    std::unique_ptr<DenseMarginal> above;
    std::vector<double> separator;
  };

  // How one set is assembled from the cliques that hold its attributes, and what of; see the definitions.
  struct Assembly;
  struct Pieces;
  // Of each clique: marginals of it that assemblies need.
  using HeldMarginals = std::vector<std::map<AttributeSet, std::vector<double>>>;

  CliqueTables(const Domain& domain, CliqueTree tree) : domain_(&domain), tree_(std::move(tree)) {}

  // The logarithms of a clique's own factors, and of what its children have passed on to it.
  absl::StatusOr<std::vector<double>> LogPotentials(size_t index, std::span<const LogFactor> factors,
                                                    std::span<const size_t> own, Pacer& pacer) const;
  // Fills in the weights, and as `separator` the logarithms of what the clique passes on.
  static absl::Status Collect(const DenseMarginal& above, std::vector<double> logarithms, Clique& clique,
                              Pacer& pacer);
  void MakeWalk();
  Assembly AssemblyOf(const AttributeSet& set) const;
  int64_t StepsOf(const Assembly& assembly) const;
  Pieces PiecesOf(const Assembly& assembly, const HeldMarginals& held) const;
  absl::StatusOr<AttributeTable> Assemble(const Assembly& assembly, Pieces pieces, Pacer& pacer) const;
  // For one code of the attribute `split` after the other.
  absl::StatusOr<AttributeTable> AssembleByCode(const Assembly& assembly, uint32_t split,
                                                const Pieces& pieces, Pacer& pacer) const;
  absl::StatusOr<HeldMarginals> Hold(std::span<const Assembly> assemblies, Pacer& pacer) const;

  const Domain* domain_;
  CliqueTree tree_;
  std::vector<std::unique_ptr<Clique>> cliques_;
  std::vector<std::vector<size_t>> children_;
  std::vector<Move> walk_;
  double total_ = 0;
};

}  // namespace curator::dp
