// The rounds of one fit of AIM: what is measured, or taken from a public table, one after the other.
//
// Not thread-safe. Everything but the draws is a function of public facts and noisy answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/kernel/private_queries.h"
#include "dp/synthesis/aim/aim_schedule.h"
#include "dp/synthesis/aim/public_source.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Errors of all functions: those of the kernel; CANCELLED as in Pacer.
class AimRounds {
 public:
  // All must outlive it; `run` has begun.
  AimRounds(const SynthesisInput& input, const AimSchedule& schedule, PrivateQueries& kernel, Pacer& pacer,
            CliqueRun& run)
      : input_(input),
        schedule_(schedule),
        candidates_(schedule.loop.candidates),
        kernel_(kernel),
        pacer_(pacer),
        run_(run),
        times_measured_(candidates_.size()) {}

  // Before the first round. With a public table: takes marginals from it that say most about dependence.
  absl::Status Begin();

  absl::Status Round(int64_t round);

  // After the last round. With a public table: measures as often as rounds took public counts instead, and
  // takes what it still says against the model.
  absl::Status End();

 private:
  // Candidates, by position, with the model's estimates of them.
  struct Estimates {
    std::vector<size_t> candidates;
    std::vector<AttributeSet> sets;
    std::vector<std::vector<double>> cells;
  };

  std::vector<size_t> Open() const;

  // Of those of `open` whose estimates do not take too much memory.
  absl::StatusOr<Estimates> EstimatesOf(std::vector<size_t> open);

  absl::StatusOr<std::vector<double>> PenaltiesOf(const Estimates& estimates);

  // The chosen one of `estimates`, which are used up, and whether public counts stand for it.
  absl::StatusOr<SubstitutionChoice> ChooseMeasurement(Estimates& estimates);
  absl::StatusOr<SubstitutionChoice> ChooseWithPublic(Estimates& estimates,
                                                      const std::vector<std::vector<double>>& said);

  absl::StatusOr<std::vector<std::vector<double>>> PublicCountsOf(const Estimates& estimates);

  absl::Status Measure(size_t candidate, const std::vector<double>* said, const std::string& step);
  absl::Status Take(size_t candidate, std::vector<double> said, const std::string& step);

  // Whether what the public table says of a candidate is thought to be nearer than a measurement would be.
  bool IsBetterThanAMeasurement(size_t candidate, const std::vector<double>& said) const;

  // Takes those candidates from the public table that say most against the model, at most one path between
  // any two attributes; none that a measurement would say better, and none for which the cliques would need
  // more than `most_cells`.
  absl::Status TakeForest(int64_t most_cells, const std::string& step);

  // The one of `estimates` from which the public table is furthest, beyond what a measurement would leave.
  size_t FurthestOf(const Estimates& estimates, const std::vector<std::vector<double>>& said) const;

  const SynthesisInput& input_;
  const AimSchedule& schedule_;
  const std::vector<MarginalCandidate>& candidates_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  CliqueRun& run_;
  std::vector<int64_t> times_measured_;  // each candidate
  std::optional<PublicSource> public_;
  int64_t spared_ = 0;  // measurements that rounds have not made
};

}  // namespace curator::dp
