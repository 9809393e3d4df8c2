#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/receipt_file.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"
#include "client/cli/output/names.h"
#include "client/cli/output/tables.h"
#include "client/client.h"
#include "client/receipt.h"

namespace curator::cli {
namespace {

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
      Find("the chain does not lead to the head that the server tells of");
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
  table.rows_for_people = 1000;
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

}  // namespace

absl::Status Run(Session& session, const VerifyLedger& command) {
  ASSIGN_OR_RETURN(const v1::VerifyLedgerResponse verified, session.client.VerifyLedger(command.dataset));
  Document document;
  document.fields = {{"ok", "consistent", verified.ok()},
                     {"entries_checked", "entries checked", verified.entries_checked()},
                     {"anchored_sequence", "anchored up to entry", verified.anchored_sequence()},
                     {"head_hash", "head", Hex(verified.head_hash())},
                     {"findings", "findings",
                      std::vector<std::string>(verified.findings().begin(), verified.findings().end())}};
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

absl::Status Run(Session& session, const RepairLedger& command) {
  v1::RepairLedgerRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_reason(command.reason);
  request.set_validate_only(command.only_show);
  if (!command.receipts.empty()) {
    ASSIGN_OR_RETURN(const std::vector<v1::Receipt> receipts, ReadReceipts(command.receipts));
    for (const v1::Receipt& receipt : receipts) *request.add_receipts() = receipt;
  }
  ASSIGN_OR_RETURN(const v1::RepairLedgerResponse repaired, session.client.RepairLedger(request));
  Document document;
  document.fields = {{"first_lost_sequence", "first lost entry", repaired.first_lost_sequence()},
                     {"last_lost_sequence", "last lost entry", repaired.last_lost_sequence()},
                     {"reservations_spent", "reservations now spent", repaired.reservations_spent()},
                     {"receipts_counted", "counted by receipts", repaired.receipts_counted()},
                     {"still_read_only", "still read-only", TextOrNone(repaired.still_read_only())}};
  Table table{"raised",
              "",
              {{"account", "account"},
               {"counter", "counter"},
               {"old_spent", "spent before", Align::kRight},
               {"new_spent", "spent now", Align::kRight},
               {"old_limit", "limit before", Align::kRight},
               {"new_limit", "limit now", Align::kRight}},
              {}};
  for (const v1::RepairLedgerResponse::Raised& raised : repaired.raised()) {
    table.rows.push_back({raised.account(), raised.counter(), raised.old_spent(), raised.new_spent(),
                          raised.old_limit(), raised.new_limit()});
  }
  document.tables.push_back(std::move(table));
  if (repaired.raised().empty() && repaired.last_lost_sequence() == 0) {
    document.notes.emplace_back("nothing of this dataset is behind the anchor or the receipts");
  } else if (command.only_show) {
    document.notes.emplace_back("nothing was changed");
  }
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
