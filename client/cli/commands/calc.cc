// `curator calc`: the privacy calculators, on this machine, without a server (docs/adr/0006).
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/calc_schedule.h"
#include "client/cli/syntax/number_checks.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/comparison.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/event.h"

namespace curator::cli {
namespace {

struct ComposeEvents {
  std::vector<std::string> events;  // "gaussian:sigma=10,count=20" (calc_schedule.h)
  std::string file;                 // a curator.v1.Event in JSON; empty for none
  std::string delta;
};

struct ConvertPrivacy {
  std::string epsilon;
  std::string delta;
  std::string rho;
  std::optional<int64_t> group;
};

struct CalibrateNoise {
  std::string epsilon;
  std::string delta;
  std::string rho;  // instead of both
  std::string sensitivity = "1";
};

// The two columns of one number: rounded in tables under `title`, exact in JSON and CSV under `key`.
Column DisplayColumn(const std::string& key, const std::string& title) {
  return {key + "_text", title, Align::kRight, ShownIn::kTables};
}

Column ColumnForPrograms(const std::string& key, const std::string& title) {
  return {key, title, Align::kRight, ShownIn::kJsonAndCsv};
}

std::string_view FormatValidity(dp::Validity validity) {
  return validity == dp::Validity::kAdaptive ? "adaptive" : "fixed schedule";
}

Row RowOf(const dp::CalculatedEpsilon& row) {
  const bool lower = row.side == dp::BoundSide::kLower;
  Row cells = {std::string(row.calculator),
               std::string(lower ? "lower" : "upper"),
               std::monostate(),
               std::monostate(),
               std::string(FormatValidity(row.validity)),
               row.remark};
  if (row.epsilon.ok()) {
    cells[2] = lower ? RoundedDownText(*row.epsilon) : RoundedUpText(*row.epsilon);
    cells[3] = AmountOf(*row.epsilon);
  } else {
    cells[5] = std::string(row.epsilon.status().message());
  }
  return cells;
}

// The least upper bound of one validity.
const dp::CalculatedEpsilon* LeastOf(const std::vector<dp::CalculatedEpsilon>& rows, dp::Validity needed) {
  const dp::CalculatedEpsilon* least = nullptr;
  for (const dp::CalculatedEpsilon& row : rows) {
    const bool valid = needed == dp::Validity::kFixedSchedule || row.validity == dp::Validity::kAdaptive;
    if (!valid || row.side == dp::BoundSide::kLower || !row.epsilon.ok()) continue;
    if (least == nullptr || *row.epsilon < *least->epsilon) least = &row;
  }
  return least;
}

void AddLeast(const std::vector<dp::CalculatedEpsilon>& rows, dp::Validity needed, const std::string& key,
              const std::string& title, Document& document) {
  const dp::CalculatedEpsilon* least = LeastOf(rows, needed);
  if (least == nullptr || !std::isfinite(*least->epsilon)) return;
  document.fields.push_back({key, title, AmountOf(*least->epsilon), ShownIn::kJsonAndCsv});
  document.fields.push_back(
      {key + "_text", title,
       absl::StrCat(RoundedUpText(*least->epsilon), " (", std::string(least->calculator), ")"),
       ShownIn::kTables});
}

absl::Status Run(Session& session, const ComposeEvents& command) {
  ASSIGN_OR_RETURN(const dp::Schedule schedule,
                   command.file.empty() ? ParseEvents(command.events) : ReadSchedule(command.file));
  ASSIGN_OR_RETURN(const dp::Delta delta, ParseDelta(command.delta));
  ASSIGN_OR_RETURN(const auto rows, dp::CompareCalculators(schedule, delta, dp::Effort::kThorough));

  Document document;
  std::vector<std::string> mechanisms;
  for (const dp::CountedEvent& part : schedule) {
    mechanisms.push_back(absl::StrCat(part.count, " x ", dp::Describe(part.event)));
  }
  document.fields = {{"schedule", "schedule", mechanisms}, {"delta", "delta", delta.ToString()}};
  AddLeast(rows, dp::Validity::kFixedSchedule, "least_fixed", "least for this schedule", document);
  AddLeast(rows, dp::Validity::kAdaptive, "least_adaptive", "least if chosen adaptively", document);
  Table table{"calculators",
              "",
              {{"calculator", "calculator"},
               {"bound", "bound"},
               DisplayColumn("epsilon", "epsilon"),
               ColumnForPrograms("epsilon", "epsilon"),
               {"valid", "valid"},
               {"remark", "remark"}},
              {}};
  for (const dp::CalculatedEpsilon& row : rows) table.rows.push_back(RowOf(row));
  document.tables.push_back(std::move(table));
  document.notes = {
      "adaptive: also when each mechanism is chosen after the earlier answers; fixed schedule: only when "
      "all is fixed beforehand"};
  session.Print(document);
  return absl::OkStatus();
}

Table ConversionTable() {
  return {"conversions",
          "",
          {{"quantity", "quantity"},
           {"form", "form"},
           DisplayColumn("value", "value"),
           ColumnForPrograms("value", "value"),
           {"source", "source"}},
          {}};
}

// Costs and epsilons round up; budgets, which promise something, round down.
enum class Rounding { kUp, kDown };

void Add(Table& table, const std::string& quantity, const std::string& form, double value, Rounding rounding,
         const std::string& source) {
  const std::string text = rounding == Rounding::kUp ? RoundedUpText(value) : RoundedDownText(value);
  table.rows.push_back({quantity, form, text, AmountOf(value), source});
}

constexpr char kBunSteinke[] = "Bun, Steinke 2016";
constexpr char kCanonneKamathSteinke[] = "Canonne, Kamath, Steinke 2020";
constexpr char kHarrisonManurangsi[] = "Harrison, Manurangsi 2025";

absl::StatusOr<Table> OfRhoAtDelta(dp::Rho rho, dp::Delta delta) {
  const dp::Interval cost = dp::Interval::Of(rho);
  const dp::Interval at = dp::Interval::Of(delta);
  Table table = ConversionTable();
  Add(table, "epsilon", "tight", dp::EpsilonOfZcdp(cost, at).Upper(), Rounding::kUp, kCanonneKamathSteinke);
  Add(table, "epsilon", "loose", dp::LooseZcdpEpsilon(cost, at), Rounding::kUp, kBunSteinke);
  return table;
}

absl::StatusOr<Table> OfRhoAtEpsilon(dp::Rho rho, dp::Epsilon epsilon) {
  Table table = ConversionTable();
  Add(table, "delta", "tight", dp::ZcdpDelta(dp::Interval::Of(rho), dp::Interval::Of(epsilon)), Rounding::kUp,
      kCanonneKamathSteinke);
  return table;
}

// The largest rho that keeps the promise: what a ZCDP account can spend.
absl::StatusOr<Table> OfPromise(dp::Epsilon epsilon, dp::Delta delta) {
  const dp::Interval promise = dp::Interval::Of(epsilon);
  const dp::Interval at = dp::Interval::Of(delta);
  const double tight = dp::LargestZcdp(promise, at).Lower();
  if (!(tight > 0)) return absl::OutOfRangeError("no rho keeps this promise");
  Table table = ConversionTable();
  Add(table, "rho", "tight", tight, Rounding::kDown, kCanonneKamathSteinke);
  Add(table, "rho", "loose", dp::LooseZcdpBudget(promise, at), Rounding::kDown, kBunSteinke);
  return table;
}

absl::StatusOr<Table> OfPure(dp::Epsilon epsilon) {
  const dp::Interval pure = dp::Interval::Of(epsilon);
  const dp::Interval squared = pure * pure;
  Table table = ConversionTable();
  Add(table, "rho of any mechanism", "tight", dp::ZcdpOfPure(pure).Upper(), Rounding::kUp,
      kHarrisonManurangsi);
  Add(table, "rho of any mechanism", "loose", (squared / dp::Interval(2)).Upper(), Rounding::kUp,
      kBunSteinke);
  Add(table, "rho of bounded range", "tight", dp::ZcdpOfBoundedRange(pure).Upper(), Rounding::kUp,
      kHarrisonManurangsi);
  Add(table, "rho of bounded range", "loose", (squared / dp::Interval(8)).Upper(), Rounding::kUp,
      "Cesar, Rogers 2021");
  Add(table, "rho of continuous laplace", "tight", dp::ZcdpOfContinuousLaplace(pure).Upper(), Rounding::kUp,
      kHarrisonManurangsi);
  return table;
}

// What was given, after groups are counted.
struct Given {
  std::optional<dp::Epsilon> epsilon;
  std::optional<dp::Delta> delta;
  std::optional<dp::Rho> rho;
};

absl::StatusOr<Given> ParseGiven(const ConvertPrivacy& command) {
  Given given;
  if (!command.epsilon.empty()) {
    ASSIGN_OR_RETURN(const dp::Epsilon epsilon, ParseEpsilon(command.epsilon));
    given.epsilon = epsilon;
  }
  if (!command.delta.empty()) {
    ASSIGN_OR_RETURN(const dp::Delta delta, ParseDelta(command.delta));
    given.delta = delta;
  }
  if (!command.rho.empty()) {
    ASSIGN_OR_RETURN(const dp::Rho rho, ParseRho(command.rho));
    given.rho = rho;
  }
  return given;
}

absl::StatusOr<Table> Converted(const Given& given) {
  if (given.rho && given.delta) return OfRhoAtDelta(*given.rho, *given.delta);
  if (given.rho) return OfRhoAtEpsilon(*given.rho, *given.epsilon);
  if (given.delta) return OfPromise(*given.epsilon, *given.delta);
  return OfPure(*given.epsilon);
}

// The same mechanism for a unit of several records. Rows are exact units, rounded up.
absl::StatusOr<Table> ForUnits(const Given& given, int64_t records) {
  dp::Event one{dp::PureEvent{given.epsilon.value_or(dp::Epsilon())}};
  if (given.rho) {
    one = {dp::ZcdpEvent{*given.rho}};
  } else if (given.delta) {
    one = {dp::ApproximateEvent{*given.epsilon, *given.delta}};
  }
  ASSIGN_OR_RETURN(const dp::Event group, dp::ForGroup(one, records));
  Table table = ConversionTable();
  const std::string form = absl::StrCat("group of ", records);
  const auto add = [&](const std::string& quantity, double value, const char* source) {
    Add(table, quantity, form, value, Rounding::kUp, source);
  };
  constexpr char kDworkRoth[] = "Dwork, Roth 2014";
  if (const auto* pure = std::get_if<dp::PureEvent>(&group.what)) {
    add("epsilon", dp::Interval::Of(pure->epsilon).Upper(), kDworkRoth);
  } else if (const auto* stated = std::get_if<dp::ApproximateEvent>(&group.what)) {
    add("epsilon", dp::Interval::Of(stated->epsilon).Upper(), kDworkRoth);
    add("delta", dp::Interval::Of(stated->delta).Upper(), kDworkRoth);
  } else {
    const dp::Rho rho = std::get<dp::ZcdpEvent>(group.what).rho;
    add("rho", dp::Interval::Of(rho).Upper(), kBunSteinke);
    if (given.delta) {
      add("epsilon", dp::EpsilonOfZcdp(dp::Interval::Of(rho), dp::Interval::Of(*given.delta)).Upper(),
          kCanonneKamathSteinke);
    } else if (given.epsilon) {
      add("delta", dp::ZcdpDelta(dp::Interval::Of(rho), dp::Interval::Of(*given.epsilon)),
          kCanonneKamathSteinke);
    }
  }
  return table;
}

absl::Status Run(Session& session, const ConvertPrivacy& command) {
  ASSIGN_OR_RETURN(const Given given, ParseGiven(command));
  ASSIGN_OR_RETURN(Table table, command.group ? ForUnits(given, *command.group) : Converted(given));
  Document document;
  if (given.rho) document.fields.push_back({"given_rho", "given rho", given.rho->ToString()});
  if (given.epsilon) {
    document.fields.push_back({"given_epsilon", "given epsilon", given.epsilon->ToString()});
  }
  if (given.delta) document.fields.push_back({"given_delta", "given delta", given.delta->ToString()});
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

// What one mechanism needs; `value` is its scale or sigma, rounded up, or why there is none.
struct Calibration {
  std::string mechanism;
  std::string parameter;
  absl::StatusOr<double> value;
  std::string how;
};

// Of discrete Laplace noise the variance is 1/(2 sinh^2(1/(2 scale))).
double StandardDeviation(const Calibration& calibration) {
  if (calibration.parameter == "sigma") return *calibration.value;
  if (calibration.mechanism == "laplace") return *calibration.value * std::sqrt(2.0);
  return 1 / (std::sqrt(2.0) * std::sinh(1 / (2 * *calibration.value)));
}

Row RowOf(const Calibration& calibration) {
  if (!calibration.value.ok()) {
    return {calibration.mechanism, calibration.parameter, std::monostate(),
            std::monostate(),      std::monostate(),      std::string(calibration.value.status().message())};
  }
  return {calibration.mechanism, calibration.parameter,          RoundedUpText(*calibration.value),
          *calibration.value,    StandardDeviation(calibration), calibration.how};
}

// A sigma for sensitivity 1 and then for `sensitivity`, rounded up.
double Scaled(double sigma, const dp::Rational& sensitivity) {
  return (dp::Interval::OfDouble(sigma) * dp::Interval::Of(sensitivity)).Upper();
}

absl::Status NeedsWholeShift() {
  return absl::InvalidArgumentError("noise on whole numbers needs a whole sensitivity");
}

std::vector<Calibration> ForPure(dp::Epsilon epsilon, const dp::Rational& sensitivity) {
  const double scale = (dp::Interval::Of(sensitivity) / dp::Interval::Of(epsilon)).Upper();
  absl::StatusOr<double> discrete = scale;
  if (sensitivity.denominator != 1) discrete = NeedsWholeShift();
  return {{"laplace", "scale", scale, "l1/epsilon"}, {"discrete-laplace", "scale", discrete, "l1/epsilon"}};
}

absl::StatusOr<double> DiscreteGaussianSigma(const dp::Interval& epsilon, const dp::Interval& delta,
                                             const dp::Rational& sensitivity) {
  if (sensitivity.denominator != 1) return NeedsWholeShift();
  ASSIGN_OR_RETURN(const int64_t thousandths,
                   dp::DiscreteGaussianSigmaThousandths(epsilon, delta, sensitivity.numerator));
  return dp::Interval::Of(dp::Rational{thousandths, 1000}).Upper();
}

std::vector<Calibration> ForApproximate(dp::Epsilon promise, dp::Delta promised_delta,
                                        const dp::Rational& sensitivity) {
  const dp::Interval epsilon = dp::Interval::Of(promise);
  const dp::Interval delta = dp::Interval::Of(promised_delta);
  const double rho = dp::LargestZcdp(epsilon, delta).Lower();
  absl::StatusOr<double> by_zcdp = absl::OutOfRangeError("no rho keeps this promise");
  if (rho > 0) by_zcdp = Scaled(dp::GaussianSigmaOfZcdp(rho), sensitivity);
  absl::StatusOr<double> classic = dp::ClassicGaussianSigma(epsilon, delta);
  if (classic.ok()) classic = Scaled(*classic, sensitivity);
  return {{"gaussian", "sigma", Scaled(dp::GaussianSigma(epsilon, delta), sensitivity),
           "analytic (Balle, Wang 2018)"},
          {"gaussian", "sigma", classic, "textbook, for epsilon <= 1 only"},
          {"discrete-gaussian", "sigma", DiscreteGaussianSigma(epsilon, delta, sensitivity),
           "its own curve, one count"},
          {"discrete-gaussian", "sigma", by_zcdp, "zcdp, any number of counts"}};
}

std::vector<Calibration> ForZcdp(dp::Rho rho, const dp::Rational& sensitivity) {
  const double sigma = Scaled(dp::GaussianSigmaOfZcdp(dp::Interval::Of(rho).Lower()), sensitivity);
  return {{"gaussian", "sigma", sigma, "l2/sqrt(2 rho)"},
          {"discrete-gaussian", "sigma", sigma, "l2/sqrt(2 rho)"}};
}

absl::StatusOr<std::vector<Calibration>> Calibrations(const CalibrateNoise& command) {
  ASSIGN_OR_RETURN(const dp::Rational sensitivity, ParsePositive(command.sensitivity, "sensitivity"));
  if (!command.rho.empty()) {
    ASSIGN_OR_RETURN(const dp::Rho rho, ParseRho(command.rho));
    return ForZcdp(rho, sensitivity);
  }
  ASSIGN_OR_RETURN(const dp::Epsilon epsilon, ParseEpsilon(command.epsilon));
  std::vector<Calibration> all = ForPure(epsilon, sensitivity);
  if (command.delta.empty()) return all;
  ASSIGN_OR_RETURN(const dp::Delta delta, ParseDelta(command.delta));
  for (Calibration& one : ForApproximate(epsilon, delta, sensitivity)) all.push_back(std::move(one));
  return all;
}

absl::Status Run(Session& session, const CalibrateNoise& command) {
  ASSIGN_OR_RETURN(const std::vector<Calibration> calibrations, Calibrations(command));
  Table table{"calibrations",
              "",
              {{"mechanism", "mechanism"},
               {"parameter", "parameter"},
               DisplayColumn("value", "value"),
               ColumnForPrograms("value", "value"),
               {"standard_deviation", "std dev", Align::kRight},
               {"how", "how"}},
              {}};
  for (const Calibration& calibration : calibrations) table.rows.push_back(RowOf(calibration));
  Document document;
  document.fields = {{"sensitivity", "sensitivity", command.sensitivity}};
  document.tables.push_back(std::move(table));
  document.notes = {"the sensitivity is L1 for Laplace noise and L2 for Gaussian noise"};
  session.Print(document);
  return absl::OkStatus();
}

constexpr char kMechanisms[] =
    "A mechanism is NAME:KEY=VALUE,KEY=VALUE,... Each takes count (how many times; default 1) and group\n"
    "(records of one unit; default 1), and\n"
    "  laplace            scale, l1 (default 1)\n"
    "  discrete-laplace   scale, l1 (1), linf (l1)\n"
    "  gaussian           sigma or sigma_squared, l2 (1)\n"
    "  discrete-gaussian  sigma or sigma_squared, l2_squared (1), linf (what l2_squared allows)\n"
    "  exponential        range (the bounded range)\n"
    "  pure               epsilon\n"
    "  approximate        epsilon, delta\n"
    "  zcdp               rho\n"
    "A file holds one curator.v1.Event in JSON, as `curator charge --event` takes it; decimals are text:\n"
    "  {\"composed\": {\"parts\": [{\"count\": 20, \"event\": {\"gaussian\": {\"sigma_squared\": "
    "\"100\"}}},\n"
    "                          {\"count\": 5, \"event\": {\"laplace\": {\"scale\": \"10\"}}}]}}\n"
    "\n"
    "Examples:\n"
    "  curator calc compose --events gaussian:sigma=10,count=20 laplace:scale=10,count=5 --delta 1e-6\n"
    "  curator calc compose --file plan.json --delta 1e-6 --output json";

void AddCompose(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ComposeEvents>();
  CLI::App* command =
      group.add_subcommand("compose", "What a schedule costs at one delta, by every calculator");
  command->footer(kMechanisms);
  CLI::Option* events =
      command->add_option("--events", options->events, "Mechanisms, as below")->type_name("MECHANISM...");
  CLI::Option* file =
      command->add_option("--file", options->file, "An event in JSON, as below")->type_name("FILE.json");
  events->excludes(file);
  command->add_option("--delta", options->delta, "The delta at which epsilons are compared")->type_name("D");
  Choose(command, options, chosen, [](const ComposeEvents& given) {
    if (given.events.empty() && given.file.empty()) throw CLI::RequiredError("--events or --file");
    if (given.delta.empty()) throw CLI::RequiredError("--delta");
  });
}

void AddConvert(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ConvertPrivacy>();
  CLI::App* command =
      group.add_subcommand("convert", "Between pure, (epsilon, delta) and zcdp; and for groups");
  command->footer(
      "What is asked follows from what is given:\n"
      "  --rho --delta      the epsilon of a zcdp mechanism\n"
      "  --rho --epsilon    its delta\n"
      "  --epsilon --delta  the largest rho that keeps the promise\n"
      "  --epsilon          the rho of a pure mechanism\n"
      "  --group K          what the mechanism is for units of K records\n"
      "\n"
      "Examples:\n"
      "  curator calc convert --rho 0.1 --delta 1e-6\n"
      "  curator calc convert --epsilon 0.5 --group 3");
  command->add_option("--epsilon", options->epsilon, "An exact decimal")->type_name("E");
  command->add_option("--delta", options->delta, "An exact decimal")->type_name("D");
  command->add_option("--rho", options->rho, "An exact decimal")->type_name("R");
  command->add_option("--group", options->group, "Records that one unit owns at most")
      ->type_name("K")
      ->check(PositiveNumber);
  Choose(command, options, chosen, [](const ConvertPrivacy& given) {
    const bool has_epsilon = !given.epsilon.empty();
    const bool has_delta = !given.delta.empty();
    if (given.rho.empty() && !has_epsilon) throw CLI::RequiredError("--epsilon or --rho");
    if (!given.rho.empty() && has_epsilon && has_delta) {
      throw CLI::ValidationError("--rho", "takes one of --epsilon and --delta beside it");
    }
    if (!given.rho.empty() && !has_epsilon && !has_delta && !given.group) {
      throw CLI::RequiredError("--delta or --epsilon");
    }
  });
}

void AddCalibrate(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<CalibrateNoise>();
  CLI::App* command = group.add_subcommand("calibrate", "The least noise that keeps a promise");
  command->footer(
      "Examples:\n"
      "  curator calc calibrate --epsilon 1 --delta 1e-6 --sensitivity 2\n"
      "  curator calc calibrate --rho 0.1");
  CLI::Option* epsilon =
      command->add_option("--epsilon", options->epsilon, "The promise, an exact decimal")->type_name("E");
  command->add_option("--delta", options->delta, "With it, Gaussian noise is calibrated too")
      ->type_name("D")
      ->needs(epsilon);
  command->add_option("--rho", options->rho, "A promise in zcdp instead")->type_name("R")->excludes(epsilon);
  command
      ->add_option("--sensitivity", options->sensitivity,
                   "By how much one unit changes the answer: L1 for Laplace, L2 for Gaussian noise")
      ->type_name("S")
      ->capture_default_str();
  Choose(command, options, chosen, [](const CalibrateNoise& given) {
    if (given.epsilon.empty() && given.rho.empty()) throw CLI::RequiredError("--epsilon or --rho");
  });
}

}  // namespace

void AddCalcCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "calc", "Plan and check: privacy calculators on this machine, no server");
  AddCompose(*group, chosen);
  AddConvert(*group, chosen);
  AddCalibrate(*group, chosen);
}

}  // namespace curator::cli
