// `curator ledger`: the append-only history of a dataset, shown, checked and repaired.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/delivery.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/line_writer.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/number_checks.h"
#include "client/client.h"
#include "client/receipt.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/time_util.h"

namespace curator::cli {
namespace {

struct ShowLedger {
  std::string dataset;
  int64_t after = 0;
  int64_t before = 0;  // no bound when 0
  int32_t newest = 0;  // all when 0
  std::optional<int64_t> limit;
};

struct WatchLedger {
  std::vector<std::string> datasets;
  std::optional<int64_t> after;
};

// One JSON object a line, with everything that the hashes cover.
struct ExportLedger {
  std::string dataset;
  std::string out;  // standard output when empty
};

struct VerifyLedger {
  std::string dataset;
  std::string receipts;  // a file of receipts that the history must contain; empty for none
  std::string key;       // hexadecimal: who signed them; empty: the server's own key
};

struct ListRefusals {
  std::string dataset;
  int64_t most = Client::kAll;
};

struct ShowReceiptKey {};

struct ProposeRepair {
  std::string dataset;
  std::string reason;
  std::string receipts;  // a file; empty for none
  std::string out;       // for the proposal
};

struct ApproveRepair {
  std::string dataset;
  std::string proposal;  // a file
  bool only_show = false;
  std::string request_id;
};

const std::vector<Column>& LedgerColumns() {
  static const std::vector<Column> columns = {
      {"sequence", "entry", Align::kRight},
      {"time", "time"},
      {"kind", "kind"},
      {"actor_name", "by"},
      {"charge_id", "charge"},
      {"hash_start", "hash", Align::kLeft, ShownIn::kTables},
      {"summary", "what"},
      {"actor", "by, as hashed", Align::kLeft, ShownIn::kJsonAndCsv},
      {"hash", "hash", Align::kLeft, ShownIn::kJsonAndCsv},
      {"previous_hash", "previous", Align::kLeft, ShownIn::kJsonAndCsv},
      {"payload", "payload", Align::kLeft, ShownIn::kJsonAndCsv}};
  return columns;
}

Row RowOf(const v1::LedgerEntry& entry) {
  constexpr size_t kShortHash = 12;
  const std::string hash = Hex(entry.hash());
  return {entry.sequence(),
          FormatTime(entry.time()),
          entry.kind(),
          entry.actor_name(),
          entry.charge_id(),
          hash.substr(0, kShortHash),
          entry.summary(),
          entry.actor(),
          hash,
          Hex(entry.previous_hash()),
          Hex(entry.payload())};
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
  v1::ListLedgerEntriesRequest request;
  request.set_dataset(command.dataset);
  request.set_after_sequence(command.after);
  request.set_before_sequence(command.before);
  request.set_newest(command.newest);
  int64_t taken = 0;
  const absl::Status listed = session.client.ListLedgerEntries(request, [&](const v1::LedgerEntry& entry) {
    if (command.limit && taken == *command.limit) return absl::CancelledError("enough");
    ++taken;
    rows->Add(RowOf(entry));
    return absl::OkStatus();
  });
  // An error alone is not preceded by an empty table.
  if (session.form == OutputForm::kTable && taken == 0 && !listed.ok()) return listed;
  rows->Finish();
  if (session.form == OutputForm::kJson) {
    json.EndObject();
    session.out << "\n";
  }
  return listed;
}

// What is printed to go on later names datasets by their ids: the name of one that is deleted may be used
// again.
absl::Status WatchOne(Session& session, const std::string& dataset, int64_t after) {
  LineWriter lines(LedgerColumns(), session.form, session.terminal, session.out);
  int64_t last = 0;
  std::string id;
  const absl::Status ended = session.client.WatchLedger(dataset, after, [&](const v1::LedgerEntry& entry) {
    last = entry.sequence();
    id = entry.dataset_id();
    lines.Write(RowOf(entry));
    return session.out ? absl::OkStatus() : absl::CancelledError("the output is closed");
  });
  if (last > 0) {
    session.error << "to go on: curator ledger watch " << id << " --after " << last << "\n";
  }
  return ended;
}

// "census:57": after the entry 57 of census. Names of datasets have no colon.
absl::StatusOr<v1::LedgerPosition> PositionOf(const std::string& text) {
  v1::LedgerPosition position;
  const size_t colon = text.find(':');
  position.set_dataset(text.substr(0, colon));
  if (colon == std::string::npos) return position;
  int64_t after = 0;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &after) || after < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("NAME: ", text, ": after the colon is the number of an entry, such as census:57"));
  }
  position.set_after_sequence(after);
  return position;
}

