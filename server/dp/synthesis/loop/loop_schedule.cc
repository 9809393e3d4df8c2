#include "dp/synthesis/loop/loop_schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

int64_t CellsOfOneWays(const Domain& domain, const LoopSchedule& schedule) {
  int64_t cells = 0;
  for (const int64_t size : domain.SizesOf(schedule.attributes)) cells += size;
  return cells;
}

// The largest separator that cliques may have: in a small domain every set fits, because what lies on two
// sides of any separator is small.
int64_t MostOfASeparator(const Domain& domain, const AttributeSet& attributes, int64_t max_cells) {
  return CellsUpTo(domain, attributes, max_cells + 1) <= max_cells ? max_cells : kMostSeparatorCells;
}

}  // namespace

absl::StatusOr<LoopSchedule> StartSchedule(const SynthesisInput& input) {
  RETURN_IF_ERROR(ValidateWorkload(input.domain, input.workload));
  LoopSchedule schedule;
  schedule.attributes = Union(SetsOf(input.workload));
  for (const uint32_t attribute : schedule.attributes) schedule.one_ways.push_back({attribute});
  return schedule;
}

absl::Status CheckOneWays(const Domain& domain, const LoopSchedule& schedule) {
  const int64_t cells = CellsOfOneWays(domain, schedule);
  if (cells <= schedule.fit.max_cells) return absl::OkStatus();
  return InvalidField("settings.max_cells",
                      absl::StrCat("the one-way marginals alone have ", cells,
                                   " cells, more than max_cells (", schedule.fit.max_cells, ")"));
}

void HoldConstraints(const Domain& domain, LoopSchedule& schedule) {
  schedule.max_separator = MostOfASeparator(domain, schedule.attributes, schedule.fit.max_cells);
  schedule.constraints =
      HeldConstraints(domain, schedule.attributes, schedule.fit.max_cells, schedule.max_separator);
}

absl::StatusOr<CandidateSets> ReadFitAndCandidates(const SynthesisInput& input, CandidateWeights weights,
                                                   SettingsReader& reader, LoopSchedule& schedule) {
  const std::vector<AttributeSet> sets = SetsOf(input.workload);
  ASSIGN_OR_RETURN(schedule.fit, ReadFitSettings(reader));
  RETURN_IF_ERROR(CheckOneWays(input.domain, schedule));
  ASSIGN_OR_RETURN(const CandidateSets kind, ReadCandidates(input.domain, sets, reader));
  schedule.candidates = CandidatesOf(input.domain, sets, kind, weights, schedule.fit.max_cells);
  HoldConstraints(input.domain, schedule);
  return kind;
}

bool HasToChoose(const Domain& domain, const LoopSchedule& schedule) {
  if (schedule.measurements < std::ssize(schedule.candidates)) return true;
  CliqueGraph graph(domain, schedule.attributes);
  for (const AttributeSet& pair : PairsOf(domain, schedule.constraints)) graph.Connect(pair);
  for (const MarginalCandidate& candidate : schedule.candidates) graph.Connect(candidate.attributes);
  return !graph.HasRoomFor({}, schedule.fit.max_cells, schedule.max_separator);
}

absl::Status BuyFirstDraws(int64_t one_way_percent, Purse& purse, LoopSchedule& schedule) {
  ASSIGN_OR_RETURN(schedule.record_noise, purse.BuyRecordCount());
  const int64_t units = schedule.candidates.empty() ? purse.left() : PercentOf(purse.left(), one_way_percent);
  ASSIGN_OR_RETURN(schedule.one_way_noise,
                   purse.BuyCounts(units, std::ssize(schedule.one_ways), 1, "one-way marginals"));
  return absl::OkStatus();
}

void FinishSchedule(const SynthesisInput& input, const Purse& purse, LoopSchedule& schedule) {
  schedule.draws = purse.draws();
  schedule.linear = purse.linear();
  schedule.model_cells = std::ranges::max(input.domain.SizesOf(schedule.attributes));
  schedule.all_cells = CellsOfOneWays(input.domain, schedule);
  if (schedule.measurements > 0 || !schedule.constraints.empty()) {
    schedule.model_cells = CellsUpTo(input.domain, schedule.attributes, schedule.fit.max_cells);
    schedule.all_cells = schedule.fit.max_cells;
  }
}

std::vector<std::string> DescribeFirstDraws(const LoopSchedule& schedule) {
  return {absl::StrCat("once: the number of records, ", Describe(schedule.draws[0].event)),
          absl::StrCat("once: every one-way marginal, ", Describe(schedule.draws[1].event))};
}

std::string DescribeCells(const LoopSchedule& schedule) {
  return absl::StrCat("held in memory: cliques of at most ", schedule.all_cells, " cells together");
}

}  // namespace curator::dp
