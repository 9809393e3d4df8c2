#include "client/cli/program.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/field_options.h"
#include "client/cli/globals.h"
#include "client/cli/login/login_state.h"
#include "client/cli/output/document.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/text.h"
#include "client/cli/settings/config_file.h"
#include "client/cli/shell/completion.h"
#include "client/cli/token_source.h"
#include "client/cli/usage.h"
#include "client/client.h"
#include "client/error.h"

namespace curator::cli {
namespace {

constexpr char kIntroduction[] =
    "Curator answers queries of private tables with noise, and accounts for the privacy budget that each "
    "answer "
    "costs.\n";

constexpr char kEpilogue[] =
    "Budgets: under a pure account --epsilon buys Laplace noise; under zcdp --rho buys Gaussian noise, and "
    "--epsilon a pure\n"
    "mechanism at its tight rho; under advanced --epsilon, with --delta for Gaussian noise. Errors are in "
    "counts.\n"
    "\n"
    "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 budget full, 4 server unreachable,\n"
    "5 over a quota: ask again later.\n"
    "\n"
    "A first session:\n"
    "  curator dataset create census --schema census.json --rule zcdp --epsilon 3 --delta 1e-9\n"
    "  curator dataset import census people.csv\n"
    "  curator dataset seal census\n"
    "  curator workload estimate census --marginals 2 --rho 0.1\n"
    "  curator workload answer census --marginals 2 --rho 0.1 --out pairs.csv\n"
    "  curator budget show census";

// The parsed command line, with what the configuration file adds.
struct Invocation : Globals {
  Chosen command = nullptr;
  std::vector<Setting> settings = {};
};

// In the order in which the help lists them.
void AddCommands(CLI::App& app, Chosen& chosen) {
  AddDatasetCommands(app, chosen);
  AddSchemaCommands(app, chosen);
  AddWorkloadCommands(app, chosen);
  AddSqlCommand(app, chosen);
  AddSynthCommands(app, chosen);
  AddChargeCommands(app, chosen);
  AddAccountCommands(app, chosen);
  AddInboxCommand(app, chosen);
  AddReleaseCommands(app, chosen);
  AddOperationCommands(app, chosen);
  AddBudgetCommands(app, chosen);
  AddLedgerCommands(app, chosen);
  AddLoginCommands(app, chosen);
  AddIdentityCommands(app, chosen);
  AddAuditCommands(app, chosen);
  AddServerCommands(app, chosen);
  AddConfigCommands(app, chosen);
  AddShellCommands(app, chosen);
  AddVersionCommand(app, chosen);
  AddOwnerCommands(app, chosen);
  AddCalcCommands(app, chosen);
}

// --help and --version are parse errors to CLI11, with exit code 0.
ExitStatus PrintParseError(const CLI::App& app, const CLI::ParseError& error, const Streams& streams) {
  if (error.get_exit_code() == 0) {
    app.exit(error, streams.out, streams.error);
    return ExitStatus::kDone;
  }
  streams.error << "curator: " << UsageComplaint(app, error);
  return ExitStatus::kUsage;
}

const CLI::App& LastCommand(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  return *last;
}

// A command that a damaged configuration file must not hinder.
bool RepairsConfig(const CLI::App& app) {
  return app.got_subcommand("config") && LastCommand(app).get_name() != "show";
}

ExitStatus RunInvocation(const Invocation& invocation, const FieldOptions& fields, const Terminal& terminal,
                         const Streams& streams) {
  client::TokenSource token = TokenSourceOf(invocation.token);
  const bool asks_for_login =
      token == nullptr && invocation.principal.empty() && invocation.tls.certificate.empty();
  const std::optional<LoginState> logins = asks_for_login ? LoginState::OfUser() : std::nullopt;
  if (logins.has_value()) {
    token = TokenSourceOfLogin(invocation.server, *logins, [&streams](const std::string& authorities) {
      return PartsOfLogin(authorities, streams.error);
    });
  }
  // Who proves something gives no name, unless asked to.
  const bool is_proved = token != nullptr || !invocation.tls.certificate.empty();
  const bool is_named = !invocation.principal.empty() || is_proved;
  const Client client({.server = invocation.server,
                       .principal = is_named ? invocation.principal : DefaultPrincipal(),
                       .retry = {},
                       .token = token,
                       .tls = invocation.tls});
  Session session{client,     invocation.server, invocation.form, terminal,
                  streams.in, streams.out,       streams.error};
  session.fields = fields;
  session.settings = invocation.settings;
  session.profile = invocation.profile;
  absl::Status status = invocation.command(session);
  streams.out.flush();
  if (status.ok() && !streams.out) status = absl::InternalError("standard output cannot be written");
  if (!status.ok()) {
    PrintError(session.fields.Translated(status), session.request_id, invocation.form, terminal,
               streams.error);
  }
  return ExitStatusOf(status);
}

}  // namespace

namespace {

// Names of the datasets on the server that `globals` and the configuration name: for a shell that waits, so
// that nothing is said of errors, and the process ends when they take too long.
std::vector<std::string> NamesOfDatasets(std::vector<std::string> line, std::istream& in) {
  constexpr unsigned kMostSeconds = 2;
  const auto before = signal(SIGALRM, [](int) { _exit(0); });
  alarm(kMostSeconds);
  std::stringstream listed;
  std::ostringstream ignored;
  for (const char* const word : {"--output", "csv", "dataset", "list", "--limit", "200"})
    line.emplace_back(word);
  const ExitStatus status = RunProgram(line, Terminal(), {in, listed, ignored});
  alarm(0);
  signal(SIGALRM, before);
  std::vector<std::string> names;
  std::string row;
  std::getline(listed, row);  // the header
  while (status == ExitStatus::kDone && std::getline(listed, row))
    names.push_back(row.substr(0, row.find(',')));
  return names;
}

ExitStatus PrintCompletion(const CLI::App& app, const std::vector<std::string>& words,
                           const Streams& streams) {
  const Completion completion = Complete(app, words);
  for (const std::string& word : completion.words) streams.out << word << "\n";
  if (completion.also == Completion::Also::kDatasets) {
    for (const std::string& name : NamesOfDatasets(completion.globals, streams.in)) {
      if (name.starts_with(words.back())) streams.out << name << "\n";
    }
  }
  if (completion.also == Completion::Also::kFiles) streams.out << ":files\n";
  return ExitStatus::kDone;
}

}  // namespace

ExitStatus RunProgram(const std::vector<std::string>& arguments, const Terminal& terminal,
                      const Streams& streams) {
  Invocation invocation;
  CLI::App app(kIntroduction, "curator");
  app.fallthrough();
  app.require_subcommand(1);
  app.set_version_flag("--version", "curator " CURATOR_VERSION);
  app.footer(kEpilogue);
  AddGlobals(app, invocation);
  AddCommands(app, invocation.command);
  if (arguments.size() > 1 && arguments.front() == kCompletionWord)
    return PrintCompletion(app, {arguments.begin() + 1, arguments.end()}, streams);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return PrintParseError(app, error, streams);
  }
  if (!invocation.command) {
    streams.error << "curator: no command was named\nHelp: curator --help\n";
    return ExitStatus::kUsage;
  }
  if (!RepairsConfig(app)) {
    absl::StatusOr<std::vector<Setting>> settings = UseConfig(app, arguments, ConfigPathOfUser(), invocation);
    if (!settings.ok()) {
      PrintError(settings.status(), "", invocation.form, terminal, streams.error);
      return ExitStatusOf(settings.status());
    }
    invocation.settings = *std::move(settings);
  }
  return RunInvocation(invocation, FieldOptions(LastCommand(app)), terminal, streams);
}

