// What the ledger stores and reads again: an anchor's file, a charge's postings, and the documents of its
// history. The first byte says which; each text has one reading, and each reading one text.
#include "ledger/anchor/anchor_log.h"
#include "ledger/history/entry_payload.h"
#include "ledger/sql/rows.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

using namespace ledger;

enum Kind : char { kAnchor, kPostings, kDocument };

constexpr char kLedger[] = "11111111-2222-4333-8444-555555555555";

AnchorState StateAt(int64_t seq) {
  AnchorState state;
  state.heads["d"] = {seq, std::string(32, static_cast<char>('a' + seq))};
  state.spent[{1, "rho"}] = seq * 10;
  return state;
}

// Of a log that is read, the next record is read as well.
bool TryAnchor(std::string_view text, std::string_view input) {
  absl::StatusOr<AnchorLog> log = AnchorLog::Parse(kLedger, text);
  if (!log.ok()) {
    if (!absl::IsDataLoss(log.status())) Broken("what is refused is damaged", input);
    return false;
  }
  if (log->end() > text.size()) Broken("a log ends within its file", input);
  return true;
}

template <typename Document>
bool Reads(const absl::StatusOr<Document>& document, std::string_view bytes, std::string_view input) {
  if (!document.ok()) {
    if (!absl::IsDataLoss(document.status())) Broken("what is refused is damaged", input);
    return false;
  }
  if (EncodePayload(*document) != bytes) Broken("what is accepted is written as the same bytes", input);
  return true;
}

bool TryDocument(std::string_view bytes, std::string_view input) {
  int readings = 0;
  readings += Reads(ParseDatasetCreated(bytes), bytes, input);
  readings += Reads(ParseOpenedAccount(bytes), bytes, input);
  readings += Reads(ParseDatasetSealed(bytes), bytes, input);
  readings += Reads(ParsePartAdded(bytes), bytes, input);
  readings += Reads(ParsePartSealed(bytes), bytes, input);
  readings += Reads(ParseChargeMade(bytes), bytes, input);
  readings += Reads(ParseChargeChanged(bytes), bytes, input);
  readings += Reads(ParseLimitChange(bytes), bytes, input);
  readings += Reads(ParseLimitEnded(bytes), bytes, input);
  readings += Reads(ParseRulesSet(bytes), bytes, input);
  readings += Reads(ParseRepair(bytes), bytes, input);
  if (const auto note = ParseNote(bytes); note.ok()) {
    if (EncodeNote(*note) != bytes) Broken("what is accepted is written as the same bytes", input);
    ++readings;
  }
  if (readings > 1) Broken("a document is of one kind", input);
  return readings == 1;
}

bool TryPostings(std::string_view text, std::string_view input) {
  const auto postings = sql::ParsePostingsText(text);
  if (!postings.ok()) {
    if (!absl::IsDataLoss(postings.status())) Broken("what is refused is damaged", input);
    return false;
  }
  if (sql::PostingsText(*postings) != text) Broken("what is accepted is written as the same text", input);
  return true;
}

}  // namespace

std::vector<std::string> Seeds() {
  const AccountSpec analyst{.scope_type = ScopeType::kAnalyst,
                            .scope_key = "bo",
                            .rule = "rule bytes",
                            .rule_name = "ZCDP",
                            .limits = {{"rho", 5}}};
  const OpenedAccount account{1, analyst};
  std::vector<std::string> documents = {
      EncodePayload(DatasetCreated{.name = "census", .owner = "olga", .accounts = {account}}),
      EncodePayload(account),
      EncodePayload(DatasetSealed{1, "commitment"}),
      EncodePayload(PartAdded{2, {1, 2}, account}),
      EncodePayload(PartSealed{2, 3, "commitment"}),
      EncodeNote("bo"),
      EncodePayload(
          ChargeMade{.principal = "bo", .request_id = "r", .kind = "WORKLOAD", .postings = {{1, "rho", 7}}}),
      EncodePayload(ChargeChanged{.reason = "late", .postings = {{1, "rho", 7}}}),
      EncodePayload(LimitChange{"p", 1, "rho", 5, 6, "more"}),
      EncodePayload(LimitEnded{"p", "not now"}),
      EncodePayload(RulesSet{"rules", "added night"}),
      EncodePayload(
          Repair{.reason = "the disk failed", .raised = {{1, "rho", 2, 5, 7}}, .lost_charges = {"c"}})};
  for (std::string& document : documents) document.insert(0, 1, kDocument);
  AnchorLog log(kLedger);
  const std::string first = log.Append(StateAt(1));
  documents.push_back(std::string(1, kAnchor) + first);
  documents.push_back(std::string(1, kAnchor) + first + log.Append(StateAt(2)) + std::string(16, '\0'));
  documents.push_back(std::string(1, kPostings) + sql::PostingsText({{1, "releases", 1}, {12, "rho", 1000}}));
  documents.push_back(std::string(1, kPostings) + sql::PostingsText({}));
  return documents;
}

bool Try(std::string_view input) {
  if (input.empty()) return false;
  const std::string_view bytes = input.substr(1);
  switch (input[0]) {
    case kAnchor:
      return TryAnchor(bytes, input);
    case kPostings:
      return TryPostings(bytes, input);
    case kDocument:
      return TryDocument(bytes, input);
    default:
      return false;
  }
}

}  // namespace curator::fuzz
