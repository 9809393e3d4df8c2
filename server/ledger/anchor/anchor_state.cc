#include "ledger/anchor/anchor_state.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::ledger {
namespace {

constexpr char kFirstLine[] = "curator-anchor 1";

// Adds what one line says; false when it says nothing known.
bool TakeLine(const std::string& line, AnchorState& state) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  int64_t number = 0;
  if (words.size() == 4 && words[0] == "head" && absl::SimpleAtoi(words[2], &number) && number >= 1 &&
      words[3].size() == 64) {
    return state.heads.try_emplace(words[1], ChainHead{number, absl::HexStringToBytes(words[3])}).second;
  }
  int64_t account = 0;
  if (words.size() == 4 && words[0] == "spent" && absl::SimpleAtoi(words[1], &account) &&
      absl::SimpleAtoi(words[3], &number) && number >= 0) {
    return state.spent.try_emplace({account, words[2]}, number).second;
  }
  return false;
}

}  // namespace

absl::Status Raise(AnchorState& state, const AnchorState& other) {
  for (const auto& [dataset_id, head] : other.heads) {
    ChainHead& mine = state.heads[dataset_id];
    if (mine.seq == head.seq && mine.hash != head.hash) {
      return absl::DataLossError(absl::StrCat("two anchors vouch for different histories: dataset ",
                                              dataset_id, " has two different entries ", head.seq));
    }
    if (mine.seq < head.seq) mine = head;
  }
  for (const auto& [key, spent] : other.spent) {
    int64_t& mine = state.spent[key];
    mine = std::max(mine, spent);
  }
  return absl::OkStatus();
}

std::string AnchorText(std::string_view ledger_uuid, const AnchorState& state) {
  std::string text = absl::StrCat(kFirstLine, "\nledger ", std::string(ledger_uuid), "\n");
  for (const auto& [dataset_id, head] : state.heads) {
    absl::StrAppend(&text, "head ", dataset_id, " ", head.seq, " ", absl::BytesToHexString(head.hash), "\n");
  }
  for (const auto& [key, spent] : state.spent) {
    absl::StrAppend(&text, "spent ", key.first, " ", key.second, " ", spent, "\n");
  }
  absl::StrAppend(&text, "end ", absl::BytesToHexString(Sha256(text)), "\n");
  return text;
}

absl::StatusOr<AnchorState> ParseAnchorText(std::string_view ledger_uuid, std::string_view text) {
  std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  if (lines.size() < 4 || !lines.back().empty() || lines[0] != kFirstLine) {
    return absl::DataLossError("this is not a whole anchor");
  }
  const std::string end_line = lines[lines.size() - 2];
  const std::string_view covered = text.substr(0, text.size() - end_line.size() - 1);
  if (end_line != absl::StrCat("end ", absl::BytesToHexString(Sha256(covered)))) {
    return absl::DataLossError("the anchor's content does not have its checksum");
  }
  if (lines[1] != absl::StrCat("ledger ", std::string(ledger_uuid))) {
    return absl::DataLossError("the anchor belongs to another ledger");
  }
  AnchorState state;
  for (size_t i = 2; i + 2 < lines.size(); ++i) {
    if (!TakeLine(lines[i], state)) {
      return absl::DataLossError(absl::StrCat("the anchor's line ", i + 1, " says nothing known"));
    }
  }
  return state;
}

}  // namespace curator::ledger
