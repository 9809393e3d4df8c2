#include "dp/synthesis/aim/aim_schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/loop/fit_settings.h"
#include "dp/synthesis/loop/purse.h"
#include "dp/synthesis/loop/usual_shares.h"
#include "dp/synthesis/prior/prior_records.h"

namespace curator::dp {
namespace {

constexpr Choices<CandidateWeights, 2> kAimWeights = {
    {{"none", CandidateWeights::kNone}, {"overlap", CandidateWeights::kOverlap}}};

absl::Status CheckNamedPrior(const SynthesisInput& input, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  if (input.prior == nullptr) return InvalidField("settings.prior", "names no public data");
  return CheckPrior(input.domain, *input.prior);
}

// Reads what the candidates follow from, then what follows from them.
absl::Status ReadAimSettings(const SynthesisInput& input, const BudgetShare& budget, AimSchedule& schedule) {
  SettingsReader reader(AimSettingsTable(), input.settings);
  AimSettings& settings = schedule.settings;
  LoopSchedule& loop = schedule.loop;
  ASSIGN_OR_RETURN(settings.weights, reader.Choice("weights", kAimWeights));
  ASSIGN_OR_RETURN(settings.candidates, ReadFitAndCandidates(input, settings.weights, reader, loop));
  const LoopFacts facts = FactsOf(input, loop, budget);
  const int64_t most_rounds = std::clamp<int64_t>(facts.candidates, 1, kMostMeasurements);
  ASSIGN_OR_RETURN(settings.rounds, reader.Integer("rounds", std::min(most_rounds, UsualMeasurements(facts)),
                                                   IntegerRange{0, most_rounds}));
  if (settings.rounds == 0) loop.candidates.clear();
  ASSIGN_OR_RETURN(settings.one_way_percent, reader.Integer("one_way_percent", UsualOneWayPercent(facts)));
  ASSIGN_OR_RETURN(settings.selection_percent, reader.Integer("selection_percent"));
  ASSIGN_OR_RETURN(settings.sweeps, reader.Integer("sweeps"));
  ASSIGN_OR_RETURN(loop.fit.slack, ReadSlack(settings.rounds, reader));
  ASSIGN_OR_RETURN(const std::string prior, reader.Text("prior"));
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckNamedPrior(input, prior));
  schedule.uses_public = !prior.empty() && !loop.candidates.empty();
  loop.used_settings = reader.used();
  loop.used_settings["candidates"] = NameOfCandidates(settings.candidates);
  return absl::OkStatus();
}

absl::Status BuyRounds(const Domain& domain, Purse& purse, AimSchedule& schedule) {
  LoopSchedule& loop = schedule.loop;
  if (loop.candidates.empty()) return absl::OkStatus();
  loop.measurements = schedule.settings.rounds;
  const int64_t round = purse.left() / loop.measurements;
  const bool selects = HasToChoose(domain, loop);
  const int64_t selection = selects ? PercentOf(round, schedule.settings.selection_percent) : 0;
  const std::string rounds = absl::StrCat(loop.measurements, " rounds");
  if (round < 1) return purse.whole().TooSmallFor(rounds);
  if (selects) {
    ASSIGN_OR_RETURN(schedule.selection,
                     purse.BuySelections(selection, loop.measurements, "a selection in each round"));
  }
  ASSIGN_OR_RETURN(loop.noise, purse.BuyCounts(round - selection, 1, loop.measurements, rounds));
  return absl::OkStatus();
}

}  // namespace

const std::vector<Setting>& AimSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      IntegerSetting("rounds", "how many marginals are measured beside the one-way marginals; 0: none",
                     "chosen from the budget, the domain and the assumed number of records"),
      IntegerSetting("one_way_percent", "the share of the budget that measures the one-way marginals",
                     "chosen from the budget, the domain and the assumed number of records",
                     IntegerRange{1, 99}),
      IntegerSetting("selection_percent", "the share of a round's budget that chooses what to measure", 15,
                     {1, 99}),
      CandidatesSetting(),
      ChoiceSetting("weights",
                    "how much the error of a candidate counts in a selection. none: as it is; overlap: as "
                    "often as its attributes are in marginals of the workload",
                    kAimWeights),
      MaxCellsSetting(),
      IntegerSetting("sweeps", "how often all measurements are fitted in a round at most", 10, {1, 1000}),
      LastSweepsSetting(),
      SlackSetting(),
      TextSetting("prior",
                  "public data from which marginals may be taken instead of measured: a public dataset's "
                  "name, or the id of a synthetic release",
                  "", "none: all are measured")};
  return *settings;
}

absl::StatusOr<AimSchedule> MakeAimSchedule(const SynthesisInput& input) {
  AimSchedule schedule;
  ASSIGN_OR_RETURN(schedule.loop, StartSchedule(input));
  ASSIGN_OR_RETURN(Purse purse, Purse::Open(input));
  RETURN_IF_ERROR(ReadAimSettings(input, purse.whole(), schedule));
  RETURN_IF_ERROR(BuyFirstDraws(schedule.settings.one_way_percent, purse, schedule.loop));
  RETURN_IF_ERROR(BuyRounds(input.domain, purse, schedule));
  RETURN_IF_ERROR(CheckNumberOf(schedule.loop.candidates, "aim"));
  if (schedule.selection || schedule.uses_public) {
    RETURN_IF_ERROR(CheckCellsOf(input.domain, schedule.loop.candidates, "settings.candidates",
                                 "candidates=pairs, or the method dpsyn"));
  }
  FinishSchedule(input, purse, schedule.loop);
  return schedule;
}

std::vector<std::string> DescribeSchedule(const AimSchedule& schedule) {
  const LoopSchedule& loop = schedule.loop;
  std::vector<std::string> lines = DescribeFirstDraws(loop);
  size_t next = lines.size();
  if (schedule.selection) {
    lines.push_back(absl::StrCat(loop.measurements, " times: choose among ", loop.candidates.size(),
                                 schedule.uses_public
                                     ? " marginals what improves the model most, to measure it or to take "
                                       "it from the public data, "
                                     : " marginals the one that is approximated worst, ",
                                 Describe(loop.draws[next++].event)));
  }
  if (loop.measurements > 0) {
    lines.push_back(absl::StrCat(loop.measurements, " times: the counts of one of the marginals, ",
                                 Describe(loop.draws[next].event)));
  }
  if (schedule.uses_public) {
    lines.push_back(absl::StrCat("without a draw: at most ", WorkOfAim(schedule).public_marginals,
                                 " marginals from the public data, trusted as far as noisy answers agree"));
  }
  lines.push_back(DescribeCells(loop));
  return lines;
}

LoopWork WorkOfAim(const AimSchedule& schedule) {
  const int64_t rounds = schedule.loop.measurements;
  const auto sweeps = static_cast<double>(schedule.settings.sweeps);
  LoopWork work;
  if (schedule.selection)
    work = {.estimates = rounds, .checks = rounds, .early_sweeps = static_cast<double>(rounds) / 2 * sweeps};
  if (!schedule.uses_public) return work;
  const int64_t forests = 2 * kPublicForests;
  const auto attributes = std::ssize(schedule.loop.attributes);
  const int64_t taken = forests * (attributes - 1) + (schedule.selection ? rounds : 0);
  work.public_marginals = std::min(std::ssize(schedule.loop.candidates), taken);
  work.estimates = 2 * work.estimates + forests;
  work.checks = 2 * work.checks + forests;
  work.early_sweeps = 2 * work.early_sweeps + static_cast<double>(forests) * sweeps;
  return work;
}

}  // namespace curator::dp
