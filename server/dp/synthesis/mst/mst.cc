#include "dp/synthesis/mst/mst.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "dp/kernel/private_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/loop/components.h"
#include "dp/synthesis/loop/loop_forecast.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/mst/mst_schedule.h"
#include "dp/synthesis/synthesis_memory.h"

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

// Whether the pairs of every spanning tree fit. The cliques of a tree may be larger than its pairs, so one
// may not fit all the same.
bool PairsOfEveryTreeFit(const Domain& domain, const LoopSchedule& loop) {
  if (!loop.constraints.empty()) return false;
  std::vector<int64_t> cells;
  for (const MarginalCandidate& candidate : loop.candidates)
    cells.push_back(CellsUpTo(domain, candidate.attributes, loop.fit.max_cells));
  std::ranges::sort(cells, std::greater<>());
  int64_t most = 0;
  for (int64_t i = 0; i < loop.measurements; ++i) most += cells[static_cast<size_t>(i)];
  int64_t largest = 0;
  for (const int64_t size : domain.SizesOf(loop.attributes)) {
    most += size;
    largest = std::max(largest, size);
  }
  return most <= loop.fit.max_cells && largest <= loop.max_separator;
}

// The pairs of a spanning tree, as far as they fit into memory together. Once a pair joins nothing, or does
// not fit, it never will again. Only where all are likely to fit, a pair is checked after it is chosen.
absl::StatusOr<std::vector<AttributeSet>> ChooseTree(const Domain& domain, const MstSchedule& schedule,
                                                     PrivateQueries& kernel, Pacer& pacer, CliqueRun& run) {
  if (!schedule.selection) return run.JoinAllThatFit();
  ASSIGN_OR_RETURN(std::vector<CandidateFamily> open, FamiliesOf(schedule, pacer, run));
  bool checks_all = !PairsOfEveryTreeFit(domain, schedule.loop);
  Components components(schedule.loop.attributes);
  std::vector<AttributeSet> tree;
  for (int64_t i = 0; i < schedule.loop.measurements; ++i) {
    RETURN_IF_ERROR(pacer.Check());
    std::erase_if(open, [&](const CandidateFamily& family) {
      const AttributeSet& pair = family.group.attributes;
      return !components.Separates(pair) || (checks_all && !run.fit().Fits(pair));
    });
    if (open.empty()) break;
    ASSIGN_OR_RETURN(const FamilyChoice choice, kernel.SelectWorstCandidate(open, *schedule.selection));
    const AttributeSet& chosen = open[choice.family].group.attributes;
    if (!run.fit().Fits(chosen)) {
      checks_all = true;
      continue;
    }
    tree.push_back(chosen);
    components.Join(tree.back());
    RETURN_IF_ERROR(run.fit().Join(tree.back()));
  }
  return tree;
}

LoopWork WorkOfMst(const Domain& domain, const MstSchedule& schedule) {
  if (!schedule.selection) return {};
  const int64_t checks = PairsOfEveryTreeFit(domain, schedule.loop) ? 0 : schedule.loop.measurements;
  return {.estimates = 1, .checks = checks, .early_sweeps = 1};
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
  return PlanOf(input, schedule.loop, WorkOfMst(input.domain, schedule), DescribeSchedule(schedule));
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mst::Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                         Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(const MstSchedule schedule, MakeMstSchedule(input));
  CliqueRun run(input, schedule.loop, kernel, pacer);
  RETURN_IF_ERROR(run.Begin());
  progress(0.25);
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> tree,
                   ChooseTree(input.domain, schedule, kernel, pacer, run));
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
