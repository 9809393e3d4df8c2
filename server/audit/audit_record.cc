#include "audit/audit_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace curator::audit {
namespace {

template <typename Value>
struct Word {
  Value value;
  std::string_view word;
};

constexpr std::array<Word<RecordKind>, 5> kRecordKinds = {{{RecordKind::kCall, "CALL"},
                                                           {RecordKind::kGap, "GAP"},
                                                           {RecordKind::kRefusals, "REFUSALS"},
                                                           {RecordKind::kStarted, "STARTED"},
                                                           {RecordKind::kStopped, "STOPPED"}}};
constexpr std::array<Word<IdentityKind>, 4> kIdentityKinds = {{{IdentityKind::kNone, ""},
                                                               {IdentityKind::kOidc, "OIDC"},
                                                               {IdentityKind::kCertificate, "CERTIFICATE"},
                                                               {IdentityKind::kApiToken, "API_TOKEN"}}};
constexpr std::array<Word<PeerClass>, 5> kPeerClasses = {{{PeerClass::kNone, ""},
                                                          {PeerClass::kLocal, "local"},
                                                          {PeerClass::kEdge, "edge"},
                                                          {PeerClass::kMutualTls, "mutual_tls"},
                                                          {PeerClass::kLoopback, "loopback"}}};
constexpr std::array<Word<Decision>, 3> kDecisions = {
    {{Decision::kNone, ""}, {Decision::kAllowed, "ALLOWED"}, {Decision::kRefused, "REFUSED"}}};

template <typename Words, typename Value>
std::string_view WordIn(const Words& words, Value value) {
  return std::ranges::find(words, value, [](const auto& each) { return each.value; })->word;
}

template <typename Value, size_t kSize>
absl::StatusOr<Value> ValueIn(const std::array<Word<Value>, kSize>& words, std::string_view word) {
  const auto found = std::ranges::find(words, word, [](const auto& each) { return each.word; });
  if (found != words.end()) return found->value;
  return absl::DataLossError(
      absl::StrCat("the audit has a word that no program writes: ", std::string(word)));
}

}  // namespace

std::string_view WordOf(RecordKind kind) {
  return WordIn(kRecordKinds, kind);
}
std::string_view WordOf(IdentityKind identity) {
  return WordIn(kIdentityKinds, identity);
}
std::string_view WordOf(PeerClass peer) {
  return WordIn(kPeerClasses, peer);
}
std::string_view WordOf(Decision decision) {
  return WordIn(kDecisions, decision);
}

absl::StatusOr<RecordKind> ParseRecordKind(std::string_view word) {
  return ValueIn(kRecordKinds, word);
}
absl::StatusOr<IdentityKind> ParseIdentityKind(std::string_view word) {
  return ValueIn(kIdentityKinds, word);
}
absl::StatusOr<PeerClass> ParsePeerClass(std::string_view word) {
  return ValueIn(kPeerClasses, word);
}
absl::StatusOr<Decision> ParseDecision(std::string_view word) {
  return ValueIn(kDecisions, word);
}

std::string TextOf(const std::vector<FullAccount>& accounts) {
  return absl::StrJoin(accounts, "\n", [](std::string* line, const FullAccount& full) {
    absl::StrAppend(line, full.account, "\t", full.rule, "\t", full.counter, "\t", full.asked, "\t",
                    full.remaining);
  });
}

absl::StatusOr<std::vector<FullAccount>> ParseFullAccounts(std::string_view text) {
  std::vector<FullAccount> accounts;
  if (text.empty()) return accounts;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(std::string(text), '\n'))) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    FullAccount full;
    const bool is_read = parts.size() == 5 && absl::SimpleAtoi(parts[3], &full.asked) &&
                         absl::SimpleAtoi(parts[4], &full.remaining);
    if (!is_read) return absl::DataLossError("the audit holds a refusal that cannot be read");
    full.account = parts[0];
    full.rule = parts[1];
    full.counter = parts[2];
    accounts.push_back(std::move(full));
  }
  return accounts;
}

std::string BoundedText(std::string_view text, size_t most) {
  std::string bounded;
  while (!text.empty()) {
    const size_t length = Utf8CharacterLength(text);
    std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length == 0 || HasControlCharacter(character)) character = "?";
    if (bounded.size() + character.size() > most) break;
    bounded.append(character);
  }
  return bounded;
}

AuditRecord Bounded(AuditRecord record) {
  constexpr size_t kMostBytes = 128;  // of a principal's name, as of everything the server itself names
  constexpr size_t kMostDatasetBytes = 256;
  for (std::string* const text : {&record.server, &record.principal, &record.credential_id, &record.method,
                                  &record.reason, &record.request_id}) {
    *text = BoundedText(*text, kMostBytes);
  }
  record.dataset = BoundedText(record.dataset, kMostDatasetBytes);
  if (record.full_accounts.size() > kMostFullAccounts) record.full_accounts.resize(kMostFullAccounts);
  for (FullAccount& full : record.full_accounts) {
    full.account = BoundedText(full.account, 2 * kMostDatasetBytes);
    full.rule = BoundedText(full.rule, kMostBytes);
    full.counter = BoundedText(full.counter, kMostBytes);
  }
  return record;
}

}  // namespace curator::audit
