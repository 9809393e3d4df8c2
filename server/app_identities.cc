#include "app_identities.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "edge_secret.h"
#include "host/datagram.h"
#include "host/entropy.h"
#include "host/logging.h"

namespace curator {
namespace {

// A datagram with the issuer's alias, to the program that fetches keys. Nothing waits for it, and where
// nobody listens nothing is fetched before its time.
void Wake(const std::string& socket_path, const std::string& alias) {
  if (socket_path.empty()) return;
  if (!host::SendDatagram(socket_path, alias, host::WhenFull::kFail).ok())
    host::Log(host::LogLevel::kWarning, "jwks_not_woken", {{"socket", socket_path}});
}

std::vector<auth::Issuer> IssuersOf(const config::ServerConfig& config) {
  std::vector<auth::Issuer> issuers;
  for (const config::IssuerConfig& each : config.issuers) issuers.push_back(each.issuer);
  return issuers;
}

auth::IssuerKeys::Options KeyOptionsOf(const config::ServerConfig& config) {
  return {
      .folder = config.jwks_folder,
      .wake = [socket = config.jwks_wake_socket](const auth::Issuer& issuer) { Wake(socket, issuer.alias); },
      .report =
          [](const auth::Issuer& issuer, std::string_view what, bool is_fault) {
            host::Log(is_fault ? host::LogLevel::kError : host::LogLevel::kInfo, "issuer_keys",
                      {{"issuer", issuer.alias}, {"detail", what}});
          }};
}

std::string HashOfSecret(const host::ServerKey& key, std::string_view secret) {
  host::KeyedHash hash(key, "api token");
  hash.Update(secret);
  const host::HashBytes digest = hash.Finish();
  return {digest.begin(), digest.end()};
}

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const std::string& folder, int64_t refresh_seconds) {
  namespace tls = grpc::experimental;
  const auto provider = std::make_shared<tls::FileWatcherCertificateProvider>(
      folder + "/server.key", folder + "/server.pem", folder + "/clients.pem",
      static_cast<unsigned int>(refresh_seconds));
  tls::TlsServerCredentialsOptions options(provider);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return tls::TlsServerCredentials(options);
}

directory::Custody CustodyOf(const config::ServerConfig& config) {
  return config.custody == config::Custody::kSingle ? directory::Custody::kSingle
                                                    : directory::Custody::kTwoPersons;
}

directory::DirectoryStore::Options OptionsOf(const config::ServerConfig& config,
                                             std::function<void()> on_forgotten) {
  const directory::Custody custody = CustodyOf(config);
  return {.on_forgotten = std::move(on_forgotten),
          .custody = custody,
          .on_other_custody = [custody](directory::Custody of_history) {
            host::Log(host::LogLevel::kWarning, "custody_disagrees",
                      {{"configured", directory::NameOf(custody)},
                       {"of_another_server", directory::NameOf(of_history)},
                       {"detail", "this server takes two persons until both say SINGLE"}});
          }};
}

// The server's own history says what the configuration says. It is for statements of what one person could
// do on any server of the ledger; what this one accepts is DirectoryStore::CustodyHere().
absl::Status RecordCustody(directory::Custody custody, directory::DirectoryStore& directory) {
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot current, directory.Current());
  if (current->custody() == custody) return absl::OkStatus();
  host::Log(host::LogLevel::kWarning, "custody_set", {{"custody", std::string(directory::NameOf(custody))}});
  return directory
      .Make(directory::kHostActor,
            [&](const directory::Directory&) { return directory::CustodySet{custody}; })
      .status();
}

}  // namespace

AppIdentities::AppIdentities(const config::ServerConfig& config, const host::ServerKey& key,
                             ledger::Ledger& ledger, std::unique_ptr<directory::DirectoryStore> directory)
    : config_(config),
      key_(key),
      directory_(std::move(directory)),
      issuers_(IssuersOf(config), KeyOptionsOf(config)),
      services_{.directory = *directory_,
                .ledger = ledger,
                .hash_of_secret = [this](std::string_view secret) { return HashOfSecret(key_, secret); },
                .entropy = host::RandomBytes,
                .alias_for_registering = [this](std::string_view issuer) -> std::optional<std::string> {
                  for (const config::IssuerConfig& each : config_.issuers) {
                    const bool may = each.unknown == config::UnknownIdentities::kRegister;
                    if (may && each.issuer.issuer == issuer) return each.issuer.alias;
                  }
                  return std::nullopt;
                },
                .now_us = [] { return absl::ToUnixMicros(absl::Now()); }} {}