absl::Status WatchSeveral(Session& session, const std::vector<v1::LedgerPosition>& positions) {
  std::vector<Column> columns = LedgerColumns();
  columns.insert(columns.begin(), {"dataset", "dataset"});
  LineWriter lines(columns, session.form, session.terminal, session.out);
  std::vector<v1::LedgerPosition> reached = positions;
  const absl::Status ended = session.client.WatchLedgers(positions, [&](const v1::LedgerEntry& entry) {
    for (size_t i = 0; i < positions.size(); ++i) {
      if (positions[i].dataset() != entry.dataset()) continue;
      reached[i].set_dataset(entry.dataset_id());
      reached[i].set_after_sequence(entry.sequence());
    }
    Row row = RowOf(entry);
    row.insert(row.begin(), Value(entry.dataset()));
    lines.Write(row);
    return session.out ? absl::OkStatus() : absl::CancelledError("the output is closed");
  });
  session.error << "to go on: curator ledger watch";
  for (const v1::LedgerPosition& position : reached) {
    session.error << " " << position.dataset() << ":" << position.after_sequence();
  }
  session.error << "\n";
  return ended;
}

absl::Status Run(Session& session, const WatchLedger& command) {
  std::vector<v1::LedgerPosition> positions;
  for (const std::string& text : command.datasets) {
    ASSIGN_OR_RETURN(positions.emplace_back(), PositionOf(text));
  }
  if (command.after) {
    if (positions.size() > 1) {
      return absl::InvalidArgumentError("--after is for one dataset; of several, name each as NAME:ENTRY");
    }
    if (command.datasets.front().find(':') != std::string::npos) {
      return absl::InvalidArgumentError(
          "--after: the NAME has a number of an entry already: give one of them");
    }
    positions.front().set_after_sequence(*command.after);
  }
  if (positions.size() > 1) return WatchSeveral(session, std::move(positions));
  return WatchOne(session, positions.front().dataset(), positions.front().after_sequence());
}

absl::Status Run(Session& session, const ListRefusals& command) {
  ASSIGN_OR_RETURN(const v1::ListRefusalsResponse list,
                   session.client.ListRefusals(command.dataset, command.most));
  Table table{"refusals",
              "",
              {{"time", "time"},
               {"principal", "by"},
               {"method", "asked with"},
               {"account", "full account"},
               {"counter", "counter"},
               {"asked", "asked", Align::kRight},
               {"remaining", "left", Align::kRight},
               {"request_id", "request", Align::kLeft, ShownIn::kJsonAndCsv}},
              {}};
  for (const v1::Refusal& refusal : list.refusals()) {
    for (const v1::Refusal::Account& account : refusal.accounts()) {
      table.rows.push_back({FormatTime(refusal.time()), refusal.principal(), refusal.method(),
                            account.account(), account.counter(), account.asked(), account.remaining(),
                            refusal.request_id()});
    }
  }
  Document document;
  document.tables.push_back(std::move(table));
  if (list.refusals().empty())
    document.notes.emplace_back("no charge was refused because an account was full");
  session.Print(document);
  return absl::OkStatus();
}

// The fields that the entry's hash covers, in its order, and the hash. Bytes are in hexadecimal.
void WriteEntry(JsonWriter& json, const v1::LedgerEntry& entry) {
  const Row row = {entry.dataset_id(),
                   entry.sequence(),
                   entry.kind(),
                   entry.charge_id(),
                   Hex(entry.payload()),
                   entry.actor(),
                   google::protobuf::util::TimeUtil::TimestampToMicroseconds(entry.time()),
                   Hex(entry.previous_hash()),
                   Hex(entry.hash())};
  static constexpr const char* kKeys[] = {"dataset_id", "sequence", "kind",          "charge_id", "payload",
                                          "actor",      "time_us",  "previous_hash", "hash"};
  json.BeginObject();
  for (size_t i = 0; i < row.size(); ++i) {
    json.Key(kKeys[i]);
    json.Write(row[i]);
  }
  json.EndObject();
}

