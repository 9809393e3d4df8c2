#include "base/postgres_url.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace curator {
namespace {

absl::Status RefusedUrl(std::string_view finding) {
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(finding),
      ". A password does not belong here, where other users of this machine can read it: write "
      "it to a password file (~/.pgpass, or another one that the environment variable "
      "PGPASSFILE names), to a service file, or give it in the environment variable PGPASSWORD"));
}
absl::Status HasPassword() {
  return RefusedUrl("contains a password");
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
    return absl::InvalidArgumentError("is malformed: write postgresql://USER@HOST:PORT/DATABASE");
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

absl::StatusOr<PostgresUrl> ParsePostgresUrl(std::string_view url) {
  ASSIGN_OR_RETURN(const UrlParts parts, PartsOf(url));
  if (parts.user.find(':') != std::string_view::npos) return HasPassword();
  // A password with "/", "@" or "?" in it ends up in a part where something else was expected.
  const std::string_view after_user = url.substr(static_cast<size_t>(parts.hosts.data() - url.data()));
  if (after_user.find('@') != std::string_view::npos) {
    return RefusedUrl("contains an \"@\" after the user: elsewhere write it as %40");
  }
  if (!HasOnlyNumbersAsPorts(parts.hosts)) return RefusedUrl("has a port that is not a number");
  PostgresUrl parsed;
  parsed.user = parts.user;
  parsed.hosts = parts.hosts;
  parsed.database = parts.database;
  std::string hosts(parts.hosts.empty() ? "the local socket" : parts.hosts);
  for (const std::string_view parameter : parts.parameters) {
    const size_t equals = parameter.find('=');
    const std::string keyword = Decoded(parameter.substr(0, equals));
    if (equals == std::string_view::npos) return RefusedUrl("has a parameter without \"=\"");
    const std::string value = Decoded(parameter.substr(equals + 1));
    if (absl::EndsWith(keyword, "password")) return HasPassword();  // and sslpassword
    if (keyword == "host" || keyword == "hostaddr") hosts = value;
    if (keyword == "options") {
      parsed.options = value;
    } else {
      parsed.parameters.emplace_back(parameter);
    }
  }
  parsed.where = absl::StrCat(absl::StrContains(hosts, ",") ? "hosts " : "host ", hosts);
  return parsed;
}

std::string UrlWithDefaults(const PostgresUrl& url, std::string_view defaults) {
  return absl::StrCat("postgresql://", url.user, url.user.empty() ? "" : "@", url.hosts, "/", url.database,
                      "?", std::string(defaults), url.parameters.empty() ? "" : "&",
                      absl::StrJoin(url.parameters, "&"));
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

}  // namespace curator
