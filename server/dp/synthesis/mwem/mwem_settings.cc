#include "dp/synthesis/mwem/mwem_settings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/settings.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostRounds = 1000;
constexpr int64_t kGuessedRecords = 10'000;
constexpr int64_t kInitPercent = 20;
constexpr int64_t kSelectionPercentOfMarginals = 15;
constexpr int64_t kSelectionPercentOfVersion1 = 30;
constexpr int64_t kSelectionPercentOfQueries = 50;
constexpr int64_t kLastSweeps = 300;
// A sweep over tens of millions of cells takes a large part of a second.
constexpr int64_t kLastSweepsOfLargeTables = 30;
// Of all cliques, unless some marginals of the workload take more.
constexpr int64_t kUsualCellsOfCliques = int64_t{1} << 16;
constexpr int64_t kMarginalsInCliques = 8;

constexpr double kRoundsOfMarginals = 1.9;
constexpr double kLeastSlackOfMany = 4;

constexpr Choices<MwemIterate, 2> kIterates = {
    {{"last", MwemIterate::kLast}, {"average", MwemIterate::kAverage}}};
constexpr Choices<MwemRounds, 2> kAdaptive = {{{"no", MwemRounds::kFixed}, {"yes", MwemRounds::kAdaptive}}};
// Without a value the choice follows from the request.
constexpr Choices<std::optional<MwemForm>, 3> kForms = {
    {{"auto", std::nullopt}, {"dense", MwemForm::kDense}, {"factored", MwemForm::kFactored}}};
constexpr Choices<std::optional<MwemInit>, 4> kInits = {{{"auto", std::nullopt},
                                                         {"uniform", MwemInit::kUniform},
                                                         {"marginals", MwemInit::kMarginals},
                                                         {"domain", MwemInit::kDomain}}};

// A public guess.
int64_t AssumedRecords(const SynthesisInput& input) {
  return std::max<int64_t>(1, input.assume_records.value_or(kGuessedRecords));
}

bool HasListedQueries(const SynthesisInput& input) {
  return std::ranges::any_of(input.workload, [](const QueryGroup& group) {
    return std::holds_alternative<std::vector<LinearQuery>>(group.queries);
  });
}

bool HasBoxes(const SynthesisInput& input) {
  return std::ranges::any_of(
      input.workload, [](const QueryGroup& group) { return std::holds_alternative<Boxes>(group.queries); });
}

// Found by experiment under zCDP (docs/results/mwem-nltcs.md): noise grows with the square root of the number
// of rounds alone, and the more cells a marginal has the less of its signal it leaves. Under pure budgets,
// where noise grows with the rounds, and of version 1: the number of attributes.
double ComplexityOfMarginals(const SynthesisInput& input, const Budget& budget,
                             const AttributeSet& attributes) {
  const auto complexity = static_cast<double>(attributes.size());
  if (input.is_of_version_1 || WholeOf(budget).is_pure) return complexity;
  double mean_cells = 0;
  for (const QueryGroup& group : input.workload) {
    mean_cells += static_cast<double>(CellsUpTo(input.domain, group.attributes, kMostDenseCells)) /
                  static_cast<double>(input.workload.size());
  }
  return kRoundsOfMarginals * complexity * std::sqrt(std::sqrt(8 / std::max(8.0, mean_cells)));
}

// See DefaultRounds().
double ComplexityOf(const SynthesisInput& input, const Budget& budget, const AttributeSet& attributes) {
  if (AreWholeMarginals(input.workload)) return ComplexityOfMarginals(input, budget, attributes);
  int digits = 1;
  for (const uint32_t attribute : attributes)
    digits += static_cast<int>(
        std::bit_width(static_cast<uint64_t>(input.domain.attributes()[attribute].size() - 1)));
  // Ranges overlap: a few of them say much of what all the others would.
  return HasListedQueries(input) ? digits : 0.4 * digits;
}

// Noise in cells and parities is followed less: few answers bear on the same records, so nothing averages it
// out, and a cell that noise denies is lost. Of many attributes more is noise.
double DefaultSlack(const SynthesisInput& input, const AttributeSet& attributes,
                    const MwemSettings& settings) {
  if (settings.init == MwemInit::kDomain || HasListedQueries(input)) return 1;
  const double slack = static_cast<double>(settings.rounds) / 100;
  const bool has_many = attributes.size() > kManyAttributes && !input.is_of_version_1;
  return has_many ? std::max(kLeastSlackOfMany, slack) : slack;
}