namespace {

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

void PrintErrorAsJson(const absl::Status& status, const std::string& request_id, std::ostream& error) {
  JsonWriter json(error);
  json.BeginObject();
  json.Key("error");
  json.BeginObject();
  const std::vector<std::pair<const char*, std::string>> members = {
      {"code", absl::StatusCodeToString(status.code())},
      {"message", MessageOf(status)},
      {"reason", client::Reason(status)},
      {"request_id", request_id}};
  for (const auto& [key, value] : members) {
    json.Key(key);
    json.Write(value.empty() ? Value() : Value(value));
  }
  const std::optional<std::chrono::milliseconds> delay = client::RetryDelay(status);
  json.Key("retry_delay_ms");
  json.Write(delay ? Value(int64_t{delay->count()}) : Value());
  const auto write_objects = [&json](const char* key, const std::vector<Column>& columns,
                                     const std::vector<Row>& rows) {
    json.Key(key);
    json.BeginArray();
    for (const Row& row : rows) {
      json.BeginObject();
      for (size_t i = 0; i < columns.size(); ++i) {
        json.Key(columns[i].key);
        json.Write(row[i]);
      }
      json.EndObject();
    }
    json.EndArray();
  };
  std::vector<Row> violations;
  for (const auto& violation : client::FieldViolations(status)) {
    violations.push_back({violation.field, violation.description});
  }
  write_objects("field_violations", {{"field", ""}, {"description", ""}}, violations);
  std::vector<Row> accounts;
  for (const auto& full : client::FullAccounts(status)) {
    accounts.push_back({full.account, full.rule, full.counter, full.asked, full.remaining, full.description});
  }
  write_objects(
      "full_accounts",
      {{"account", ""}, {"rule", ""}, {"counter", ""}, {"asked", ""}, {"remaining", ""}, {"description", ""}},
      accounts);
  json.EndObject();
  json.EndObject();
  error << "\n";
}

std::string Describe(const client::FullAccount& full) {
  const std::string text = "  account " + full.account + ": ";
  if (full.asked.empty()) return text + full.description;
  return text + "asked " + full.asked + " of " + full.counter + ", left " + full.remaining;
}

bool IsSaidIn(const std::string& message, const client::FullAccount& full) {
  return message.find(full.account) != std::string::npos && message.find(full.asked) != std::string::npos &&
         message.find(full.remaining) != std::string::npos;
}

// The lines of a message, such as a statement with the mark below its mistake. Those after the first are
// indented, so that names in a message cannot look like lines of `curator`. A tab is one blank, so that the
// mark is below its place.
std::string Lines(const std::string& message) {
  std::string text;
  for (const char c : message) text += c == '\t' ? ' ' : c;
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = Printable(line);
  return absl::StrJoin(lines, "\n  ");
}

}  // namespace

