#include "ledger/anchor/anchor_log.h"

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

constexpr std::string_view kVersion1 = "curator-anchor 1\n";
constexpr std::string_view kVersion2 = "curator-anchor 2\n";
constexpr char kEnd[] = "end ";
constexpr size_t kEndSize = sizeof(kEnd) - 1;
constexpr size_t kHexDigits = 64;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string LinesOf(const AnchorState& state) {
  std::string lines;
  for (const auto& [dataset_id, head] : state.heads) {
    absl::StrAppend(&lines, "head ", dataset_id, " ", head.seq, " ", absl::BytesToHexString(head.hash), "\n");
  }
  for (const auto& [key, spent] : state.spent) {
    absl::StrAppend(&lines, "spent ", key.first, " ", key.second, " ", spent, "\n");
  }
  return lines;
}

// Adds one line to `state`; false when the line is malformed.
bool TakeLine(const std::string& line, AnchorState& state) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  int64_t number = 0;
  if (words.size() == 4 && words[0] == "head" && absl::SimpleAtoi(words[2], &number) && number >= 1 &&
      words[3].size() == kHexDigits) {
    return state.heads.try_emplace(words[1], ChainHead{number, absl::HexStringToBytes(words[3])}).second;
  }
  int64_t account = 0;
  if (words.size() == 4 && words[0] == "spent" && absl::SimpleAtoi(words[1], &account) &&
      absl::SimpleAtoi(words[3], &number) && number >= 0) {
    return state.spent.try_emplace({account, words[2]}, number).second;
  }
  return false;
}

absl::StatusOr<AnchorState> StateOf(std::string_view lines) {
  AnchorState state;
  while (!lines.empty()) {
    const size_t length = lines.find('\n');
    const std::string line(lines.substr(0, length));
    if (!TakeLine(line, state)) return absl::DataLossError("the anchor has a malformed line");
    lines.remove_prefix(length + 1);
  }
  return state;
}

// Where the last line of `record` begins. `record` ends with a line end.
size_t LastLine(std::string_view record) {
  const size_t before = record.find_last_of('\n', record.size() - 2);
  return before == std::string_view::npos ? 0 : before + 1;
}

// The length of the record at the start of `bytes`; 0 when it is incomplete, with a zero byte before its end.
size_t WholeRecordLength(std::string_view bytes) {
  bytes = bytes.substr(0, bytes.find('\0'));
  size_t line = 0;
  while (true) {
    const size_t end = bytes.find('\n', line);
    if (end == std::string_view::npos) return 0;
    if (bytes.substr(line, kEndSize) == kEnd) return end + 1;
    line = end + 1;
  }
}

// Whether `bytes`, which do not begin with a whole record, can be the result of one interrupted write of
// record `number`: some of its bytes, and zero bytes for the others. No later record can follow, because each
// one is durable before the next is written.
bool IsTorn(std::string_view bytes, int64_t number) {
  const std::string_view tail = bytes.substr(0, bytes.find_last_not_of('\0') + 1);
  if (tail.empty()) return true;
  const bool has_hole = tail.find('\0') != std::string_view::npos;
  const std::string own_end = absl::StrCat(kEnd, number, " ");
  for (size_t at = tail.find(kEnd); at != std::string_view::npos; at = tail.find(kEnd, at + 1)) {
    const std::string_view line = tail.substr(at);
    const size_t line_size = own_end.size() + kHexDigits + 1;
    const bool is_whole = line.size() == line_size && line.back() == '\n';
    const bool is_own = StartsWith(line, own_end) || StartsWith(own_end, line);
    if (!is_own || (is_whole ? !has_hole : line.size() >= line_size)) return false;
  }
  if (has_hole) return true;
  // Truncated: the lines before the cut are well-formed, and bytes are missing after it.
  return tail.size() < bytes.size() && StateOf(tail.substr(0, tail.rfind('\n') + 1)).ok();
}

}  // namespace

