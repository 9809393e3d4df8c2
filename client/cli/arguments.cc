#include "client/cli/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "client/cli/arguments_parts.h"
#include "client/request_id.h"

namespace curator::cli {
namespace {

constexpr char kIntroduction[] =
    "Curator answers questions about private tables with noise, and keeps the account of what each answer "
    "costs.\n";

constexpr char kEpilogue[] =
    "Money: under a pure account --epsilon buys Laplace noise; under zcdp --rho buys Gaussian noise, and "
    "--epsilon a pure\n"
    "mechanism at its tight rho; under advanced --epsilon, with --delta for Gaussian noise. Errors are in "
    "counts.\n"
    "\n"
    "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 budget full, 4 server unreachable.\n"
    "\n"
    "A first session:\n"
    "  curator dataset create census --schema census.json --rule zcdp --epsilon 3 --delta 1e-9\n"
    "  curator dataset import census people.csv\n"
    "  curator dataset seal census\n"
    "  curator workload estimate census --marginals 2 --rho 0.1\n"
    "  curator workload answer census --marginals 2 --rho 0.1 --out pairs.csv\n"
    "  curator budget show census";

std::string DefaultPrincipal() {
  const char* user = std::getenv("USER");
  return user != nullptr && *user != '\0' ? user : "developer";
}

// A word that is no command leaves a required subcommand missing; what was typed says more than that.
std::string UnknownCommand(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unread = app.remaining(/*recurse=*/true);
  const bool missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  return missing && !unread.empty() ? "'" + unread.front() + "' is not known here. " : "";
}

void AddGlobals(CLI::App& app, Invocation& invocation) {
  app.add_option("--server", invocation.server, "Address of the server")
      ->type_name("HOST:PORT")
      ->envname("CURATOR_SERVER")
      ->capture_default_str();
  app.add_option("--as", invocation.principal,
                 "Who asks. Only a development server believes it: this is no security")
      ->type_name("PRINCIPAL")
      ->envname("CURATOR_AS")
      ->capture_default_str();
  AddChoice<OutputForm>(
      app, "--output", "table|json|csv", invocation.form,
      {{"table", OutputForm::kTable}, {"json", OutputForm::kJson}, {"csv", OutputForm::kCsv}},
      "Form of the output: tables are rounded and shortened, the others exact and whole. Default: table");
}

}  // namespace

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  if (parts.empty() || text.ends_with(',')) parts.emplace_back();
  return parts;
}

// "a,b,c": no empty name, none twice.
std::string CheckNames(const std::string& text) {
  std::vector<std::string> names = SplitAtCommas(text);
  if (std::find(names.begin(), names.end(), "") != names.end()) return "a name is empty in '" + text + "'";
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  return twice == names.end() ? "" : "'" + *twice + "' is named twice";
}

CLI::App* AddCommand(CLI::App& group, const std::string& name, const std::string& summary,
                     const std::string& example) {
  CLI::App* command = group.add_subcommand(name, summary);
  command->footer("Example:\n  " + example);
  return command;
}

void AddPromise(CLI::App* command, v1::Rule& rule, std::string& epsilon, std::string& delta) {
  AddChoice<v1::Rule>(
      *command, "--rule", "pure|advanced|zcdp", rule,
      {{"pure", v1::RULE_PURE}, {"advanced", v1::RULE_ADVANCED}, {"zcdp", v1::RULE_ZCDP}},
      "How the account counts: the sum of epsilons, adaptive composition, or the sum of rhos");
  command->add_option("--epsilon", epsilon, "The promise for all answers together, an exact decimal")
      ->type_name("E");
  command->add_option("--delta", delta, "The promise's delta, e.g. 1e-9; for advanced and zcdp")
      ->type_name("D");
}

void AddRequestId(CLI::App* command, std::string& request_id) {
  command
      ->add_option(
          "--request-id", request_id,
          "Ask under this id. The id of an earlier request returns what it returned and costs nothing. "
          "Default: a new one")
      ->type_name("UUID")
      ->check([](const std::string& text) {
        return client::IsRequestId(text) ? std::string()
                                         : "'" + text + "' is not a UUID (8-4-4-4-12 hex digits)";
      });
}

void AddReceipt(CLI::App* command, std::string& receipt) {
  command
      ->add_option(
          "--receipt", receipt,
          "Append the charge's signed receipt to this file; `curator ledger verify --receipts` checks "
          "it later")
      ->type_name("FILE");
}

void AddSpend(CLI::App* command, SpendChoice& spend) {
  CLI::Option_group* group =
      command->add_option_group("Budget", "What the request may spend; one of --epsilon and --rho");
  CLI::Option* epsilon =
      group->add_option("--epsilon", spend.epsilon, "Epsilon, an exact decimal: buys a pure mechanism")
          ->type_name("E");
  group->add_option("--rho", spend.rho, "Rho, an exact decimal: buys Gaussian noise on a zcdp account")
      ->type_name("R");
  group->require_option(1);
  command->add_option("--delta", spend.delta, "Delta beside --epsilon, on an advanced account")
      ->type_name("D")
      ->needs(epsilon);
}

void AddMechanism(CLI::App* command, v1::Mechanism& mechanism) {
  AddChoice<v1::Mechanism>(*command, "--mechanism", "auto|laplace|gaussian", mechanism,
                           {{"auto", v1::MECHANISM_UNSPECIFIED},
                            {"laplace", v1::MECHANISM_DISCRETE_LAPLACE},
                            {"gaussian", v1::MECHANISM_DISCRETE_GAUSSIAN}},
                           "Noise; auto is the least expected error that the account allows. Default: auto");
}

void AddConfidence(CLI::App* command, std::optional<double>& confidence) {
  command
      ->add_option("--confidence", confidence,
                   "Level of each value's interval, between 0 and 1. Default: 0.95")
      ->type_name("LEVEL")
      ->check([](const std::string& text) {
        const double level = std::strtod(text.c_str(), nullptr);
        return level > 0 && level < 1 ? std::string() : "a confidence level lies between 0 and 1";
      });
}

void AddParts(CLI::App* command, std::vector<std::string>& parts) {
  command
      ->add_option_function<std::string>(
          "--parts", [&parts](const std::string& text) { parts = SplitAtCommas(text); },
          "Ask these parts of a partitioned dataset only: only they pay. Default: all that are sealed")
      ->type_name("P,Q")
      ->check(CheckNames);
}

std::variant<Invocation, HelpText, UsageError> Parse(const std::vector<std::string>& arguments) {
  Invocation invocation{"127.0.0.1:7878", DefaultPrincipal(), OutputForm::kTable, ShowVersion{}};
  Chosen chosen;
  CLI::App app(kIntroduction, "curator");
  app.fallthrough();
  app.require_subcommand(1);
  app.set_version_flag("--version", "curator " CURATOR_VERSION);
  app.footer(kEpilogue);
  AddGlobals(app, invocation);
  AddDatasetGroups(app, chosen);
  AddQueryGroups(app, chosen);
  AddChargeGroup(app, chosen);
  AddAccountGroup(app, chosen);
  AddRecordGroups(app, chosen);
  AddOwnerGroup(app, chosen);
  AddCalculatorGroup(app, chosen);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    app.exit(error, out, err);
    if (error.get_exit_code() == 0) return HelpText{out.str()};
    return UsageError{"curator: " + UnknownCommand(app, error) + err.str()};
  }
  if (!chosen) return UsageError{"curator: no command was named\nRun with --help for more information.\n"};
  invocation.command = *std::move(chosen);
  return invocation;
}

}  // namespace curator::cli
