#include "dp/synthesis/mst/mst_schedule.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/loop/candidates.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/loop/components.h"
#include "dp/synthesis/loop/fit_settings.h"
#include "dp/synthesis/loop/purse.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

struct MstShares {
  int64_t one_way_percent = 33;
  int64_t selection_percent = 50;
};

absl::StatusOr<MstShares> ReadMstSettings(const SynthesisInput& input, LoopSchedule& loop) {
  SettingsReader reader(MstSettingsTable(), input.settings);
  MstShares shares;
  ASSIGN_OR_RETURN(loop.fit, ReadFitSettings(reader));
  ASSIGN_OR_RETURN(shares.one_way_percent, reader.Integer("one_way_percent"));
  ASSIGN_OR_RETURN(shares.selection_percent, reader.Integer("selection_percent"));
  ASSIGN_OR_RETURN(loop.fit.slack, ReadSlack(std::ssize(loop.attributes) - 1, reader));
  RETURN_IF_ERROR(reader.Finish());
  loop.used_settings = reader.used();
  return shares;
}

// The pairs that a spanning forest of all candidates has, whichever it is.
int64_t PairsOfAForest(const LoopSchedule& loop) {
  Components components(loop.attributes);
  int64_t pairs = 0;
  for (const MarginalCandidate& candidate : loop.candidates) {
    if (!components.Separates(candidate.attributes)) continue;
    components.Join(candidate.attributes);
    ++pairs;
  }
  return pairs;
}

absl::Status BuyTree(const MstShares& shares, Purse& purse, MstSchedule& schedule) {
  LoopSchedule& loop = schedule.loop;
  if (loop.candidates.empty()) return absl::OkStatus();
  loop.measurements = PairsOfAForest(loop);
  const bool selects = loop.measurements < std::ssize(loop.candidates);
  if (selects) {
    const int64_t selections = PercentOf(purse.left(), shares.selection_percent);
    ASSIGN_OR_RETURN(schedule.selection, purse.BuySelections(selections / loop.measurements,
                                                             loop.measurements, "a selection of each pair"));
  }
  ASSIGN_OR_RETURN(loop.noise, purse.BuyCounts(purse.left() / loop.measurements, 1, loop.measurements,
                                               absl::StrCat(loop.measurements, " pairs")));
  return absl::OkStatus();
}

}  // namespace

const std::vector<Setting>& MstSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      IntegerSetting("one_way_percent", "the share of the budget that measures the one-way marginals", 33,
                     {1, 99}),
      IntegerSetting("selection_percent", "the share of what is left that chooses the pairs to measure", 50,
                     {1, 99}),
      MaxCellsSetting(), LastSweepsSetting(), SlackSetting()};
  return *settings;
}

absl::StatusOr<MstSchedule> MakeMstSchedule(const SynthesisInput& input) {
  MstSchedule schedule;
  LoopSchedule& loop = schedule.loop;
  ASSIGN_OR_RETURN(loop, StartSchedule(input));
  ASSIGN_OR_RETURN(Purse purse, Purse::Open(input));
  ASSIGN_OR_RETURN(const MstShares shares, ReadMstSettings(input, loop));
  RETURN_IF_ERROR(CheckOneWays(input.domain, loop));
  HoldConstraints(input.domain, loop);
  const int64_t most_cells = std::min(loop.fit.max_cells, kMostCellsOfAnEstimate);
  loop.candidates = CandidatesOf(input.domain, SetsOf(input.workload), CandidateSets::kPairs,
                                 CandidateWeights::kNone, most_cells);
  RETURN_IF_ERROR(BuyFirstDraws(shares.one_way_percent, purse, loop));
  RETURN_IF_ERROR(BuyTree(shares, purse, schedule));
  RETURN_IF_ERROR(CheckNumberOf(loop.candidates, "mst"));
  if (schedule.selection)
    RETURN_IF_ERROR(CheckCellsOf(input.domain, loop.candidates, "workload", "the method dpsyn"));
  FinishSchedule(input, purse, loop);
  return schedule;
}

std::vector<std::string> DescribeSchedule(const MstSchedule& schedule) {
  const LoopSchedule& loop = schedule.loop;
  std::vector<std::string> lines = DescribeFirstDraws(loop);
  size_t next = lines.size();
  if (schedule.selection) {
    lines.push_back(absl::StrCat(loop.measurements, " times: choose among ", loop.candidates.size(),
                                 " pairs one that joins two parts of the tree, ",
                                 Describe(loop.draws[next++].event)));
  }
  if (loop.measurements > 0) {
    lines.push_back(absl::StrCat(loop.measurements, " times: the counts of a pair of the tree, ",
                                 Describe(loop.draws[next].event)));
  }
  lines.push_back(DescribeCells(loop));
  return lines;
}

}  // namespace curator::dp
