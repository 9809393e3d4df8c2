// Gradient descent on one projection problem: the steps of CpuProjector.
//
// Nearly all of a step is one pass over the blocks of rows. From the slopes of the loss by the answers follow
// a block's gradient, its new parameters, its new shares, and its part of the next answers: a block stays in
// a core's caches meanwhile. Only the cells of whole marginals are summed in a pass of their own, because
// they exceed a cache.
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

  // The loss at the present rows. Errors, here and below: CANCELLED as in Pacer.
  absl::StatusOr<double> Loss(Pacer& pacer);

  // Steps along the gradient at the last loss, and returns the next; or only steps.
  absl::StatusOr<double> StepToLoss(const AdamStep& step, Pacer& pacer);
  absl::Status LastStep(const AdamStep& step, Pacer& pacer);

  // At the last loss.
  AlignedFloats& shares() { return shares_; }

  // In how many degrees of freedom the answers of marginals follow their noise: the sum over cells of the
  // derivative of an answer by what was given for it. Estimated from a `shadow` that was given `shift`
  // standard deviations more or less (ShadowSign()), at the last losses of both.
  double FollowedNoise(const Descent& shadow, double shift) const;

 private:
  friend struct DescentProbe;  // rap/testing/projection_cases.h

  // Work that is done in each block. `gradient` is the block's.
  struct Stage {
    size_t cells = 0;  // that it reads there
    std::function<void(size_t block, float* gradient)> work;
  };

  std::vector<Stage> GradientStages();
  Stage MoveStage(const AdamStep& step);
  void AppendLossStages(std::vector<Stage>& stages);

  // Each block goes through the stages in their order.
  absl::Status Pass(const std::vector<Stage>& stages, Pacer& pacer);
  // Some stages in some blocks, between two checks of the pacer.
  void PassSection(std::span<const Stage> stages, size_t first_block, size_t end_block);

  // Of marginals first..end-1: their loss, and the slopes of their cells.
  absl::StatusOr<double> UpdateMarginals(size_t first, size_t end, Pacer& pacer);
  struct Piece {
    size_t marginal;
    MarginalTable table;
  };
  std::vector<Piece> PiecesOf(size_t first, size_t end) const;
  // The loss of all polynomials, from the sums of their products; and the products' slopes.
  double UpdatePolynomials();
  absl::StatusOr<double> UpdateAnswers(Pacer& pacer);
  double SumOverShards(size_t product) const;
  // What an answer adds to the loss, and the slope of the loss by it, from its sum over the rows.
  struct Miss {
    double loss = 0;
    float slope = 0;
  };
  Miss MissOf(double sum, float given, float weight) const;

  void Prefetch(size_t block) const;
  void ComputeShares(size_t block);
  // Of all cells of the marginal, or of some: those of the table.
  void AddMarginalGradient(size_t marginal, const MarginalTable& table, size_t block, float* work,
                           float* gradient);
  void ApplyRelaxationGradient(size_t block, float* gradient);

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
  // Blocks are distributed over shards, each of which adds up its blocks in order.
  size_t shards_ = 1;
  bool at_once_ = false;  // a block passes all stages before the next block

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
