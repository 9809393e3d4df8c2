// One fit of a method of the loop: draws what its schedule lists, and fits a product over cliques to all that
// was measured.
//
// Not thread-safe. Everything but the draws themselves is a function of public noisy answers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/kernel/private_queries.h"
#include "dp/synthesis/loop/loop_schedule.h"
#include "dp/synthesis/models/clique_fit.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Of the largest table that the estimate of a candidate takes; one that takes more is not chosen.
inline constexpr int64_t kMostCellsOfAnEstimate = int64_t{1} << 22;

// What a measurement with noise of `expected` absolute error would leave of the error of an estimate: in a
// cell of few records the fit follows less noise.
double LeftByNoise(std::span<const double> estimate, double expected);

// Errors of all functions: those of the kernel; CANCELLED as in Pacer.
class CliqueRun {
 public:
  // All must outlive it.
  CliqueRun(const SynthesisInput& input, const LoopSchedule& schedule, PrivateQueries& kernel, Pacer& pacer)
      : input_(input), schedule_(schedule), kernel_(kernel), pacer_(pacer) {}

  // Draws the number of records and every one-way marginal. Called first.
  absl::Status Begin();

  // What is fitted so far; after Begin().
  CliqueFit& fit() { return *fit_; }

  // Draws the counts of `set`, which fits, and adds them to the fit. `step`: for the transcript.
  absl::StatusOr<std::vector<int64_t>> Measure(const AttributeSet& set, std::string step);

  // Adds public counts of `set`, which fits, to the fit, as if they had noise of `deviation`.
  absl::Status AddPublic(const AttributeSet& set, std::vector<double> counts, double deviation,
                         const std::string& step);

  // Draws `draws` times the counts of one of `sets`, in turn, and then adds the mean of each one's to the
  // fit. The sets fit together; where there are none, nothing is drawn.
  absl::Status MeasureInTurn(std::span<const AttributeSet> sets, int64_t draws);

  // The candidates, in their order, that fit beside those before them; the fit then holds them all.
  absl::StatusOr<std::vector<AttributeSet>> JoinAllThatFit();

  // Sweeps until no answer moves by more than `converged` standard deviations.
  absl::StatusOr<Replayed> Replay(int64_t most_sweeps, double converged);

  // Fits all measurements, and makes the model. Called last.
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress);

 private:
  absl::Status Add(const AttributeSet& set, std::vector<double> answers, double deviation);
  absl::Status CountRecords();
  absl::Status MeasureOneWays();
  absl::StatusOr<std::vector<int64_t>> Draw(const AttributeSet& set);
  void Note(std::string step, const AttributeSet& set, size_t cells, double deviation);

  const SynthesisInput& input_;
  const LoopSchedule& schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  std::unique_ptr<CliqueFit> fit_;
  std::vector<std::string> transcript_;
};

}  // namespace curator::dp
