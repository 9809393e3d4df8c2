// The projection on the processor: hand-written gradients, blocked for the caches, in vectors.
//
// Sums run over fixed parts of the rows, gradients over each block of rows by itself, both in an order that
// depends on the problem alone (descent.h), so the result does not depend on the executor's threads; and
// the loops give the same bits for every instruction set. Thread-safe, and keeps no state.
#pragma once

#include "absl/status/statusor.h"
#include "base/executor.h"
#include "dp/synthesis/rap/projection.h"
#include "dp/synthesis/rap/projection_loops.h"

namespace curator::dp {

class CpuProjector : public Projector {
 public:
  // `executor` must outlive it.
  explicit CpuProjector(Executor& executor = OnlyThisThread(),
                        const ProjectionLoops& loops = *AvailableProjectionLoops().front())
      : executor_(executor), loops_(loops) {}

  absl::StatusOr<Projected> Project(const ProjectionProblem& problem, RelaxedRows start,
                                    const ProjectionRule& rule, Pacer& pacer,
                                    const Progress& progress = NoProgress()) const override;

 private:
  Executor& executor_;
  const ProjectionLoops& loops_;
};

// The shares of all rows from their parameters.
AlignedFloats SharesOf(const RelaxedRows& rows, Relaxation relaxation, const ProjectionLoops& loops);

}  // namespace curator::dp
