// What it takes to identify the caller of a call, by each kind of proof, and which part of a unary call that
// is.
//
//   bench_authentication [SECONDS]
//
// Each figure is measured for SECONDS (1), in one run. The call is GetDataset on a unix socket, one after
// another, by a server with a configuration in this process.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "auth/api_token.h"
#include "auth/testing/forged_tokens.h"
#include "auth/testing/test_certificates.h"
#include "bench/called_server.h"
#include "bench/must.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "rpc/directory_authenticator.h"
#include "tests/testing/test_issuer.h"

namespace curator::testing {
namespace {

using rpc::Presented;
using std::chrono::steady_clock;

constexpr char kUri[] = "spiffe://example/nightly";

// Microseconds of one run of `work`.
double MicrosecondsOf(double seconds, const std::function<void()>& work) {
  const auto begin = steady_clock::now();
  std::chrono::duration<double> passed(0);
  int64_t runs = 0;
  for (; passed.count() < seconds; passed = steady_clock::now() - begin, ++runs) work();
  return passed.count() * 1e6 / static_cast<double>(runs);
}

// An authenticator of a listener of this kind, which knows bob by a token, an API token and a certificate.
class World {
 public:
  World() {
    Change(directory::PrincipalRegistered{"bob", "oidc", OfSubject("bob")});
    Change(directory::CredentialAdded{
        .id = "certificate",
        .principal = "bob",
        .identity = {.kind = directory::CredentialKind::kCertificate, .issuer = {}, .subject = kUri}});
    Change(directory::CredentialAdded{
        .id = token_.id,
        .principal = "bob",
        .identity = {.kind = directory::CredentialKind::kApiToken, .issuer = {}, .subject = token_.id},
        .secret_hash = Sha256(token_.secret),
        .expires_at_us = absl::ToUnixMicros(absl::Now() + absl::Hours(1))});
  }

  std::unique_ptr<rpc::DirectoryAuthenticator> On(config::ListenerKind kind) {
    return std::make_unique<rpc::DirectoryAuthenticator>(
        rpc::IdentityParts{.directory = *directory_,
                           .issuers = keys_,
                           .name_claim = [](std::string_view) { return std::string(); },
                           .hash_of_secret = [](std::string_view secret) { return Sha256(secret); }},
        rpc::ListenerTrust{.kind = kind, .authorities = [this] { return authorities_; }});
  }
  // Different each time.
  std::string FreshToken(const auth::TestKey& key) {
    const int64_t now = absl::ToUnixSeconds(absl::Now());
    return key.Token({{"iss", TestIssuer::kIssuer},
                      {"sub", "bob"},
                      {"aud", "curator"},
                      {"iat", now},
                      {"exp", now + 3600},
                      {"jti", ++tokens_}});
  }
  std::string ApiToken() const { return auth::FormatApiToken(token_); }
  auth::IssuedCertificate Certificate() const {
    return authority_.Issue({.names = {absl::StrCat("URI:", kUri)}});
  }

 private:
  static directory::Identity OfSubject(const std::string& subject) {
    return {.kind = directory::CredentialKind::kOidc, .issuer = TestIssuer::kIssuer, .subject = subject};
  }
  void Change(const directory::Change& change) {
    bench::Must(
        directory_
            ->Make(directory::kHostActor,
                   [&](const directory::Directory&) -> absl::StatusOr<directory::Change> { return change; })
            .status());
  }

  const ScratchFolder folder_;
  const TestIssuer issuer_{folder_.path() + "/jwks"};
  const auth::ApiToken token_ = auth::MakeApiToken(host::RandomBytes);
  const auth::TestAuthority authority_{absl::Now()};
  const std::shared_ptr<const auth::ClientAuthorities> authorities_ =
      std::make_shared<auth::ClientAuthorities>(auth::ClientAuthorities::Parse(authority_.pem()).value());
  auth::IssuerKeys keys_{{{.alias = "corp", .issuer = TestIssuer::kIssuer, .audiences = {"curator"}}},
                         {.folder = folder_.path() + "/jwks"}};
  const std::unique_ptr<ledger::Ledger> ledger_ =
      ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                          .anchor_dir = folder_.path() + "/anchor",
                          .entropy = host::RandomBytes})
          .value();
  const std::unique_ptr<directory::DirectoryStore> directory_ =
      directory::DirectoryStore::Open(*ledger_, {}).value();
  int64_t tokens_ = 0;
};

void Run(double seconds) {
  const bench::CalledServer server;
  const double call = MicrosecondsOf(seconds, [&] { server.Call(); });
  std::printf("a call: %.0f us\n\n%-22s %10s %12s %18s\n", call, "proof", "first, us", "repeated, us",
              "repeated / call, %");
  World world;
  const auto local = world.On(config::ListenerKind::kLocal);
  const auto print = [&](const char* proof, double first, double repeated) {
    std::printf("%-22s %10.1f %12.2f %18.2f\n", proof, first, repeated, 100 * repeated / call);
  };
  const auto must_identify = [](rpc::DirectoryAuthenticator& listener, const Presented& presented) {
    bench::Must(listener.Identify(presented).status());
  };
  const auth::TokenKeys& keys = auth::TokenKeys::Shared();
  for (const auto& [name, key] : {std::pair("token, RS256", &keys.rsa), std::pair("token, PS256", &keys.pss),
                                  std::pair("token, ES256", &keys.ec), std::pair("token, EdDSA", &keys.ed)}) {
    const double making = MicrosecondsOf(seconds, [&] { world.FreshToken(*key); });
    const double both = MicrosecondsOf(
        seconds, [&] { must_identify(*local, {.authorizations = {"Bearer " + world.FreshToken(*key)}}); });
    const Presented same{.authorizations = {"Bearer " + world.FreshToken(*key)}};
    print(name, both - making, MicrosecondsOf(seconds, [&] { must_identify(*local, same); }));
  }
  const Presented by_api_token{.authorizations = {"Bearer " + world.ApiToken()}};
  const double api = MicrosecondsOf(seconds, [&] { must_identify(*local, by_api_token); });
  print("API token", api, api);
  const auto mutual = world.On(config::ListenerKind::kMutualTls);
  const Presented by_certificate{.connection_certificate = world.Certificate().pem};
  const double first = MicrosecondsOf(
      seconds, [&] { must_identify(*world.On(config::ListenerKind::kMutualTls), by_certificate); });
  print("client certificate", first,
        MicrosecondsOf(seconds, [&] { must_identify(*mutual, by_certificate); }));
}

}  // namespace
}  // namespace curator::testing

int main(int argc, char** argv) {
  curator::testing::Run(argc > 1 ? std::atof(argv[1]) : 1);
}
