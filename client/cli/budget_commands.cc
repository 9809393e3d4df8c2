#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/document.h"
#include "client/cli/names.h"
#include "client/cli/session.h"
#include "client/cli/tables.h"
#include "client/client.h"

namespace curator::cli {
namespace {

const std::vector<Column>& LedgerColumns() {
  static const std::vector<Column> columns = {
      {"sequence", "entry", Align::kRight},
      {"time", "time"},
      {"kind", "kind"},
      {"actor", "by"},
      {"charge_id", "charge"},
      {"hash_start", "hash", Align::kLeft, Audience::kPeople},
      {"summary", "what"},
      {"hash", "hash", Align::kLeft, Audience::kPrograms},
      {"previous_hash", "previous", Align::kLeft, Audience::kPrograms},
      {"payload", "payload", Align::kLeft, Audience::kPrograms}};
  return columns;
}

Row RowOf(const v1::LedgerEntry& entry) {
  constexpr size_t kShortHash = 12;
  const std::string hash = Hex(entry.hash());
  return {entry.sequence(),           TextOfTime(entry.time()),   entry.kind(),    entry.actor(),
          entry.charge_id(),          hash.substr(0, kShortHash), entry.summary(), hash,
          Hex(entry.previous_hash()), Hex(entry.payload())};
}

}  // namespace

absl::Status Run(Session& session, const ShowBudget& command) {
  const absl::StatusOr<v1::GetBudgetResponse> budget = session.client.GetBudget(command.dataset);
  if (!budget.ok()) return budget.status();
  Document document;
  document.tables.push_back(AccountTable(budget->accounts(), session.terminal));
  Table largest{"largest_part",
                "what the dataset has spent: what its largest part has",
                {{"counter", "counter"}, {"spent", "spent", Align::kRight}, {"held", "held", Align::kRight}},
                {}};
  for (const v1::Counter& counter : budget->largest_part().counters()) {
    largest.rows.push_back({counter.name(), counter.spent(), counter.held()});
  }
  if (!largest.rows.empty()) document.tables.push_back(std::move(largest));
  if (budget->accounts().empty()) document.notes.push_back("no account: a public dataset has no budget");
  session.Print(document);
  return absl::OkStatus();
}

// Entries are printed as they arrive: a ledger is never in memory whole.
absl::Status Run(Session& session, const ShowLedger& command) {
  JsonWriter json(session.out);
  if (session.form == OutputForm::kJson) {
    json.BeginObject();
    json.Key("entries");
  }
  const std::unique_ptr<RowWriter> rows =
      MakeRowWriter(LedgerColumns(), session.form, session.terminal, session.out, json);
  int64_t taken = 0;
  const absl::Status listed =
      session.client.ListLedgerEntries(command.dataset, command.after, [&](const v1::LedgerEntry& entry) {
        if (command.limit && taken == *command.limit) return absl::CancelledError("enough");
        ++taken;
        rows->Add(RowOf(entry));
        return absl::OkStatus();
      });
  rows->Finish();
  if (session.form == OutputForm::kJson) {
    json.EndObject();
    session.out << "\n";
  }
  return listed;
}

absl::Status Run(Session& session, const VerifyLedger& command) {
  const absl::StatusOr<v1::VerifyLedgerResponse> verified = session.client.VerifyLedger(command.dataset);
  if (!verified.ok()) return verified.status();
  Document document;
  document.fields = {{"ok", "consistent", verified->ok()},
                     {"entries_checked", "entries checked", verified->entries_checked()},
                     {"anchored_sequence", "anchored up to entry", verified->anchored_sequence()},
                     {"head_hash", "head", Hex(verified->head_hash())},
                     {"findings", "findings",
                      std::vector<std::string>(verified->findings().begin(), verified->findings().end())}};
  session.Print(document);
  if (verified->ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the ledger of ", command.dataset, " contradicts itself or its anchor"));
}

absl::Status Run(Session& session, const ShowVersion&) {
  const absl::StatusOr<v1::GetVersionResponse> server = session.client.GetVersion();
  if (!server.ok()) return server.status();
  Document document;
  document.fields = {{"client", "client", CURATOR_VERSION},
                     {"server", "server", server->version()},
                     {"ledger_backend", "ledger", server->ledger_backend()},
                     {"development_mode", "development mode", server->development_mode()}};
  if (server->development_mode()) {
    document.notes.push_back("the server believes whoever is named with --as: this is no security");
  }
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