absl::Status Run(Session& session, const ExportLedger& command) {
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                   CreateOutput({"--out", "histories", {".jsonl", ".ndjson"}},
                                command.out.empty() ? "-" : command.out, session.out));
  RETURN_IF_ERROR(session.client.ListLedgerEntries(command.dataset, 0, [&](const v1::LedgerEntry& entry) {
    JsonWriter json(file->stream());
    WriteEntry(json, entry);
    file->stream() << "\n";
    return file->Check();
  }));
  return file->Commit();
}

// What became of one receipt; `problem` is empty when the history contains its charge.
struct CheckedReceipt {
  client::ReceiptStatement statement;
  std::string problem;
};

CheckedReceipt CheckAlone(const v1::Receipt& receipt, const v1::VerifyLedgerResponse& ledger,
                          const std::string& key) {
  const absl::StatusOr<client::ReceiptStatement> statement = client::CheckReceipt(receipt, key);
  if (!statement.ok()) return {{}, std::string(statement.status().message())};
  if (statement->ledger_id != ledger.ledger_id()) {
    return {*statement, absl::StrCat("is of another ledger, ", statement->ledger_id, "; this server's is ",
                                     ledger.ledger_id())};
  }
  if (statement->dataset_id != ledger.dataset_id()) {
    return {*statement, absl::StrCat("is of another dataset, ", statement->dataset_id,
                                     "; the one of this name is ", ledger.dataset_id())};
  }
  return {*statement, ""};
}

// Follows the chain from the first receipt's entry to the head.
class ChainWalk {
 public:
  explicit ChainWalk(std::vector<CheckedReceipt>& receipts) {
    for (CheckedReceipt& receipt : receipts) {
      if (receipt.problem.empty()) wanted_.emplace(receipt.statement.sequence, &receipt);
    }
  }

  bool has_work() const { return !wanted_.empty(); }
  int64_t first() const { return wanted_.begin()->first; }

  void Take(const v1::ChainLink& link) {
    if (last_) CheckFollows(*last_, link);
    if (link.has_entry() &&
        (link.entry().hash() != link.hash() || link.entry().sequence() != link.sequence() ||
         client::HashOf(link.entry()) != link.hash())) {
      Find(absl::StrCat("entry ", link.sequence(), " does not have the hash of its content"));
    }
    if (link.is_repair()) repairs_.insert(link.sequence());
    const auto [begin, end] = wanted_.equal_range(link.sequence());
    for (auto wanted = begin; wanted != end; ++wanted) {
      found_.insert(wanted->second);
      if (wanted->second->statement.entry_hash == link.hash()) continue;
      wanted->second->problem = absl::StrCat("the history was rewritten: entry ", link.sequence(),
                                             " has the hash ", Hex(link.hash()), ", and the receipt says ",
                                             Hex(wanted->second->statement.entry_hash));
    }
    hashes_since_first_.insert(link.hash());
    last_ = link;
  }

  // `head` is what the server said of the chain before the walk.
  std::vector<std::string> Finish(const std::string& head) {
    for (const auto& [sequence, receipt] : wanted_) {
      if (found_.count(receipt) > 0) continue;
      const auto repair = repairs_.upper_bound(sequence);
      receipt->problem =
          repair != repairs_.end()
              ? absl::StrCat("entry ", sequence, " is lost: the repair in entry ", *repair,
                             " accounts for it")
              : absl::StrCat("the history was rolled back: entry ", sequence, " is missing",
                             last_ ? absl::StrCat("; it ends with entry ", last_->sequence()) : "");
    }
    if (last_ && hashes_since_first_.count(head) == 0) {
      Find("the chain does not lead to the head that the server reported");
    }
    return std::move(findings_);
  }

 private:
  void Find(std::string what) { findings_.push_back(std::move(what)); }

  void CheckFollows(const v1::ChainLink& before, const v1::ChainLink& link) {
    const bool is_next =
        link.is_repair() ? link.sequence() > before.sequence() : link.sequence() == before.sequence() + 1;
    if (!is_next) Find(absl::StrCat("entry ", before.sequence() + 1, " is missing"));
    if (link.previous_hash() != before.hash()) {
      Find(absl::StrCat("entry ", link.sequence(), " does not continue entry ", before.sequence()));
    }
  }

