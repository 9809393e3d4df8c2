// The configuration file of a server that is not in development mode: where it listens, whom it trusts, and
// where its data lies. docs/OPERATING.md describes it with an example.
//
// Strict: an unknown member, a member twice, a wrong type and a value out of its range are refused, and the
// message names the member ("listeners[0].address"). A server that reads another meaning into its
// configuration than its administrator is worse than one that does not start.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "auth/jwt.h"
#include "base/quotas.h"

namespace curator::config {

enum class ListenerKind {
  kEdge,       // a unix socket for haproxy, which speaks to the network; needs its secret in every call
  kLocal,      // a unix socket for programs of this host, with the same authentication
  kMutualTls,  // TLS with required client certificates, for one's own services
};

struct Listener {
  ListenerKind kind = ListenerKind::kLocal;
  std::string address;  // "unix:/run/curator/edge.sock", or "10.0.0.5:7878" for kMutualTls
  // kEdge: whose client certificates are accepted (PEM), as haproxy passes them on; empty: none.
  std::string client_ca;
  // kEdge: the file with the secret that haproxy's configuration has, too; made by `curatord edge-config`.
  std::string secret_file;
  // kMutualTls: the folder with server.pem, server.key and clients.pem; a symbolic link that is swapped.
  std::string tls_folder;
  int64_t refresh_seconds = 10;  // kMutualTls: from one look at the folder to the next
};

// What an issuer's identities become who are nobody's yet.
enum class UnknownIdentities {
  kRefuse,
  kRegister,  // a principal of their own, without rights, when they ask for it
};

struct IssuerConfig {
  auth::Issuer issuer;
  UnknownIdentities unknown = UnknownIdentities::kRefuse;
  // As which client people log in there from the command line (`curator login`); empty: they cannot.
  std::string client_id;
  std::string scope = "openid profile offline_access";
  // The claim of which kRegister makes the principal's name, after the alias and a dot.
  std::string name_claim = "preferred_username";
};

struct Limits {
  int64_t message_bytes = 4 << 20;
  int64_t metadata_bytes = 65'536;
  int64_t streams_per_connection = 100;
  int64_t connection_idle_seconds = 300;
  int64_t connection_age_seconds = 3'600;
  int64_t connection_grace_seconds = 600;
  int64_t keepalive_seconds = 60;
  int64_t keepalive_timeout_seconds = 20;
};

// The audit of what is asked, read or refused (server/audit).
struct AuditConfig {
  // Of the file beside a ledger in SQLite, best on another disk; empty: audit.db in the ledger's folder.
  // In PostgreSQL the audit is a table of the ledger's database.
  std::string path = {};
  int64_t name_days = 400;  // after which names are removed from records
};

// What the server measures of itself (server/metrics).
struct MetricsConfig {
  std::string file = {};     // as --metrics-file
  bool per_analyst = false;  // also the accounts of analysts and of groups, by name
};

// The least important lines that the log has.
enum class LogLevel { kInfo, kWarning, kError };

// How many persons it takes to raise a limit, to repair a history and to publish a dataset.
enum class Custody {
  kTwoPersons,  // one proposes, another one approves
  kSingle,      // one person has custody of this server: owners approve what they proposed
};

struct ServerConfig {
  std::vector<Listener> listeners;
  std::string ledger;    // as --ledger
  std::string data_dir;  // as --data-dir
  std::string anchor;    // as --anchor; empty: below data_dir
  std::vector<IssuerConfig> issuers;
  std::string jwks_folder;       // with a file for each issuer (auth/issuer_keys.h)
  std::string jwks_wake_socket;  // of the program that fetches keys; empty: it is not woken
  Limits limits;
  Quotas quotas;
  std::map<std::string, Quotas, std::less<>> principal_quotas;  // of those who have others than these
  AuditConfig audit;
  MetricsConfig metrics;
  LogLevel log_level = LogLevel::kInfo;
  Custody custody = Custody::kTwoPersons;
  // How old the login of who approves may be; none: no login is needed (docs/adr/0072).
  std::optional<std::chrono::seconds> most_login_age = std::nullopt;

  QuotaTable quota_table() const { return {quotas, principal_quotas}; }
};

// INVALID_ARGUMENT whose message names the member, what is wrong, and what would be right;
// FAILED_PRECONDITION for a listener that this server refuses to have.
absl::StatusOr<ServerConfig> ParseServerConfig(std::string_view json);

// ParseServerConfig() of a file. NOT_FOUND when it cannot be read.
absl::StatusOr<ServerConfig> ReadServerConfig(const std::string& path);

}  // namespace curator::config
