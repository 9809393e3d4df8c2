#include "app_bootstrap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "app_identities.h"
#include "app_ledger.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "edge_secret.h"
#include "host/entropy.h"

namespace curator {
namespace {

int Report(const absl::Status& status, std::ostream& error) {
  if (status.ok()) return 0;
  error << "curatord: " << absl::StatusCodeToString(status.code()) << ": " << status.message() << "\n";
  return 1;
}

absl::StatusOr<directory::Identity> IdentityOf(const BootstrapOptions& options) {
  const bool is_oidc = !options.subject.empty() && !options.issuer.empty();
  if (is_oidc == !options.certificate.empty()) {
    return InvalidField("--oidc-subject", "with --oidc-issuer, or --certificate, must name the identity");
  }
  if (is_oidc) {
    return directory::Identity{
        .kind = directory::CredentialKind::kOidc, .issuer = options.issuer, .subject = options.subject};
  }
  return directory::Identity{
      .kind = directory::CredentialKind::kCertificate, .issuer = {}, .subject = options.certificate};
}

absl::Status Bootstrap(const config::ServerConfig& config, const BootstrapOptions& options,
                       std::ostream& out) {
  ASSIGN_OR_RETURN(const directory::Identity identity, IdentityOf(options));
  std::error_code failed;
  std::filesystem::create_directories(config.data_dir, failed);
  ASSIGN_OR_RETURN(const host::ServerKey key,
                   host::ServerKey::OpenOrCreate(std::filesystem::path(config.data_dir) / "server.key"));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ledger::Ledger> ledger,
      ledger::OpenLedger(OpenOptionsOf(
          {.ledger = config.ledger, .anchor_directory = config.anchor, .data_directory = config.data_dir})));
  ASSIGN_OR_RETURN(const std::unique_ptr<AppIdentities> identities,
                   AppIdentities::Open(config, key, *ledger));
  ASSIGN_OR_RETURN(
      const service::NewEnrolment enrolment,
      service::OpenEnrolmentOnHost(identities->services(), options.principal, identity, options.break_glass));
  out << "A caller authenticated as " << identity.issuer << (identity.issuer.empty() ? "" : " ")
      << identity.subject << " becomes the administrator " << options.principal
      << " with this code, within 15 minutes:\n\n"
      << "  curator enrol " << enrolment.code << "\n";
  return absl::OkStatus();
}

// What haproxy does for this server: TLS, limits for each source, and headers that nobody else may set.
// docs/adr/0059-haproxy-speaks-to-the-network.md says why.
constexpr std::string_view kEdge =
    R"(# Made by `curatord edge-config`. It contains a secret: mode 0600, owned by root.
global
{USER}    maxconn 2000
    tune.bufsize 16384
    tune.h2.max-concurrent-streams 100
    ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets

defaults
    mode http
    timeout connect 5s
    timeout client 300s
    timeout server 900s
    timeout http-request 10s
    timeout http-keep-alive 60s

frontend edge
    bind {BIND} ssl crt {CERTIFICATE} alpn h2,http/1.1{CLIENTS}
    # Of IPv6, a subscriber has a network of 64 bits; IPv4 addresses are mapped.
    stick-table type ipv6 size 100k expire 10m store conn_cur,http_req_rate(10s)
    tcp-request connection track-sc0 src,ipmask(32,64)
    tcp-request connection reject if { sc0_conn_cur gt 50 }
    # The whole header: one that a page may send without being asked can hold a comma.
    acl grpc req.fhdr(content-type) -m beg application/grpc
    # A page of another site would make calls with the certificate of its reader.
    acl browser req.fhdr(origin) -m found
    acl browser req.fhdr(sec-fetch-site) -m found
    http-request deny deny_status 403 if grpc browser
{BROWSERS}    # A status of gRPC's (14 UNAVAILABLE, 12 UNIMPLEMENTED), which a page of HTML is not.
    http-request return status 200 hdr grpc-status 14 hdr grpc-message "this address may make at most 2000 calls in 10 seconds: ask again later" if grpc { sc0_http_req_rate gt 2000 }
    # A watch of the server's health holds a place, and is for its own host.
    acl hidden path /grpc.health.v1.Health/Watch
    acl hidden path_beg /grpc.reflection
    http-request return status 200 hdr grpc-status 12 if grpc hidden
    http-request del-header -bin -m end
    http-request del-header grpclb_client_stats
    http-request del-header te
    http-request set-header te trailers if grpc
    http-request del-header x-curator- -m beg if grpc
    http-after-response set-header content-type application/grpc if { res.hdr(grpc-status) -m found }
    http-request set-header x-curator-edge {SECRET} if grpc
    http-request set-header x-curator-client-cert %[ssl_c_der,base64] if grpc { ssl_c_used } { ssl_c_verify 0 }
{ROUTE}    default_backend curatord

backend curatord
    # What ends the connection of one client ends nobody else's.
    http-reuse never
    server curatord {SOCKET} proto h2
)";

