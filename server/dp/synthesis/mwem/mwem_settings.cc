#include "dp/synthesis/mwem/mwem_settings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/dense/product_model.h"
#include "dp/synthesis/settings_reader.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostRounds = 1000;
constexpr int64_t kGuessedRecords = 10'000;
constexpr int64_t kSelectionPercentOfQueries = 50;
// A sweep over tens of millions of cells takes a large part of a second.
constexpr int64_t kLastSweepsOfLargeDomains = 30;

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

// See DefaultRounds().
double ComplexityOf(const SynthesisInput& input, const AttributeSet& attributes) {
  if (AreWholeMarginals(input.workload)) return static_cast<double>(attributes.size());
  int digits = 1;
  for (const uint32_t attribute : attributes)
    digits += static_cast<int>(
        std::bit_width(static_cast<uint64_t>(input.domain.attributes()[attribute].size() - 1)));
  // Ranges overlap: a few of them say much of what all the others would.
  return HasListedQueries(input) ? digits : 0.4 * digits;
}

// Noise in cells and parities is followed less: few answers bear on the same records, so nothing averages it
// out, and a cell that noise denies is lost.
double DefaultSlack(const SynthesisInput& input, const MwemSettings& settings) {
  if (settings.init == MwemInit::kDomain || HasListedQueries(input)) return 1;
  return static_cast<double>(settings.rounds) / 100;
}

absl::Status ReadForm(const SynthesisInput& input, const AttributeSet& attributes, SettingsReader& reader,
                      MwemSettings& settings) {
  const std::optional<int64_t> cells = input.domain.CellCount(attributes);
  ASSIGN_OR_RETURN(const std::string form, reader.Choice("form", {"auto", "dense", "factored"}));
  const bool held_whole = cells && *cells <= kMostCellsHeldWhole;
  const bool fits_whole = cells && *cells <= kMostDenseCells;
  const int64_t most = fits_whole ? kMostDenseCells : kMostCellsHeldWhole;
  ASSIGN_OR_RETURN(settings.max_cells, reader.Integer("max_cells", most, 1, kMostDenseCells));
  const bool dense = form == "dense" || (form == "auto" && held_whole && *cells <= settings.max_cells);
  settings.form = dense ? MwemForm::kDense : MwemForm::kFactored;
  return absl::OkStatus();
}

// So much that each one-way marginal gets what a round gets, and at most half.
int64_t PercentForMarginals(size_t attributes, int64_t rounds) {
  const auto marginals = static_cast<int64_t>(attributes);
  return std::clamp<int64_t>(100 * marginals / (marginals + rounds), 1, 50);
}

// How far noise moves a range over half of the values of the largest attribute, when all one-way marginals
// are measured with this share of the budget. Square roots only, so that every machine finds the same.
absl::StatusOr<double> NoiseOfMarginals(const SynthesisInput& input, const Budget& budget,
                                        const AttributeSet& attributes, int64_t percent) {
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MarginalsSensitivity(input.unit_bound, static_cast<int64_t>(attributes.size())));
  const auto* const pure = std::get_if<PureBudget>(&budget);
  const int64_t units = pure != nullptr ? pure->epsilon.units() : std::get<ZcdpBudget>(budget).rho.units();
  const double share = static_cast<double>(units) * 1e-14 * static_cast<double>(percent);
  const double scale = static_cast<double>(sensitivity.l1) / share;
  const double variance =
      pure != nullptr ? 2 * scale * scale : static_cast<double>(sensitivity.l2_squared) / (2 * share);
  int64_t largest = 1;
  for (const uint32_t attribute : attributes)
    largest = std::max(largest, input.domain.attributes()[attribute].size());
  return std::sqrt(variance * static_cast<double>(largest) / 2);
}