  std::multimap<int64_t, CheckedReceipt*> wanted_;
  std::set<CheckedReceipt*> found_;
  std::set<int64_t> repairs_;
  std::set<std::string> hashes_since_first_;
  std::optional<v1::ChainLink> last_;
  std::vector<std::string> findings_;
};

Table ReceiptTable(const std::vector<CheckedReceipt>& receipts) {
  Table table{"receipts",
              "receipts",
              {{"number", "receipt", Align::kRight},
               {"charge_id", "charge"},
               {"sequence", "entry", Align::kRight},
               {"contained", "contained"},
               {"problem", "problem"}},
              {}};
  table.displayed_rows = 1000;
  for (const CheckedReceipt& receipt : receipts) {
    table.rows.push_back({static_cast<int64_t>(table.rows.size()) + 1,
                          TextOrNone(receipt.statement.charge_id), receipt.statement.sequence,
                          receipt.problem.empty(), TextOrNone(receipt.problem)});
  }
  return table;
}

// Adds to the document what the receipts show; DATA_LOSS when one is not contained.
absl::Status CheckReceipts(Session& session, const VerifyLedger& command,
                           const v1::VerifyLedgerResponse& ledger, Document& document) {
  ASSIGN_OR_RETURN(const std::vector<v1::Receipt> read, ReadReceipts(command.receipts));
  const std::string key = command.key.empty() ? ledger.receipt_key() : client::BytesOfHex(command.key);
  std::vector<CheckedReceipt> receipts;
  for (const v1::Receipt& receipt : read) receipts.push_back(CheckAlone(receipt, ledger, key));
  ChainWalk walk(receipts);
  std::vector<std::string> findings;
  if (walk.has_work()) {
    RETURN_IF_ERROR(
        session.client.ListChainLinks(command.dataset, walk.first() - 1, [&](const v1::ChainLink& link) {
          walk.Take(link);
          return absl::OkStatus();
        }));
    findings = walk.Finish(ledger.head_hash());
  }
  document.fields.push_back({"chain_findings", "chain from the first receipt", findings});
  document.tables.push_back(ReceiptTable(receipts));
  std::string first = findings.empty() ? "" : findings.front();
  for (size_t i = receipts.size(); i-- > 0;) {
    if (!receipts[i].problem.empty()) first = absl::StrCat("receipt ", i + 1, " ", receipts[i].problem);
  }
  return first.empty() ? absl::OkStatus() : absl::DataLossError(first);
}

absl::Status Run(Session& session, const VerifyLedger& command) {
  ASSIGN_OR_RETURN(const v1::VerifyLedgerResponse verified, session.client.VerifyLedger(command.dataset));
  Document document;
  document.fields = {{"ok", "consistent", verified.ok()},
                     {"entries_checked", "entries checked", verified.entries_checked()},
                     {"anchored_sequence", "anchored up to entry", verified.anchored_sequence()},
                     {"head_hash", "head", Hex(verified.head_hash())},
                     {"verify_time", "verified at", TextOrNone(FormatTime(verified.verify_time()))},
                     {"findings", "findings", ListOf(verified.findings())}};
  absl::Status receipts;
  if (!command.receipts.empty()) receipts = CheckReceipts(session, command, verified, document);
  session.Print(document);
  RETURN_IF_ERROR(receipts);
  if (verified.ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the ledger of ", command.dataset, " contradicts itself or its anchor"));
}

absl::Status Run(Session& session, const ShowReceiptKey&) {
  ASSIGN_OR_RETURN(const v1::GetReceiptKeyResponse key, session.client.GetReceiptKey());
  Document document;
  document.fields = {{"ledger_id", "ledger", key.ledger_id()},
                     {"public_key", "signs receipts with", Hex(key.public_key())}};
  session.Print(document);
  return absl::OkStatus();
}

Document DocumentOf(const v1::RepairReport& report) {
  Document document;
  document.fields = {{"first_lost_sequence", "first lost entry", report.first_lost_sequence()},
                     {"last_lost_sequence", "last lost entry", report.last_lost_sequence()},
                     {"reservations_spent", "reservations spent", report.reservations_spent()},
                     {"charges_forfeited", "draws forfeited", report.charges_forfeited()},
                     {"receipts_counted", "counted by receipts", report.receipts_counted()},
                     {"still_read_only", "still read-only", TextOrNone(report.still_read_only())}};
  Table table{"raised",
              "",
              {{"account", "account"},
               {"counter", "counter"},
               {"old_spent", "spent before", Align::kRight},
               {"new_spent", "spent after", Align::kRight},
               {"old_limit", "limit before", Align::kRight},
               {"new_limit", "limit after", Align::kRight}},
              {}};
  for (const v1::RepairReport::Raised& raised : report.raised()) {
    table.rows.push_back({raised.account(), raised.counter(), raised.old_spent(), raised.new_spent(),
                          raised.old_limit(), raised.new_limit()});
  }
  document.tables.push_back(std::move(table));
  return document;
}

constexpr char kNothingIsBehind[] =
    "nothing of this dataset, or of its predecessors and successors, is behind the anchor or the receipts";

absl::Status Write(const v1::RepairProposal& proposal, OutputFile& file) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  std::string json;
  const auto written = google::protobuf::util::MessageToJsonString(proposal, &json, options);
  if (!written.ok()) return absl::InternalError("the proposal cannot be written as JSON");
  file.stream() << json;
  return file.Commit();
}

