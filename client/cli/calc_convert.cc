// `curator calc convert`: zCDP to (epsilon, delta) and back, pure to zCDP, and all of it for groups.
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/calc_number.h"
#include "dp/accounting/calculators/zcdp.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/group.h"
#include "dp/accounting/zcdp_conversion.h"

namespace curator::cli {
namespace {

Table ConversionTable() {
  return {"conversions",
          "",
          {{"quantity", "quantity"},
           {"form", "form"},
           ColumnForPeople("value", "value"),
           ColumnForPrograms("value", "value"),
           {"source", "source"}},
          {}};
}

// Costs and epsilons round up; budgets, which promise something, round down.
enum class Rounding { kUp, kDown };

void Add(Table& table, const std::string& quantity, const std::string& form, double value, Rounding rounding,
         const std::string& source) {
  const std::string text = rounding == Rounding::kUp ? RoundedUpText(value) : RoundedDownText(value);
  table.rows.push_back({quantity, form, text, value, source});
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

}  // namespace

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

}  // namespace curator::cli