// One-way marginals first, where rounds would otherwise learn little else (in parts, attributes that no round
// reaches would stay uniform; ranges over several attributes need the attributes' own distributions) and
// where these marginals are not lost in noise.
MwemInit DefaultInit(const SynthesisInput& input, const Budget& budget, const AttributeSet& attributes,
                     const MwemSettings& settings) {
  const bool joins_attributes = std::ranges::any_of(
      input.workload, [](const QueryGroup& group) { return group.attributes.size() > 1; });
  const bool learns_parts = settings.form == MwemForm::kFactored || HasBoxes(input);
  if (!joins_attributes || !learns_parts) return MwemInit::kUniform;
  const absl::StatusOr<double> noise =
      NoiseOfMarginals(input, budget, attributes, PercentForMarginals(attributes.size(), settings.rounds));
  // What cannot be measured together, because a unit owns too many records, nobody has asked for.
  if (!noise.ok()) return MwemInit::kUniform;
  return *noise <= 0.25 * static_cast<double>(AssumedRecords(input)) ? MwemInit::kMarginals
                                                                     : MwemInit::kUniform;
}

absl::Status ReadInit(const SynthesisInput& input, const Budget& budget, const AttributeSet& attributes,
                      SettingsReader& reader, MwemSettings& settings) {
  ASSIGN_OR_RETURN(const std::string init, reader.Choice("init", {"auto", "uniform", "marginals", "domain"}));
  if (init == "auto") settings.init = DefaultInit(input, budget, attributes, settings);
  if (init == "marginals") settings.init = MwemInit::kMarginals;
  if (init == "domain") settings.init = MwemInit::kDomain;
  if (settings.init == MwemInit::kMarginals)
    settings.init_percent = PercentForMarginals(attributes.size(), settings.rounds);
  ASSIGN_OR_RETURN(settings.init_percent, reader.Integer("init_percent", settings.init_percent, 1, 99));
  return absl::OkStatus();
}

std::string NameOf(MwemForm form) {
  return form == MwemForm::kDense ? "dense" : "factored";
}