// Without a gate.
constexpr std::string_view kNoBrowsers = R"(    # What is no gRPC call has nothing to find here.
    http-request deny deny_status 404 if !grpc
)";
// With one. It gets neither the server's secret nor certificates. A source has so many requests and streams
// of events at a time, and begins so many logins.
constexpr std::string_view kBrowsers =
    R"(    # What is no gRPC call is a browser's, and goes to the dashboard.
    http-request track-sc1 src,ipmask(32,64) table browsers if !grpc
    http-request track-sc2 src,ipmask(32,64) table logins if !grpc { path_beg /auth/ }
    http-request deny deny_status 429 if !grpc { sc0_http_req_rate gt 2000 }
    http-request deny deny_status 429 if !grpc { sc1_conn_cur(browsers) gt 200 }
    http-request deny deny_status 429 if !grpc { sc2_http_req_rate(logins) gt 60 }
)";
constexpr std::string_view kRouteToGate = "    use_backend gate if !grpc\n";
constexpr std::string_view kGate = R"(
backend gate
    timeout queue 5s
    # A body that comes slowly takes no connection of the dashboard's.
    option http-buffer-request
    server gate {GATE} maxconn 1900

backend browsers
    stick-table type ipv6 size 100k expire 10m store conn_cur

backend logins
    stick-table type ipv6 size 100k expire 10m store http_req_rate(10s)
)";

absl::StatusOr<std::string> EdgeSecretOf(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0 && errno == ENOENT) {
    const std::string secret = absl::BytesToHexString(host::RandomBytes(32));
    const std::string line = secret + "\n";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const bool is_written =
        file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (file >= 0) close(file);
    if (is_written) return secret;
    if (file >= 0) unlink(path.c_str());
    return absl::UnavailableError(absl::StrCat(path, " cannot be written"));
  }
  std::string secret;
  RETURN_IF_ERROR(ReadEdgeSecret(path, "secret_file", secret));
  return secret;
}

// haproxy reads a space as the end of an address, and some characters as its own.
bool IsSocketOfGate(std::string_view address) {
  constexpr std::string_view kPrefix = "unix:/";
  return address.size() > kPrefix.size() && address.starts_with(kPrefix) &&
         std::ranges::all_of(address, [](char c) {
           return c > ' ' && c <= '~' && std::string_view("\"'\\#$").find(c) == std::string_view::npos;
         });
}

absl::Status PrintEdgeConfig(const config::ServerConfig& config, const EdgeOptions& options,
                             std::ostream& out) {
  const auto edge = std::ranges::find_if(
      config.listeners, [](const auto& each) { return each.kind == config::ListenerKind::kEdge; });
  if (edge == config.listeners.end()) return InvalidField("listeners", "has no listener of the kind edge");
  // haproxy is started in a folder of its own.
  if (!options.certificate.starts_with('/')) {
    return InvalidField("--certificate", "must be an absolute path");
  }
  if (!options.gate.empty() && !IsSocketOfGate(options.gate)) {
    return InvalidField("--gate",
                        "must be unix:/PATH, the address that curator-gate listens at, without "
                        "spaces, quotes, #, $ and backslashes");
  }
  ASSIGN_OR_RETURN(const std::string secret, EdgeSecretOf(edge->secret_file));
  const std::string clients = edge->client_ca.empty()
                                  ? std::string()
                                  : absl::StrCat(" ca-file ", edge->client_ca, " verify optional");
  const std::string user = options.user.empty()
                               ? std::string()
                               : absl::StrCat("    user ", options.user, "\n    group ", options.user, "\n");
  out << absl::StrReplaceAll(std::string(kEdge),
                             {{"{USER}", user},
                              {"{BROWSERS}", std::string(options.gate.empty() ? kNoBrowsers : kBrowsers)},
                              {"{ROUTE}", std::string(options.gate.empty() ? "" : kRouteToGate)},
                              {"{BIND}", options.bind},
                              {"{CERTIFICATE}", options.certificate},
                              {"{CLIENTS}", clients},
                              {"{SECRET}", secret},
                              {"{SOCKET}", absl::StrCat("unix@", edge->address.substr(5))}});
  if (options.gate.empty()) return absl::OkStatus();
  out << absl::StrReplaceAll(std::string(kGate), {{"{GATE}", absl::StrCat("unix@", options.gate.substr(5))}});
  return absl::OkStatus();
}

}  // namespace

int RunBootstrap(const config::ServerConfig& config, const BootstrapOptions& options, std::ostream& out,
                 std::ostream& error) {
  return Report(Bootstrap(config, options, out), error);
}

int RunEdgeConfig(const config::ServerConfig& config, const EdgeOptions& options, std::ostream& out,
                  std::ostream& error) {
  return Report(PrintEdgeConfig(config, options, out), error);
}

}  // namespace curator
