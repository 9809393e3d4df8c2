#include "dp/synthesis/mst/mst.h"

#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/loop/loop_forecast.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/mst/mst_schedule.h"

namespace curator::dp {
namespace {

constexpr int64_t kMstSweeps = 50;
constexpr double kMstConverged = 0.05;

// All candidates, each with what the one-way marginals say of it.
absl::StatusOr<std::vector<CandidateFamily>> FamiliesOf(const MstSchedule& schedule, Pacer& pacer,
                                                        CliqueRun& run) {
  RETURN_IF_ERROR(run.Replay(kMstSweeps, kMstConverged).status());
  const std::vector<AttributeSet> sets = SetsOf(schedule.loop.candidates);
  ASSIGN_OR_RETURN(std::vector<std::vector<double>> estimates, run.fit().Marginals(sets, pacer));
  std::vector<CandidateFamily> families;
  for (size_t i = 0; i < sets.size(); ++i) {
    CandidateFamily& family = families.emplace_back();
    family.group = {.attributes = sets[i], .queries = EveryCell()};
    family.estimate = std::move(estimates[i]);
  }
  return families;
}

// The pairs of a spanning tree, as far as they fit into memory together. Once a pair joins nothing, or does
// not fit, it never will again.
absl::StatusOr<std::vector<AttributeSet>> ChooseTree(const MstSchedule& schedule, PrivateQueries& kernel,
                                                     Pacer& pacer, CliqueRun& run) {
  if (!schedule.selection) return run.JoinAllThatFit();
  ASSIGN_OR_RETURN(std::vector<CandidateFamily> open, FamiliesOf(schedule, pacer, run));
  Components components(schedule.loop.attributes);
  std::vector<AttributeSet> tree;
  for (int64_t i = 0; i < schedule.loop.measurements; ++i) {
    RETURN_IF_ERROR(pacer.Check());
    std::erase_if(open, [&](const CandidateFamily& family) {
      return !components.Separates(family.group.attributes) || !run.fit().Fits(family.group.attributes);
    });
    if (open.empty()) break;
    ASSIGN_OR_RETURN(const FamilyChoice choice, kernel.SelectWorstCandidate(open, *schedule.selection));
    tree.push_back(open[choice.family].group.attributes);
    components.Join(tree.back());
    RETURN_IF_ERROR(run.fit().Join(tree.back()));
  }
  return tree;
}

LoopWork WorkOfMst(const MstSchedule& schedule) {
  if (!schedule.selection) return {};
  return {.estimates = 1, .checks = schedule.loop.measurements, .early_sweeps = 1};
}

}  // namespace

std::string_view Mst::summary() const {
  return "A product over a spanning tree of those pairs of attributes that are furthest from independent; a "
         "fast baseline.";
}

const std::vector<Setting>& Mst::settings() const {
  return MstSettingsTable();
}

absl::StatusOr<SynthesisPlan> Mst::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(const MstSchedule schedule, MakeMstSchedule(input));
  RETURN_IF_ERROR(pacer.Check());
  return PlanOf(input, schedule.loop, WorkOfMst(schedule), DescribeSchedule(schedule));
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mst::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                         Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(const MstSchedule schedule, MakeMstSchedule(input));
  CliqueRun run(input, schedule.loop, kernel, pacer);
  RETURN_IF_ERROR(run.Begin());
  progress(0.25);
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> tree, ChooseTree(schedule, kernel, pacer, run));
  progress(0.5);
  RETURN_IF_ERROR(run.MeasureInTurn(tree, schedule.loop.measurements));
  progress(0.75);
  return run.Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mst::RestoreWith(const Domain& domain, std::string_view bytes,
                                                                 Pacer& pacer) const {
  return CliqueModel::Restore(domain, bytes, pacer);
}

absl::StatusOr<int64_t> Mst::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return CliqueModel::ReadingBytes(domain, bytes);
}

}  // namespace curator::dp