std::string NameOf(MwemInit init) {
  switch (init) {
    case MwemInit::kMarginals:
      return "marginals";
    case MwemInit::kDomain:
      return "domain";
    case MwemInit::kUniform:
      break;
  }
  return "uniform";
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
  const AttributeSet attributes = UnionOf(SetsOf(input.workload));
  SettingsReader reader(input.settings);
  MwemSettings settings;
  const int64_t most_rounds = std::min(candidates, kMostRounds);
  const int64_t rounds = std::min(
      most_rounds, DefaultRounds(budget, ComplexityOf(input, attributes), candidates, AssumedRecords(input)));
  ASSIGN_OR_RETURN(settings.rounds, reader.Integer("rounds", rounds, 1, most_rounds));
  // A marginal's error is a sum over its cells, and seen more easily than that of one query.
  const int64_t selection_percent =
      AreWholeMarginals(input.workload) ? settings.selection_percent : kSelectionPercentOfQueries;
  ASSIGN_OR_RETURN(settings.selection_percent, reader.Integer("selection_percent", selection_percent, 1, 99));
  ASSIGN_OR_RETURN(settings.sweeps, reader.Integer("sweeps", settings.sweeps, 1, 1000));
  const std::optional<int64_t> cells = input.domain.CellCount(attributes);
  if (!cells || *cells > kMostCellsHeldWhole) settings.last_sweeps = kLastSweepsOfLargeDomains;
  ASSIGN_OR_RETURN(
      settings.last_sweeps,
      reader.Integer("last_sweeps", std::max(settings.last_sweeps, settings.sweeps), 1, 100'000));
  ASSIGN_OR_RETURN(settings.settled, reader.Real("settled", settings.settled, 1e-9, 10));
  ASSIGN_OR_RETURN(const std::string iterate, reader.Choice("iterate", {"last", "average"}));
  settings.iterate = iterate == "average" ? MwemIterate::kAverage : MwemIterate::kLast;
  RETURN_IF_ERROR(ReadForm(input, attributes, reader, settings));
  RETURN_IF_ERROR(ReadInit(input, budget, attributes, reader, settings));
  ASSIGN_OR_RETURN(settings.slack, reader.Real("slack", DefaultSlack(input, settings), 0.001, 1000));
  ASSIGN_OR_RETURN(const std::string adaptive, reader.Choice("adaptive", {"no", "yes"}));
  settings.adaptive = adaptive == "yes" ? MwemRounds::kAdaptive : MwemRounds::kFixed;
  RETURN_IF_ERROR(CheckForm(settings, cells && *cells <= settings.max_cells));
  RETURN_IF_ERROR(reader.Finish());
  ReadMwemSettings read{.settings = settings, .used = reader.used()};
  read.used["form"] = NameOf(settings.form);
  read.used["init"] = NameOf(settings.init);
  return read;
}

int64_t DefaultRounds(const Budget& budget, double complexity, int64_t candidates, int64_t records) {
  // Found by experiment on tables of 5,000 to 50,000 records; only square roots, so that every machine finds
  // the same.
  double rounds = 1.5 * complexity;
  if (const auto* pure = std::get_if<PureBudget>(&budget)) {
    const double signal =
        static_cast<double>(records) * static_cast<double>(pure->epsilon.units()) / 1e12 / 2000;
    rounds *= std::sqrt(std::sqrt(signal));
  } else {
    const double rho = static_cast<double>(std::get<ZcdpBudget>(budget).rho.units()) / 1e12;
    const double fourth_root = std::sqrt(std::sqrt(static_cast<double>(records) * std::sqrt(2 * rho) / 200));
    rounds *= fourth_root * std::sqrt(fourth_root);
  }
  if (rounds > 0.7 * static_cast<double>(candidates)) return candidates;
  return std::max<int64_t>(1, static_cast<int64_t>(rounds));
}

const std::vector<Setting>& MwemSettingsForPeople() {
  static const auto* const settings = new std::vector<Setting>{
      {"rounds",
       "how many queries (marginals, or single queries of other groups) are measured; all of the workload, "
       "without selection, when equal to its size",
       "chosen from the budget, the workload and the assumed number of records"},
      {"selection_percent", "the share of a round's budget that chooses what to measure, 1 to 99",
       "30 for marginals, 50 for other queries"},
      {"iterate", "last: the final weights; average: of the weights after every round (dense form only)",
       "last"},
      {"sweeps", "how often all measurements are replayed in a round at most", "10"},
      {"last_sweeps", "how often all measurements are replayed after the last round at most",
       absl::StrCat("300, or ", kLastSweepsOfLargeDomains, " for domains that are held in parts by default")},
      {"settled",
       "a replay ends when a sweep changes the fit to no answer by more than this many standard deviations "
       "of "
       "its noise",
       "0.01"},
      {"slack", "how far answers may be missed in favour of uniformity, in units of their noise",
       "a hundredth of the rounds for marginals and ranges; 1 for other queries, and after measuring every "
       "cell"},
      {"init",
       "what is measured beforehand. uniform: nothing; marginals: every one-way marginal; domain: every "
       "cell; "
       "auto: marginals in the factored form and for ranges over several attributes, unless noise would "
       "drown "
       "them; else uniform",
       "auto"},
      {"init_percent",
       "the share of the budget that the measurement beforehand costs, 1 to 99; with init=uniform it costs "
       "nothing",
       "20 for domain; as much for each marginal as for a round, at most 50, for marginals"},
      {"adaptive",
       absl::StrCat("no: all rounds are alike; yes: ", kAdaptiveStages,
                    " stages of up to `rounds` each, ended when the signal drops below the noise; a round "
                    "costs twice what one of the stage before costs. The whole schedule is charged"),
       "no"},
      {"form",
       "dense: one table of all cells; factored: independent tables, joined when a measurement joins their "
       "attributes; auto: by the number of cells",
       "auto"},
      {"max_cells", "cells of all tables that are held in memory, 12 bytes each",
       absl::StrCat(kMostDenseCells, ", or ", kMostCellsHeldWhole, " where the domain has more")}};
  return *settings;
}

}  // namespace curator::dp