// So many that cliques can hold some marginals of the workload, beside the single attributes.
int64_t CellsOfCliques(const SynthesisInput& input, const AttributeSet& attributes) {
  int64_t smallest = kMostDenseCells;
  for (const AttributeSet& set : SetsOf(input.workload))
    smallest = std::min(smallest, CellsUpTo(input.domain, set, kMostDenseCells));
  int64_t cells = kMarginalsInCliques * smallest;
  for (const int64_t size : input.domain.SizesOf(attributes)) cells += size;
  return std::clamp(cells, kUsualCellsOfCliques, kMostDenseCells);
}

absl::Status ReadForm(const SynthesisInput& input, const AttributeSet& attributes, SettingsReader& reader,
                      MwemSettings& settings) {
  const std::optional<int64_t> cells = input.domain.CellCount(attributes);
  ASSIGN_OR_RETURN(const std::optional<MwemForm> form, reader.Choice("form", kForms));
  const bool held_whole = cells && *cells <= kMostCellsHeldWhole;
  const bool fits_whole = cells && *cells <= kMostDenseCells;
  int64_t most = fits_whole ? kMostDenseCells : kMostCellsHeldWhole;
  const bool in_cliques = form == MwemForm::kFactored || (!form && !held_whole);
  if (in_cliques && !input.is_of_version_1) most = CellsOfCliques(input, attributes);
  ASSIGN_OR_RETURN(settings.max_cells, reader.Integer("max_cells", most));
  const bool prefers_dense = held_whole && *cells <= settings.max_cells;
  settings.form = form.value_or(prefers_dense ? MwemForm::kDense : MwemForm::kFactored);
  return absl::OkStatus();
}

int64_t DefaultLastSweeps(const SynthesisInput& input, const AttributeSet& attributes,
                          const MwemSettings& settings) {
  const std::optional<int64_t> cells = input.domain.CellCount(attributes);
  const bool whole = settings.form == MwemForm::kDense || input.is_of_version_1;
  const bool is_large = whole && (!cells || *cells > kMostCellsHeldWhole);
  return std::max(is_large ? kLastSweepsOfLargeTables : kLastSweeps, settings.sweeps);
}

// So much that each one-way marginal gets what a round gets, and at most half.
int64_t PercentForMarginals(size_t attributes, int64_t rounds) {
  const auto marginals = static_cast<int64_t>(attributes);
  return std::clamp<int64_t>(100 * marginals / (marginals + rounds), 1, 50);
}

// How far noise moves one count, when all one-way marginals are measured with this share of the budget:
// its variance. Without fractional powers, so that every machine finds the same.
absl::StatusOr<double> VarianceOfMarginals(const SynthesisInput& input, const Budget& budget,
                                           const AttributeSet& attributes, int64_t percent) {
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(input.unit_bound, static_cast<int64_t>(attributes.size())));
  const BudgetShare whole = WholeOf(budget);
  const double share = static_cast<double>(whole.units) * 1e-14 * static_cast<double>(percent);
  const double scale = static_cast<double>(sensitivity.l1) / share;
  return whole.is_pure ? 2 * scale * scale : static_cast<double>(sensitivity.l2_squared) / (2 * share);
}

// The attributes whose one-way marginals are measured first, where rounds would otherwise learn little else:
// in cliques, where attributes that no round reaches would stay uniform, those of which noise moves one cell
// by at most a quarter of the records; for ranges over several attributes, which need the attributes' own
// distributions, those of which noise moves a range over half of the values by no more.
AttributeSet MarginalsToMeasure(const SynthesisInput& input, const Budget& budget,
                                const AttributeSet& attributes, const MwemSettings& settings) {
  const bool joins_attributes = std::ranges::any_of(
      input.workload, [](const QueryGroup& group) { return group.attributes.size() > 1; });
  const bool learns_parts = settings.form == MwemForm::kFactored || HasBoxes(input);
  if (!joins_attributes || !learns_parts) return {};
  const absl::StatusOr<double> variance =
      VarianceOfMarginals(input, budget, attributes, PercentForMarginals(attributes.size(), settings.rounds));
  // The sensitivity overflows for this unit bound: nothing is measured.
  if (!variance.ok()) return {};
  const auto is_drowned = [&](uint32_t attribute) {
    const auto size = static_cast<double>(input.domain.attributes()[attribute].size());
    const double cells = settings.form == MwemForm::kFactored && !input.is_of_version_1 ? 1 : size / 2;
    return std::sqrt(*variance * cells) > 0.25 * static_cast<double>(AssumedRecords(input));
  };
  if (input.is_of_version_1 && std::ranges::any_of(attributes, is_drowned)) return {};
  AttributeSet measured;
  std::ranges::remove_copy_if(attributes, std::back_inserter(measured), is_drowned);
  return measured;
}

