// One problem at one relaxed dataset after another: the steps of CpuProjector.
//
// Nearly all of a step is one walk over the blocks of rows. From the slopes of the answers follows a block's
// gradient, from that its new parameters, from those its new shares, and its part of the next answers: what
// belongs to a block stays in a core's caches meanwhile. Only the cells of whole marginals are summed apart,
// because they need more room than a cache has.
//
// Not thread-safe; uses the executor's threads itself. The same bits whatever these are.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/rap/product_list.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/rap/relaxed_layout.h"

namespace curator::dp {

class Descent {
 public:
  // `problem` must fit the layout of `rows`, and `products` be those of its polynomials there. All must
  // outlive it; it moves the rows' parameters.
  Descent(const ProjectionProblem& problem, ProductList products, Relaxation relaxation,
          GradientMode gradient_mode, const ProjectionLoops& loops, Executor& executor, RelaxedRows& rows);

  // The loss where the rows are. Errors, here and below: CANCELLED as in Pacer.
  absl::StatusOr<double> Loss(Pacer& pacer);

  // Steps along the gradient at the last loss, and returns the next; or only steps.
  absl::StatusOr<double> StepToLoss(const AdamStep& step, Pacer& pacer);
  absl::Status LastStep(const AdamStep& step, Pacer& pacer);

  // At the last loss.
  AlignedFloats& shares() { return shares_; }

 private:
  friend struct DescentProbe;  // rap/testing/projection_cases.h

  // Something that is done in each block. `gradient` is the block's.
  struct Stage {
    size_t cells = 0;  // that it looks at there
    std::function<void(size_t block, float* gradient)> work;
  };

  std::vector<Stage> GradientStages();
  Stage MoveStage(const AdamStep& step);
  void AppendLossStages(std::vector<Stage>& stages);

  // Each block goes through the stages in their order.
  absl::Status Walk(const std::vector<Stage>& stages, Pacer& pacer);
  // Some stages in some blocks, between two looks at the pacer.
  void WalkSection(std::span<const Stage> stages, size_t first_block, size_t end_block);

  // Of marginals first..end-1: their loss, and the slopes of their cells.
  absl::StatusOr<double> FollowMarginals(size_t first, size_t end, Pacer& pacer);
  struct Piece {
    size_t marginal;
    MarginalTable table;
  };
  std::vector<Piece> PiecesOf(size_t first, size_t end) const;
  // The loss of all polynomials, from the sums of their products; and the products' slopes.
  double FollowPolynomials();
  absl::StatusOr<double> FollowAnswers(Pacer& pacer);
  double SumOverShards(size_t product) const;
  // What an answer adds to the loss, and the slope of the loss by it, from its sum over the rows.
  struct Miss {
    double loss = 0;
    float slope = 0;
  };
  Miss MissOf(double sum, float given, float weight) const;

  void BringNear(size_t block) const;
  void ComputeShares(size_t block);
  // Of all cells of the marginal, or of some: those of the table.
  void AddMarginalGradient(size_t marginal, const MarginalTable& table, size_t block, float* work,
                           float* gradient);
  void FollowRelaxation(size_t block, float* gradient);

  size_t Rows() const { return layout_.block_rows(); }
  const float* MaskOf(size_t block) const { return mask_.data() + block * Rows(); }
  float* SharesOf(size_t block) { return shares_.data() + block * layout_.block_elements(); }
  // The end of the marginals from `first` on that one section takes.
  size_t EndOfPortion(size_t first, size_t most_cells) const;

  const ProjectionProblem& problem_;
  const RelaxedLayout& layout_;
  const Relaxation relaxation_;
  const GradientMode gradient_mode_;
  const ProjectionLoops& loops_;
  Executor& executor_;
  AlignedFloats& parameters_;

  std::vector<MarginalIndex> indexes_;
  const ProductList products_;
  size_t cells_ = 0;  // of all marginals, and products
  size_t widest_ = 0;
  // Blocks are shared out among so many shards, each of which adds up its own in their order.
  size_t shards_ = 1;
  bool at_once_ = false;  // a block goes through all stages of a walk before the next

  std::vector<double> product_sums_;  // over the rows of a shard, shard after shard
  std::vector<float> product_slopes_;
  std::vector<AlignedFloats> marginal_slopes_;  // of each cell
  const AlignedFloats mask_;
  AlignedFloats shares_;
  AlignedFloats gradient_;  // of each block, or of the block that each thread is at
  AlignedFloats first_moments_;
  AlignedFloats second_moments_;
};

}  // namespace curator::dp