absl::Status Run(Session& session, const ProposeRepair& command) {
  v1::ProposeRepairRequest request;
  request.set_dataset(command.dataset);
  request.set_reason(command.reason);
  if (!command.receipts.empty()) {
    ASSIGN_OR_RETURN(const std::vector<v1::Receipt> receipts, ReadReceipts(command.receipts));
    for (const v1::Receipt& receipt : receipts) *request.add_receipts() = receipt;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                   CreateOutput({"--out", "proposals", {".json"}}, command.out, session.out));
  ASSIGN_OR_RETURN(const v1::ProposeRepairResponse proposed, session.client.ProposeRepair(request));
  Document document = DocumentOf(proposed.effect());
  if (!proposed.effect().is_needed()) {
    document.notes.emplace_back(kNothingIsBehind);
  } else {
    RETURN_IF_ERROR(Write(proposed.proposal(), *file));
    document.notes.push_back(absl::StrCat(
        "nothing was changed; within 7 days an approver approves it with: curator ledger repair approve ",
        command.dataset, " ", command.out));
  }
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ApproveRepair& command) {
  v1::ApproveRepairRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_validate_only(command.only_show);
  ASSIGN_OR_RETURN(*request.mutable_proposal(), ReadRepairProposal(command.proposal));
  ASSIGN_OR_RETURN(const v1::RepairReport repaired, session.client.ApproveRepair(request));
  Document document = DocumentOf(repaired);
  if (!repaired.is_needed()) {
    document.notes.emplace_back(kNothingIsBehind);
  } else if (command.only_show) {
    document.notes.emplace_back("nothing was changed");
  }
  session.Print(document);
  return absl::OkStatus();
}

void AddVerifyLedger(CLI::App& group, Chosen& chosen) {
  const auto verify = std::make_shared<VerifyLedger>();
  CLI::App* command = AddCommand(
      group, "verify",
      "Recompute the hash chain and all balances from the entries alone; exit status 1 when they contradict",
      "curator ledger verify census --receipts mine.jsonl");
  command->add_option("NAME", verify->dataset, "The dataset")->required();
  CLI::Option* receipts =
      command
          ->add_option("--receipts", verify->receipts, "Check that the history still contains these charges")
          ->type_name("FILE");
  command
      ->add_option("--key", verify->key,
                   "The key that must have signed the receipts, as `curator ledger key` printed it earlier. "
                   "Default: the key that the server has now")
      ->type_name("HEX")
      ->needs(receipts)
      ->check([](const std::string& text) {
        const bool is_key =
            text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
        return is_key ? std::string() : "'" + text + "' is not a key of 64 hexadecimal digits";
      });
  Choose(command, verify, chosen);
}

