// What is recorded of a call that ended: who asked for what, and whether it was allowed.
//
// A record has only what a log line of the call may have. It never has a value of an attribute, a predicate,
// a count, a duration, a size, a label, a summary or the text of an error, and its time is that of the call's
// beginning: the end of one that reads records can depend on them (docs/adr/0063).
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/errors.h"

namespace curator::audit {

enum class RecordKind {
  kCall,      // of which all other members speak
  kGap,       // `count` calls are missing, the first of which ended about `since_us`
  kRefusals,  // `count` refusals of `principal` since `since_us` that were only counted (refusal_bound.h)
  kStarted,   // `server` has begun to record
  kStopped,   // `server` has ended in order: what it did not record, gaps before this record say
};

// By what the caller was identified.
enum class IdentityKind { kNone, kOidc, kCertificate, kApiToken };

// Where the call came from: the kind of the listener.
enum class PeerClass {
  kNone,       // of a record that is no call's
  kLocal,      // a unix socket for programs of the host
  kEdge,       // the network, through haproxy
  kMutualTls,  // one's own services
  kLoopback,   // development mode, where every name is believed
};

enum class Decision {
  kNone,  // of a record that is no call's, or of a watch that its caller left before anything was decided
  kAllowed,
  kRefused,
};

inline constexpr size_t kMostFullAccounts = 10;

struct AuditRecord {
  int64_t id = 0;  // 1, 2, 3, ... in the order in which records were written; 0 until then
  RecordKind kind = RecordKind::kCall;
  int64_t time_us = 0;  // when the call began; microseconds since 1970 by the server's clock
  std::string server;   // the run of a server program that handled the call
  std::string principal;
  IdentityKind identity = IdentityKind::kNone;
  std::string credential_id;  // as in the directory; empty where it is not known
  PeerClass peer = PeerClass::kNone;
  std::string method;   // "BudgetService/GetBudget"
  std::string dataset;  // as the request names it; there need not be such a dataset
  Decision decision = Decision::kNone;
  absl::StatusCode status = absl::StatusCode::kOk;
  std::string reason;  // of the error (ErrorInfo.reason); empty for OK
  std::string request_id;
  int64_t count = 0;
  int64_t since_us = 0;
  // Of a charge that did not fit: the full accounts, as the error names them; the first of them when there
  // are more than kMostFullAccounts. Public: a price and the amounts that were left.
  std::vector<FullAccount> full_accounts = {};
  std::string trace_id = {};  // of the call (base/trace.h); for the log alone: it is not stored

  bool operator==(const AuditRecord&) const = default;
};

// The words by which stores and log lines name these; empty for kNone.
std::string_view WordOf(RecordKind kind);
std::string_view WordOf(IdentityKind identity);
std::string_view WordOf(PeerClass peer);
std::string_view WordOf(Decision decision);

// The value with this word. DATA_LOSS when there is none.
absl::StatusOr<RecordKind> ParseRecordKind(std::string_view word);
absl::StatusOr<IdentityKind> ParseIdentityKind(std::string_view word);
absl::StatusOr<PeerClass> ParsePeerClass(std::string_view word);
absl::StatusOr<Decision> ParseDecision(std::string_view word);

// The accounts as a store keeps them: a line for each, with tabs between its parts; empty for none.
std::string TextOf(const std::vector<FullAccount>& accounts);
// DATA_LOSS for what TextOf() does not write.
absl::StatusOr<std::vector<FullAccount>> ParseFullAccounts(std::string_view text);

// At most `most` bytes of `text` that every store takes and every terminal shows: well-formed UTF-8 without
// control characters, in whose place there are question marks. Never cuts a character.
std::string BoundedText(std::string_view text, size_t most);

// The record with all its texts bounded: whatever a client sent, the record can be written.
AuditRecord Bounded(AuditRecord record);

}  // namespace curator::audit