ExitStatus ExitStatusOf(const absl::Status& status) {
  if (status.ok()) return ExitStatus::kDone;
  if (client::IsUnreachable(status)) return ExitStatus::kUnreachable;
  if (absl::IsResourceExhausted(status) && !client::FullAccounts(status).empty())
    return ExitStatus::kBudgetFull;
  if (client::IsOverQuota(status)) return ExitStatus::kOverQuota;
  return ExitStatus::kRefused;
}

void PrintError(const absl::Status& status, const std::string& request_id, OutputForm form,
                const Terminal& terminal, std::ostream& error) {
  if (form == OutputForm::kJson) return PrintErrorAsJson(status, request_id, error);
  error << Styled(terminal, Style::kRed, "curator: " + absl::StatusCodeToString(status.code()) + ":") << " "
        << Lines(MessageOf(status)) << "\n";
  for (const client::FullAccount& full : client::FullAccounts(status)) {
    if (!IsSaidIn(MessageOf(status), full)) error << Printable(Describe(full)) << "\n";
  }
  if (const auto delay = client::RetryDelay(status); delay && client::IsOverQuota(status)) {
    const absl::Duration seconds = absl::Ceil(absl::FromChrono(*delay), absl::Seconds(1));
    error << "  ask again in " << absl::FormatDuration(seconds) << "; nothing was charged\n";
  }
  if (client::Reason(status) == "LOGIN_TOO_OLD") {
    error << "  log in again, and then repeat the command: curator login --fresh\n";
  }
  const std::vector<client::FieldViolation> violations = client::FieldViolations(status);
  if (violations.size() > 1) {
    for (const auto& violation : violations) {
      error << Printable("  " + violation.field + ": " + violation.description) << "\n";
    }
  }
  if (!request_id.empty() && client::IsOutcomeUnknown(status)) {
    error << "  the outcome is unknown; repeat the request with --request-id " << request_id
          << ": it is never charged twice\n";
  }
}

}  // namespace curator::cli