void AddProposeRepair(CLI::App& group, Chosen& chosen) {
  const auto repair = std::make_shared<ProposeRepair>();
  CLI::App* command = AddCommand(
      group, "propose", "What a repair would raise, and a file for an approver; for owners. Changes nothing",
      "curator ledger repair propose census --reason 'the disk failed on Monday' --out repair.json");
  command
      ->add_option("NAME", repair->dataset,
                   "The dataset; its predecessors and successors are repaired with it")
      ->required();
  command->add_option("--reason", repair->reason, "Why; recorded in the history")
      ->type_name("TEXT")
      ->required();
  command->add_option("--receipts", repair->receipts, "Also count lost charges that these receipts prove")
      ->type_name("FILE");
  command->add_option("--out", repair->out, "The file for the proposal")->type_name("FILE.json")->required();
  Choose(command, repair, chosen);
}

void AddApproveRepair(CLI::App& group, Chosen& chosen) {
  const auto repair = std::make_shared<ApproveRepair>();
  CLI::App* command =
      AddCommand(group, "approve",
                 "Accept that the newest entries are lost, and that the amounts they spent stay "
                 "spent; for approvers, except the proposer",
                 "curator ledger repair approve census repair.json");
  command->add_option("NAME", repair->dataset, "The dataset")->required();
  command->add_option("PROPOSAL", repair->proposal, "The file that the owner made")
      ->type_name("FILE.json")
      ->required();
  command->add_flag("--dry-run", repair->only_show, "Show what would be raised, change nothing");
  AddRequestId(command, repair->request_id);
  Choose(command, repair, chosen);
}

void AddRepairCommands(CLI::App& ledger, Chosen& chosen) {
  CLI::App* group =
      AddGroup(ledger, "repair",
               "After a restored backup: raise the spent amounts to those of the anchor, so that "
               "charges can continue");
  AddProposeRepair(*group, chosen);
  AddApproveRepair(*group, chosen);
}

}  // namespace

void AddLedgerCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "ledger", "The append-only history of a dataset");
  const auto show = std::make_shared<ShowLedger>();
  CLI::App* command =
      AddCommand(*group, "show", "The entries, oldest first", "curator ledger show census --newest 20");
  command->add_option("NAME", show->dataset, "The dataset")->required();
  command->add_option("--after", show->after, "Only entries with a greater number. Default: 0")
      ->type_name("ENTRY")
      ->check(NonNegativeNumber);
  command->add_option("--before", show->before, "Only entries with a smaller number")
      ->type_name("ENTRY")
      ->check(PositiveNumber);
  command->add_option("--newest", show->newest, "Of these the newest, at most this many. Default: all")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--limit", show->limit, "At most this many entries. Default: all")
      ->type_name("N")
      ->check(NonNegativeNumber);
  Choose(command, show, chosen);
  AddNameCommand(*group, "refusals",
                 "Charges that did not fit: what was asked, and what was left; owners see all",
                 "curator ledger refusals census", &ListRefusals::dataset, "NAME", chosen);
  const auto watch = std::make_shared<WatchLedger>();
  command = AddCommand(*group, "watch", "The entries as they come, one a line, until you stop it",
                       "curator ledger watch census:100 schools:7");
  command
      ->add_option("NAME", watch->datasets,
                   "The datasets, at most 100; NAME:ENTRY begins after the entry with this number")
      ->required()
      ->expected(1, 100);
  command->add_option("--after", watch->after, "Begin after the entry with this number. Default: 0")
      ->type_name("ENTRY")
      ->check(NonNegativeNumber);
  Choose(command, watch, chosen);
  const auto exported = std::make_shared<ExportLedger>();
  command =
      AddCommand(*group, "export", "The whole history as JSON lines, sufficient for independent verification",
                 "curator ledger export census --out census.jsonl");
  command->add_option("NAME", exported->dataset, "The dataset")->required();
  command->add_option("--out", exported->out, "The file to write. Default: standard output")
      ->type_name("FILE.jsonl");
  Choose(command, exported, chosen);
  AddVerifyLedger(*group, chosen);
  Choose(AddCommand(*group, "key", "The key that the server signs receipts with", "curator ledger key"),
         std::make_shared<ShowReceiptKey>(), chosen);
  AddRepairCommands(*group, chosen);
}

}  // namespace curator::cli
