// What a server with a configuration needs to tell who calls: the directory, the issuers' keys, the
// certificates and secrets of its listeners.
//
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app_listener.h"
#include "auth/certificate_files.h"
#include "auth/issuer_keys.h"
#include "config/server_config.h"
#include "directory/directory_store.h"
#include "host/server_key.h"
#include "ledger/ledger.h"
#include "rpc/directory_authenticator.h"
#include "service/identity/identities.h"

namespace curator {

class AppIdentities {
 public:
  // `config` and `ledger` must outlive it. `on_forgotten` as of directory::DirectoryStore::Options. Errors:
  // those of the files that the configuration names, which the message names; those of the directory.
  static absl::StatusOr<std::unique_ptr<AppIdentities>> Open(const config::ServerConfig& config,
                                                             const host::ServerKey& key,
                                                             ledger::Ledger& ledger,
                                                             std::function<void()> on_forgotten = {});

  service::IdentityServices& services() { return services_; }
  const directory::DirectoryStore& directory() const { return *directory_; }
  // OK while the certificates of all listeners are usable; else the fault of one.
  absl::Status StateOfCertificates() const;
  // OK while tokens of every issuer can be verified; else the fault of one.
  absl::Status StateOfKeys() const { return issuers_.State(); }
  // When the keys of each issuer were fetched (auth::IssuerKeys).
  std::map<std::string, absl::Time> KeysFetchedAt() const { return issuers_.FetchedAt(); }
  // Of each listener with certificate files, by the member of the configuration that names them.
  struct CertificateView {
    bool is_valid = false;
    std::optional<absl::Time> expires = std::nullopt;  // none for authorities of clients alone
  };
  std::map<std::string, CertificateView> Certificates() const;
  // The addresses of the configuration, in its order. Once.
  absl::StatusOr<std::vector<ListenerAddress>> TakeAddresses();

 private:
  AppIdentities(const config::ServerConfig& config, const host::ServerKey& key, ledger::Ledger& ledger,
                std::unique_ptr<directory::DirectoryStore> directory);
  absl::StatusOr<ListenerAddress> AddressOf(const config::Listener& listener, const std::string& option);
  absl::StatusOr<const auth::CertificateFiles*> OpenFiles(auth::CertificateFiles::Paths paths,
                                                          int64_t refresh_seconds, const std::string& option);
  rpc::IdentityParts PartsOfAuthenticators();

  const config::ServerConfig& config_;
  const host::ServerKey key_;
  const std::unique_ptr<directory::DirectoryStore> directory_;
  auth::IssuerKeys issuers_;
  std::vector<std::unique_ptr<auth::CertificateFiles>> files_;
  std::vector<std::string> file_options_;  // of these
  service::IdentityServices services_;
};

}  // namespace curator
