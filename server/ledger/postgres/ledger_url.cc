#include "ledger/postgres/ledger_url.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::ledger::postgres {
namespace {

// The system notices a host that has vanished after idle + count * interval while the ledger waits, and after
// the user timeout while it sends. SilenceWatch ends what it does not notice. A standby is skipped.
constexpr char kDefaults[] =
    "connect_timeout=10&fallback_application_name=curatord&keepalives_idle=5&keepalives_interval=3&"
    "keepalives_count=3&tcp_user_timeout=12000&target_session_attrs=read-write";

// The timeouts bound how long a stopped server keeps a row locked and how long a statement waits. Every query
// has an index, which a plan made while a table was small must not ignore (docs/adr/0010). Argument writes
// literals, and RowsOf() reads bytes, in the forms that the last two settings name.
constexpr char kSettings[] =
    "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off "
    "-c plan_cache_mode=force_generic_plan -c client_min_messages=warning "
    "-c idle_in_transaction_session_timeout=10s -c lock_timeout=5s -c statement_timeout=120s "
    "-c standard_conforming_strings=on -c bytea_output=hex";

absl::Status Refused(std::string_view finding) {
  return InvalidField("ledger",
                      absl::StrCat(std::string(finding),
                                   ". A password does not belong here, where other users of this "
                                   "machine can read it: write it to a password file and name that in "
                                   "the environment variable PGPASSFILE"));
}
absl::Status HasPassword() {
  return Refused("contains a password");
}

// "a:1,[::1]:2,%2Frun": a port is a number. What looks like one and is none may be a password.
bool HasOnlyNumbersAsPorts(std::string_view hosts) {
  while (!hosts.empty()) {
    const size_t comma = std::min(hosts.find(','), hosts.size());
    const std::string_view host = hosts.substr(0, comma);
    const size_t bracket = host.rfind(']');
    const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
    const std::string_view port = colon == std::string_view::npos ? "" : host.substr(colon + 1);
    if (port.find_first_not_of("0123456789") != std::string_view::npos) return false;
    hosts.remove_prefix(std::min(comma + 1, hosts.size()));
  }
  return true;
}

// A keyword or value of the query, without its percent-encoding. Bad encodings stay: the client library
// refuses them.
std::string Decoded(std::string_view encoded) {
  std::string text;
  for (size_t i = 0; i < encoded.size(); ++i) {
    const std::string_view digits = encoded.substr(i + 1, 2);
    const bool is_encoded = encoded[i] == '%' && digits.size() == 2 &&
                            absl::ascii_isxdigit(static_cast<unsigned char>(digits[0])) &&
                            absl::ascii_isxdigit(static_cast<unsigned char>(digits[1]));
    if (!is_encoded) {
      text += encoded[i];
      continue;
    }
    text += absl::HexStringToBytes(std::string(digits));
    i += 2;
  }
  return text;
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      encoded += c;
    } else {
      absl::StrAppend(&encoded, "%", absl::BytesToHexString(std::string(1, c)));
    }
  }
  return encoded;
}

struct UrlParts {
  std::string_view user;      // "ana" or "ana:secret", encoded
  std::string_view hosts;     // "a:1,b:2"
  std::string_view database;  // encoded
  std::vector<std::string_view> parameters;
};

absl::StatusOr<UrlParts> PartsOf(std::string_view url) {
  const size_t scheme = url.find("://");
  const std::string_view name = url.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "postgresql" && name != "postgres")) {
    return InvalidField("ledger", "is malformed: write postgresql://USER@HOST:PORT/DATABASE");
  }
  UrlParts parts;
  std::string_view rest = url.substr(scheme + 3);
  // As the client library reads it: the user ends at the first "@" before any "/".
  const size_t at = rest.find_first_of("@/");
  if (at != std::string_view::npos && rest[at] == '@') {
    parts.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
  }
  const size_t query = rest.find('?');
  if (query != std::string_view::npos) {
    for (const auto piece : absl::StrSplit(absl::string_view(rest.data(), rest.size()).substr(query + 1), '&',
                                           absl::SkipEmpty())) {
      parts.parameters.emplace_back(piece.data(), piece.size());
    }
    rest = rest.substr(0, query);
  }
  const size_t slash = rest.find('/');
  parts.hosts = rest.substr(0, slash);
  if (slash != std::string_view::npos) parts.database = rest.substr(slash + 1);
  return parts;
}

}  // namespace

absl::StatusOr<LedgerUrl> ParseLedgerUrl(std::string_view url) {
  ASSIGN_OR_RETURN(const UrlParts parts, PartsOf(url));
  if (parts.user.find(':') != std::string_view::npos) return HasPassword();
  // A password with "/", "@" or "?" in it ends up in a part where something else was expected.
  const std::string_view after_user = url.substr(static_cast<size_t>(parts.hosts.data() - url.data()));
  if (after_user.find('@') != std::string_view::npos) {
    return Refused("contains an \"@\" after the user: elsewhere write it as %40");
  }
  if (!HasOnlyNumbersAsPorts(parts.hosts)) return Refused("has a port that is not a number");
  std::string hosts(parts.hosts.empty() ? "the local socket" : parts.hosts);
  std::string options;
  std::vector<std::string> kept;
  for (const std::string_view parameter : parts.parameters) {
    const size_t equals = parameter.find('=');
    const std::string keyword = Decoded(parameter.substr(0, equals));
    if (equals == std::string_view::npos) return Refused("has a parameter without \"=\"");
    const std::string value = Decoded(parameter.substr(equals + 1));
    if (absl::EndsWith(keyword, "password")) return HasPassword();  // and sslpassword
    if (keyword == "host" || keyword == "hostaddr") hosts = value;
    if (keyword == "options") {
      options = absl::StrCat(value, " ");
    } else {
      kept.emplace_back(parameter);
    }
  }
  LedgerUrl ledger;
  ledger.where = absl::StrCat(absl::StrContains(hosts, ",") ? "hosts " : "host ", hosts);
  ledger.options = options;
  ledger.base = absl::StrCat("postgresql://", std::string(parts.user), parts.user.empty() ? "" : "@",
                             std::string(parts.hosts), "/", std::string(parts.database), "?", kDefaults,
                             kept.empty() ? "" : "&", absl::StrJoin(kept, "&"));
  return ledger;
}

std::string ConnectionString(const LedgerUrl& url, Isolation isolation) {
  const char* const level = isolation == Isolation::kReadCommitted ? "read\\ committed" : "repeatable\\ read";
  const std::string options =
      absl::StrCat(url.options, kSettings, " -c default_transaction_isolation=", level);
  return absl::StrCat(url.base, "&client_encoding=UTF8&options=", PercentEncoded(options));
}

}  // namespace curator::ledger::postgres
