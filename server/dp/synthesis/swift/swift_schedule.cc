#include "dp/synthesis/swift/swift_schedule.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/loop/fit_settings.h"
#include "dp/synthesis/loop/purse.h"
#include "dp/synthesis/loop/usual_shares.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostLooks = 8;

// Reads what the candidates follow from, then what follows from them.
absl::Status ReadSwiftSettings(const SynthesisInput& input, const BudgetShare& budget,
                               SwiftSchedule& schedule) {
  SettingsReader reader(SwiftSettingsTable(), input.settings);
  SwiftSettings& settings = schedule.settings;
  LoopSchedule& loop = schedule.loop;
  ASSIGN_OR_RETURN(settings.candidates, ReadFitAndCandidates(input, CandidateWeights::kNone, reader, loop));
  const LoopFacts facts = FactsOf(input, loop, budget);
  const int64_t most = std::clamp<int64_t>(facts.candidates, 1, kMostMeasurements);
  ASSIGN_OR_RETURN(
      settings.measurements,
      reader.Integer("measurements", std::min(most, UsualMeasurements(facts)), IntegerRange{1, most}));
  ASSIGN_OR_RETURN(settings.looks, reader.Integer("looks"));
  ASSIGN_OR_RETURN(settings.one_way_percent, reader.Integer("one_way_percent", UsualOneWayPercent(facts)));
  ASSIGN_OR_RETURN(settings.look_percent, reader.Integer("look_percent"));
  ASSIGN_OR_RETURN(settings.sweeps, reader.Integer("sweeps"));
  ASSIGN_OR_RETURN(loop.fit.slack, ReadSlack(settings.measurements, reader));
  RETURN_IF_ERROR(reader.Finish());
  loop.used_settings = reader.used();
  loop.used_settings["candidates"] = NameOfCandidates(settings.candidates);
  return absl::OkStatus();
}

absl::Status BuyLooksAndCounts(const Domain& domain, Purse& purse, SwiftSchedule& schedule) {
  LoopSchedule& loop = schedule.loop;
  if (loop.candidates.empty()) return absl::OkStatus();
  loop.measurements = schedule.settings.measurements;
  if (HasToChoose(domain, loop)) {
    schedule.looks = std::min(schedule.settings.looks, loop.measurements);
    const int64_t looks = PercentOf(purse.left(), schedule.settings.look_percent);
    ASSIGN_OR_RETURN(schedule.error_noise,
                     purse.BuyErrors(looks / schedule.looks, std::ssize(loop.candidates), schedule.looks,
                                     "looks at all candidates"));
  }
  ASSIGN_OR_RETURN(loop.noise, purse.BuyCounts(purse.left() / loop.measurements, 1, loop.measurements,
                                               absl::StrCat(loop.measurements, " measurements")));
  return absl::OkStatus();
}

}  // namespace

const std::vector<Setting>& SwiftSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      IntegerSetting("measurements", "how many marginals are measured beside the one-way marginals",
                     "chosen from the budget, the domain and the assumed number of records"),
      IntegerSetting("looks",
                     "how often the errors of all candidates are looked at; after each look its share of the "
                     "measurements follows",
                     1, {1, kMostLooks}),
      IntegerSetting("one_way_percent", "the share of the budget that measures the one-way marginals",
                     "chosen from the budget, the domain and the assumed number of records",
                     IntegerRange{1, 99}),
      IntegerSetting("look_percent", "the share of what is left that pays for the looks", 10, {1, 99}),
      CandidatesSetting(),
      MaxCellsSetting(),
      IntegerSetting("sweeps", "how often all measurements are fitted before a look at most", 30, {1, 1000}),
      LastSweepsSetting(),
      SlackSetting()};
  return *settings;
}

absl::StatusOr<SwiftSchedule> MakeSwiftSchedule(const SynthesisInput& input) {
  SwiftSchedule schedule;
  ASSIGN_OR_RETURN(schedule.loop, StartSchedule(input));
  ASSIGN_OR_RETURN(Purse purse, Purse::Open(input));
  RETURN_IF_ERROR(ReadSwiftSettings(input, purse.whole(), schedule));
  RETURN_IF_ERROR(BuyFirstDraws(schedule.settings.one_way_percent, purse, schedule.loop));
  RETURN_IF_ERROR(BuyLooksAndCounts(input.domain, purse, schedule));
  RETURN_IF_ERROR(CheckNumberOf(schedule.loop.candidates, "swift"));
  if (schedule.looks > 0) {
    RETURN_IF_ERROR(CheckCellsOf(input.domain, schedule.loop.candidates, "settings.candidates",
                                 "candidates=pairs, or the method dpsyn"));
  }
  FinishSchedule(input, purse, schedule.loop);
  return schedule;
}

std::vector<std::string> DescribeSchedule(const SwiftSchedule& schedule) {
  const LoopSchedule& loop = schedule.loop;
  std::vector<std::string> lines = DescribeFirstDraws(loop);
  size_t next = lines.size();
  if (schedule.looks > 0) {
    lines.push_back(absl::StrCat(schedule.looks == 1 ? "once" : absl::StrCat(schedule.looks, " times"),
                                 ": the errors of ", loop.candidates.size(), " marginals, ",
                                 Describe(loop.draws[next++].event)));
  }
  if (loop.measurements > 0) {
    lines.push_back(absl::StrCat(loop.measurements, " times: the counts of one of the marginals, ",
                                 Describe(loop.draws[next].event)));
  }
  lines.push_back(DescribeCells(loop));
  return lines;
}

LoopWork WorkOfSwift(const SwiftSchedule& schedule) {
  constexpr int64_t kTreesOfALook = 8;
  return {.estimates = schedule.looks,
          .checks = schedule.looks * kTreesOfALook,
          .early_sweeps = static_cast<double>(std::max<int64_t>(0, schedule.looks - 1)) / 2 *
                          static_cast<double>(schedule.settings.sweeps)};
}

}  // namespace curator::dp
