// DPSyn (Li, Zhang, Wang 2018) and PriView (Qardaji, Yang, Li 2014): noisy views that together hold every
// pair, or every triple, of the workload's attributes are made consistent. PriView answers any marginal from
// them; DPSyn from records that match them. Samples of both are such records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/kernel/private_queries.h"
#include "dp/synthesis/dpsyn/view_schedule.h"
#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/pacer.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Dpsyn : public Synthesizer {
 public:
  std::string_view name() const override { return "dpsyn"; }
  std::string_view summary() const override;
  // 2: other defaults of what is measured. 5: of many attributes views answer.
  int64_t version() const override { return 5; }
  bool redraws_version_1() const override { return true; }
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;
};

class Priview : public Synthesizer {
 public:
  std::string_view name() const override { return "priview"; }
  std::string_view summary() const override;
  // 2: as in dpsyn, and samples are dealt out of records.
  int64_t version() const override { return 4; }
  bool redraws_version_1() const override { return true; }
  const std::vector<Setting>& settings() const override;
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override;
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override;
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override;
};

// The views of one fit.
struct FittedViews {
  std::vector<ViewTable> views;  // 0 or more, in agreement; the first one is the number of records
  int64_t records = 1;
  std::vector<std::string> transcript;  // a line for each draw
};

// Draws exactly what the schedule lists, then calls EstimateViews(). The candidates of a selection are scored
// against the product of the noisy counts of single attributes, less the error that a measurement would have:
// for each cell the mean absolute noise, or the expected count of the cell where that is less. Errors: those
// of the kernel; CANCELLED as in Pacer. Reports progress up to `share`.
absl::StatusOr<FittedViews> FitViews(const Domain& domain, const ViewSchedule& schedule,
                                     PrivateQueries& kernel, Pacer& pacer, const Progress& progress,
                                     double share);

}  // namespace curator::dp