absl::StatusOr<std::unique_ptr<AppIdentities>> AppIdentities::Open(const config::ServerConfig& config,
                                                                   const host::ServerKey& key,
                                                                   ledger::Ledger& ledger,
                                                                   std::function<void()> on_forgotten) {
  ASSIGN_OR_RETURN(std::unique_ptr<directory::DirectoryStore> directory,
                   directory::DirectoryStore::Open(ledger, OptionsOf(config, std::move(on_forgotten))));
  RETURN_IF_ERROR(RecordCustody(CustodyOf(config), *directory));
  return std::unique_ptr<AppIdentities>(new AppIdentities(config, key, ledger, std::move(directory)));
}

rpc::IdentityParts AppIdentities::PartsOfAuthenticators() {
  return {.directory = *directory_,
          .issuers = issuers_,
          .name_claim =
              [this](std::string_view issuer) {
                const auto found = std::ranges::find_if(
                    config_.issuers, [&](const auto& each) { return each.issuer.issuer == issuer; });
                return found == config_.issuers.end() ? std::string() : found->name_claim;
              },
          .hash_of_secret = services_.hash_of_secret};
}

absl::Status AppIdentities::StateOfCertificates() const {
  for (const std::unique_ptr<auth::CertificateFiles>& each : files_) RETURN_IF_ERROR(each->state());
  return absl::OkStatus();
}

std::map<std::string, AppIdentities::CertificateView> AppIdentities::Certificates() const {
  std::map<std::string, CertificateView> views;
  for (size_t i = 0; i < files_.size(); ++i)
    views[file_options_[i]] = {.is_valid = files_[i]->state().ok(), .expires = files_[i]->expires()};
  return views;
}

absl::StatusOr<std::vector<ListenerAddress>> AppIdentities::TakeAddresses() {
  std::vector<ListenerAddress> addresses;
  for (size_t i = 0; i < config_.listeners.size(); ++i) {
    ASSIGN_OR_RETURN(ListenerAddress address,
                     AddressOf(config_.listeners[i], absl::StrCat("listeners[", i, "].")));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

absl::StatusOr<const auth::CertificateFiles*> AppIdentities::OpenFiles(auth::CertificateFiles::Paths paths,
                                                                       int64_t refresh_seconds,
                                                                       const std::string& option) {
  auth::CertificateFiles::Options options{
      .between_looks = std::chrono::seconds(refresh_seconds), .report = [option](const absl::Status& state) {
        const host::LogLevel level = state.ok() ? host::LogLevel::kInfo : host::LogLevel::kError;
        host::Log(level, state.ok() ? "certificates_read" : "certificates_do_not_fit",
                  {{"option", option}, {"detail", std::string(state.message())}});
      }};
  absl::StatusOr<std::unique_ptr<auth::CertificateFiles>> opened =
      auth::CertificateFiles::Open(std::move(paths), std::move(options));
  if (!opened.ok()) return InvalidField(option, std::string(opened.status().message()));
  files_.push_back(*std::move(opened));
  file_options_.push_back(option);
  return files_.back().get();
}

namespace {

audit::PeerClass PeerOf(config::ListenerKind kind) {
  switch (kind) {
    case config::ListenerKind::kEdge:
      return audit::PeerClass::kEdge;
    case config::ListenerKind::kLocal:
      return audit::PeerClass::kLocal;
    case config::ListenerKind::kMutualTls:
      return audit::PeerClass::kMutualTls;
  }
  return audit::PeerClass::kNone;
}

}  // namespace

absl::StatusOr<ListenerAddress> AppIdentities::AddressOf(const config::Listener& listener,
                                                         const std::string& option) {
  rpc::ListenerTrust trust{.kind = listener.kind};
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::experimental::LocalServerCredentials(UDS);
  const auth::CertificateFiles* files = nullptr;
  if (listener.kind == config::ListenerKind::kEdge) {
    RETURN_IF_ERROR(ReadEdgeSecret(listener.secret_file, option + "secret_file", trust.edge_secret));
    if (!listener.client_ca.empty()) {
      ASSIGN_OR_RETURN(files, OpenFiles({.client_ca = listener.client_ca}, listener.refresh_seconds,
                                        option + "client_ca"));
    }
  }
  if (listener.kind == config::ListenerKind::kMutualTls) {
    const std::string& folder = listener.tls_folder;
    ASSIGN_OR_RETURN(files, OpenFiles({.certificate = folder + "/server.pem",
                                       .key = folder + "/server.key",
                                       .client_ca = folder + "/clients.pem"},
                                      listener.refresh_seconds, option + "tls_folder"));
    credentials = TlsCredentials(folder, listener.refresh_seconds);
  }
  if (files != nullptr) trust.authorities = [files] { return files->authorities(); };
  return ListenerAddress{.option = option + "address",
                         .address = listener.address,
                         .credentials = std::move(credentials),
                         .authenticator = std::make_unique<rpc::DirectoryAuthenticator>(
                             PartsOfAuthenticators(), std::move(trust)),
                         .peer = PeerOf(listener.kind)};
}

}  // namespace curator