absl::Status ReadInit(const SynthesisInput& input, const Budget& budget, const AttributeSet& attributes,
                      SettingsReader& reader, MwemSettings& settings) {
  ASSIGN_OR_RETURN(const std::optional<MwemInit> init, reader.Choice("init", kInits));
  settings.one_ways = init ? attributes : MarginalsToMeasure(input, budget, attributes, settings);
  settings.init = init.value_or(settings.one_ways.empty() ? MwemInit::kUniform : MwemInit::kMarginals);
  const int64_t percent = settings.init == MwemInit::kMarginals
                              ? PercentForMarginals(settings.one_ways.size(), settings.rounds)
                              : kInitPercent;
  ASSIGN_OR_RETURN(settings.init_percent, reader.Integer("init_percent", percent));
  return absl::OkStatus();
}

int64_t DefaultSelection(const SynthesisInput& input) {
  if (!AreWholeMarginals(input.workload)) return kSelectionPercentOfQueries;
  return input.is_of_version_1 ? kSelectionPercentOfVersion1 : kSelectionPercentOfMarginals;
}

absl::Status CheckForm(const MwemSettings& settings, bool fits_whole) {
  if (settings.iterate == MwemIterate::kAverage && settings.form == MwemForm::kFactored) {
    return InvalidField("settings.iterate",
                        "average needs the dense form: products of different parts have no common average");
  }
  if (settings.init == MwemInit::kDomain && !fits_whole) {
    return InvalidField("settings.init", absl::StrCat("domain needs one table of all cells, which has more "
                                                      "than max_cells (",
                                                      settings.max_cells, ")"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReadMwemSettings> ReadSettings(const SynthesisInput& input, const Budget& budget,
                                              int64_t candidates) {
  const AttributeSet attributes = Union(SetsOf(input.workload));
  SettingsReader reader(MwemSettingsTable(), input.settings);
  MwemSettings settings;
  const int64_t most_rounds = std::min(candidates, kMostRounds);
  const int64_t rounds = std::min(most_rounds, DefaultRounds(budget, ComplexityOf(input, budget, attributes),
                                                             candidates, AssumedRecords(input)));
  ASSIGN_OR_RETURN(settings.rounds, reader.Integer("rounds", rounds, IntegerRange{1, most_rounds}));
  // A marginal's error is a sum over its cells, and detected more easily than that of one query.
  ASSIGN_OR_RETURN(settings.selection_percent, reader.Integer("selection_percent", DefaultSelection(input)));
  ASSIGN_OR_RETURN(settings.sweeps, reader.Integer("sweeps"));
  RETURN_IF_ERROR(ReadForm(input, attributes, reader, settings));
  ASSIGN_OR_RETURN(settings.last_sweeps,
                   reader.Integer("last_sweeps", DefaultLastSweeps(input, attributes, settings)));
  ASSIGN_OR_RETURN(settings.converged, reader.Real("settled"));
  ASSIGN_OR_RETURN(settings.iterate, reader.Choice("iterate", kIterates));
  RETURN_IF_ERROR(ReadInit(input, budget, attributes, reader, settings));
  ASSIGN_OR_RETURN(settings.slack, reader.Real("slack", DefaultSlack(input, attributes, settings)));
  ASSIGN_OR_RETURN(settings.adaptive, reader.Choice("adaptive", kAdaptive));
  const std::optional<int64_t> cells = input.domain.CellCount(attributes);
  RETURN_IF_ERROR(CheckForm(settings, cells && *cells <= settings.max_cells));
  RETURN_IF_ERROR(reader.Finish());
  ReadMwemSettings read{.settings = settings, .used = reader.used()};
  read.used["form"] = NameOf(kForms, std::optional(settings.form));
  read.used["init"] = NameOf(kInits, std::optional(settings.init));
  return read;
}

int64_t DefaultRounds(const Budget& budget, double complexity, int64_t candidates, int64_t records) {
  // Found by experiment on tables of 5,000 to 50,000 records; only square roots, so that every machine finds
  // the same.
  double rounds = 1.5 * complexity;
  const BudgetShare whole = WholeOf(budget);
  if (whole.is_pure) {
    const double signal = static_cast<double>(records) * static_cast<double>(whole.units) / 1e12 / 2000;
    rounds *= std::sqrt(std::sqrt(signal));
  } else {
    const double rho = static_cast<double>(whole.units) / 1e12;
    const double fourth_root = std::sqrt(std::sqrt(static_cast<double>(records) * std::sqrt(2 * rho) / 200));
    rounds *= fourth_root * std::sqrt(fourth_root);
  }
  if (rounds > 0.7 * static_cast<double>(candidates)) return candidates;
  return std::max<int64_t>(1, static_cast<int64_t>(rounds));
}

const std::vector<Setting>& MwemSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      IntegerSetting(
          "rounds",
          "how many queries (marginals, or single queries of other groups) are measured; all of the "
          "workload, without selection, when equal to its size",
          "chosen from the budget, the workload and the assumed number of records"),
      IntegerSetting("selection_percent", "the share of a round's budget that chooses what to measure",
                     absl::StrCat(kSelectionPercentOfMarginals, " for marginals, ",
                                  kSelectionPercentOfQueries, " for other queries"),
                     IntegerRange{1, 99}),
      ChoiceSetting("iterate",
                    "last: the final weights; average: of the weights after every round (dense form only)",
                    kIterates),
      IntegerSetting("sweeps", "how often all measurements are replayed in a round at most", 10, {1, 1000}),
      IntegerSetting("last_sweeps", "how often all measurements are replayed after the last round at most",
                     absl::StrCat(kLastSweeps, ", or ", kLastSweepsOfLargeTables,
                                  " where one table has more than ", kMostCellsHeldWhole, " cells"),
                     IntegerRange{1, 100'000}),
      RealSetting("settled",
                  "a replay ends when a sweep changes the fit to no answer by more than this many standard "
                  "deviations of its noise",
                  0.01, {1e-9, 10}),
      RealSetting("slack", "how far answers may be missed in favour of uniformity, in units of their noise",
                  absl::StrCat("a hundredth of the rounds for marginals and ranges, at least ",
                               kLeastSlackOfMany, " of more than ", kManyAttributes,
                               " attributes; 1 for other queries, and after measuring every cell"),
                  RealRange{0.001, 1000}),
      ChoiceSetting(
          "init",
          "what is measured beforehand. uniform: nothing; marginals: every one-way marginal; domain: "
          "every cell; auto: in the factored form, and for ranges over several attributes, those one-way "
          "marginals that noise would not drown; else nothing",
          kInits),
      IntegerSetting("init_percent",
                     "the share of the budget that the measurement beforehand costs; with init=uniform it "
                     "costs nothing",
                     absl::StrCat(kInitPercent,
                                  " for domain; as much for each marginal as for a round, at most 50, for "
                                  "marginals"),
                     IntegerRange{1, 99}),
      ChoiceSetting(
          "adaptive",
          absl::StrCat("no: all rounds are alike; yes: ", kAdaptiveStages,
                       " stages of up to `rounds` each, ended when the signal drops below the noise; "
                       "a round costs twice what one of the stage before costs. The whole schedule "
                       "is charged"),
          kAdaptive),
      ChoiceSetting("form",
                    "dense: one table of all cells; factored: the cliques of a junction tree of what is "
                    "measured; auto: by the number of cells",
                    kForms),
      IntegerSetting(
          "max_cells",
          "cells of all tables that are held in memory; candidates that would need more are not chosen",
          absl::StrCat(kMostDenseCells, ", or ", kMostCellsHeldWhole, " where the domain has more; ",
                       kUsualCellsOfCliques,
                       ", or more where each marginal of the workload is large, when "
                       "factored"),
          IntegerRange{1, kMostDenseCells})};
  return *settings;
}

}  // namespace curator::dp