AnchorLog::AnchorLog(std::string_view ledger_uuid)
    : first_lines_(absl::StrCat(std::string(kVersion2), "ledger ", std::string(ledger_uuid), "\n")) {}

AnchorLog::Record AnchorLog::Next(const AnchorState& change) const {
  Record record;
  if (number_ == 0) record.text = first_lines_;
  absl::StrAppend(&record.text, LinesOf(change), kEnd, number_ + 1, " ");
  record.checksum = absl::BytesToHexString(Sha256(absl::StrCat(checksum_, record.text)));
  absl::StrAppend(&record.text, record.checksum, "\n");
  return record;
}

void AnchorLog::Take(const AnchorState& change, const Record& record) {
  Raise(state_, change).IgnoreError();  // its callers have checked for contradictions
  checksum_ = record.checksum;
  ++number_;
  end_ += record.text.size();
}

std::string AnchorLog::Append(const AnchorState& change) {
  Record record = Next(change);
  Take(change, record);
  return std::move(record.text);
}

absl::StatusOr<AnchorLog> AnchorLog::Parse(std::string_view ledger_uuid, std::string_view file) {
  AnchorLog log(ledger_uuid);
  if (StartsWith(file, kVersion1)) {
    RETURN_IF_ERROR(log.ParseVersion1(ledger_uuid, file));
    return log;
  }
  if (file.empty() || file.size() % kAnchorBlockBytes != 0 || !StartsWith(file, kVersion2)) {
    return absl::DataLossError("this is not a complete anchor file");
  }
  if (!StartsWith(file, log.first_lines_)) return absl::DataLossError("the anchor belongs to another ledger");
  const size_t first = WholeRecordLength(file);
  if (first == 0) return absl::DataLossError("the anchor's first record is incomplete");
  RETURN_IF_ERROR(log.ParseRecord(file.substr(0, first)));
  RETURN_IF_ERROR(log.Extend(file.substr(first)));
  return log;
}

absl::Status AnchorLog::Extend(std::string_view bytes) {
  while (!bytes.empty() && bytes.front() != '\0') {
    const size_t length = WholeRecordLength(bytes);
    if (length == 0) break;
    RETURN_IF_ERROR(ParseRecord(bytes.substr(0, length)));
    bytes.remove_prefix(length);
  }
  if (IsTorn(bytes, number_ + 1)) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the anchor is damaged after record ", number_, ", at byte ", end_));
}

absl::Status AnchorLog::ParseRecord(std::string_view text) {
  const size_t lines = number_ == 0 ? first_lines_.size() : 0;
  const size_t last_line = LastLine(text);
  ASSIGN_OR_RETURN(const AnchorState change, StateOf(text.substr(lines, last_line - lines)));
  const Record expected = Next(change);
  if (expected.text != text) {
    return absl::DataLossError(
        absl::StrCat("record ", number_ + 1, " of the anchor does not match its checksum"));
  }
  RETURN_IF_ERROR(Raise(state_, change));
  Take(change, expected);
  return absl::OkStatus();
}

absl::Status AnchorLog::ParseVersion1(std::string_view ledger_uuid, std::string_view file) {
  if (file.back() != '\n') return absl::DataLossError("this is not a complete anchor file");
  const size_t last_line = LastLine(file);
  const std::string_view covered = file.substr(0, last_line);
  if (file.substr(last_line) != absl::StrCat("end ", absl::BytesToHexString(Sha256(covered)), "\n")) {
    return absl::DataLossError("the anchor's content does not match its checksum");
  }
  const std::string above = absl::StrCat(std::string(kVersion1), "ledger ", std::string(ledger_uuid), "\n");
  if (!StartsWith(covered, above)) return absl::DataLossError("the anchor belongs to another ledger");
  ASSIGN_OR_RETURN(state_, StateOf(covered.substr(above.size())));
  end_ = file.size();
  return absl::OkStatus();
}

}  // namespace curator::ledger
