#include "rpc/directory_authenticator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/api_token.h"
#include "auth/testing/test_certificates.h"
#include "auth/testing/test_keys.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "directory/rules.h"
#include "ledger/open_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator::rpc {
namespace {

using config::ListenerKind;
using directory::CredentialKind;
using directory::Directory;
using directory::Identity;
using nlohmann::json;

constexpr char kIssuer[] = "https://idp.example";
constexpr char kUri[] = "spiffe://example/nightly";
constexpr char kSecret[] = "the secret of the edge, long enough";

std::string Counted(size_t bytes) {
  static std::atomic<int64_t> calls = 0;
  std::string text = absl::StrCat(++calls);
  text.resize(bytes, '.');
  return text;
}

// Bob has an OIDC identity, a certificate and an API token; the directory lies in a ledger of its own.
class DirectoryAuthenticatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write({key_.Jwk()});
    issuers_ = std::make_unique<auth::IssuerKeys>(
        std::vector<auth::Issuer>{{.alias = "corp", .issuer = kIssuer, .audiences = {"curator"}}},
        auth::IssuerKeys::Options{.folder = folder_.path(),
                                  .between_looks = std::chrono::hours(1),
                                  .now = [this] { return now_.load(); }});
    auto ledger = ledger::OpenLedger({.url = "sqlite:" + folder_.path() + "/ledger.db",
                                      .anchor_dir = folder_.path() + "/anchor",
                                      .entropy = Counted});
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    ledger_ = *std::move(ledger);
    auto directory = directory::DirectoryStore::Open(*ledger_, {});
    ASSERT_TRUE(directory.ok()) << directory.status();
    directory_ = *std::move(directory);
    Make(directory::PrincipalRegistered{"bob", "oidc", Oidc("bob")});
    Add({.id = "cert",
         .principal = "bob",
         .identity = {.kind = CredentialKind::kCertificate, .issuer = {}, .subject = kUri}});
    Add({.id = token_.id,
         .principal = "bob",
         .identity = {.kind = CredentialKind::kApiToken, .issuer = {}, .subject = token_.id},
         .secret_hash = Sha256(token_.secret),
         .expires_at_us = absl::ToUnixMicros(now_.load() + absl::Hours(1))});
  }

  static Identity Oidc(const std::string& subject) {
    return {.kind = CredentialKind::kOidc, .issuer = kIssuer, .subject = subject};
  }
  void Make(const directory::Change& change) {
    const auto made = directory_->Make(
        directory::kHostActor, [&](const Directory&) -> absl::StatusOr<directory::Change> { return change; });
    ASSERT_TRUE(made.ok()) << made.status();
  }
  void Add(const directory::CredentialAdded& credential) { Make(credential); }
  void Write(const std::vector<json>& keys) {
    const json document = {
        {"issuer", kIssuer},
        {"fetched_at", absl::FormatTime(absl::RFC3339_full, now_.load(), absl::UTCTimeZone())},
        {"keys", keys}};
    std::ofstream(folder_.path() + "/new") << document.dump();
    std::filesystem::rename(folder_.path() + "/new", folder_.path() + "/corp.json");
  }

  std::unique_ptr<DirectoryAuthenticator> On(ListenerKind kind) {
    IdentityParts parts{.directory = *directory_,
                        .issuers = *issuers_,
                        .name_claim = [](std::string_view) { return std::string("name"); },
                        .hash_of_secret = [](std::string_view secret) { return Sha256(secret); },
                        .now = [this] { return now_.load(); }};
    ListenerTrust trust{.kind = kind, .edge_secret = kSecret, .authorities = [this] { return authorities_; }};
    return std::make_unique<DirectoryAuthenticator>(std::move(parts), std::move(trust));
  }

  std::string Token(const json& changes = json::object()) const {
    json claims = {{"iss", kIssuer},
                   {"sub", "bob"},
                   {"aud", "curator"},
                   {"exp", absl::ToUnixSeconds(now_.load() + absl::Minutes(10))}};
    claims.merge_patch(changes);
    return key_.Token(claims);
  }
  static Presented Bearer(const std::string& token) { return {.authorizations = {"Bearer " + token}}; }
  Presented Certificate() const {
    return {.edge_secrets = {kSecret}, .certificate_headers = {absl::Base64Escape(client_.der)}};
  }

  // The name of the principal, or the reason of the refusal.
  static std::string Who(DirectoryAuthenticator& authenticator, const Presented& presented) {
    const absl::StatusOr<Caller> caller = authenticator.Identify(presented);
    if (caller.ok()) return caller->principal.name();
    return PublicErrorOf(caller.status()).value_or(PublicError()).reason;
  }
  std::string WhoLocally(const std::string& token) { return Who(*On(ListenerKind::kLocal), Bearer(token)); }

  const testing::ScratchFolder folder_;
  std::atomic<absl::Time> now_ = absl::Now();
  const auth::TestKey key_{"P-256", "k1", "ES256"};
  const auth::TestAuthority authority_{now_.load()};
  const auth::IssuedCertificate client_ = authority_.Issue({.names = {std::string("URI:") + kUri}});
  std::shared_ptr<const auth::ClientAuthorities> authorities_ =
      std::make_shared<auth::ClientAuthorities>(auth::ClientAuthorities::Parse(authority_.pem()).value());
  const auth::ApiToken token_ = auth::MakeApiToken(Counted);
  std::unique_ptr<auth::IssuerKeys> issuers_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::unique_ptr<directory::DirectoryStore> directory_;
};

TEST_F(DirectoryAuthenticatorTest, IdentifiesByEachKindOfProof) {
  EXPECT_EQ(WhoLocally(Token()), "bob");
  EXPECT_EQ(WhoLocally(auth::FormatApiToken(token_)), "bob");
  EXPECT_EQ(Who(*On(ListenerKind::kEdge), Certificate()), "bob");
  EXPECT_EQ(Who(*On(ListenerKind::kMutualTls), {.connection_certificate = client_.pem}), "bob");
}

TEST_F(DirectoryAuthenticatorTest, OnlyATokenOfAnIssuerProvesWhenThePersonLoggedIn) {
  const auto local = On(ListenerKind::kLocal);
  const auto login_of = [&](const std::string& token) {
    return local->Identify(Bearer(token))->proof.logged_in;
  };
  const absl::Time login = absl::FromUnixSeconds(absl::ToUnixSeconds(now_.load())) - absl::Minutes(5);
  const std::string token = Token({{"auth_time", absl::ToUnixSeconds(login)}});
  EXPECT_EQ(login_of(token), login);
  EXPECT_EQ(login_of(token), login) << "also as it is remembered";
  EXPECT_EQ(login_of(Token({{"iat", absl::ToUnixSeconds(now_.load())}})), std::nullopt);
  EXPECT_EQ(login_of(auth::FormatApiToken(token_)), std::nullopt);
  EXPECT_EQ(On(ListenerKind::kEdge)->Identify(Certificate())->proof.logged_in, std::nullopt);
}

TEST_F(DirectoryAuthenticatorTest, TheSchemeIsBearerInAnyCase) {
  EXPECT_EQ(Who(*On(ListenerKind::kLocal), {.authorizations = {"bEARER " + Token()}}), "bob");
  EXPECT_EQ(Who(*On(ListenerKind::kLocal), {.authorizations = {"Basic " + Token()}}), "TOKEN_INVALID");
  EXPECT_EQ(Who(*On(ListenerKind::kLocal), {.authorizations = {Token()}}), "TOKEN_INVALID");
}

TEST_F(DirectoryAuthenticatorTest, AsksForAProofWhereThereIsNone) {
  EXPECT_EQ(Who(*On(ListenerKind::kLocal), {}), "NO_CREDENTIAL");
  EXPECT_EQ(Who(*On(ListenerKind::kEdge), {.edge_secrets = {kSecret}}), "NO_CREDENTIAL");
}

TEST_F(DirectoryAuthenticatorTest, BelievesNothingOnTheEdgeWithoutItsSecret) {
  const auto edge = On(ListenerKind::kEdge);
  Presented presented = Certificate();
  for (const std::vector<std::string>& secrets :
       {std::vector<std::string>{}, {"another secret of the same size...."}, {kSecret, kSecret}, {""}}) {
    presented.edge_secrets = secrets;
    EXPECT_EQ(Who(*edge, presented), "TOKEN_INVALID");
  }
  EXPECT_EQ(Who(*edge, Bearer(Token())), "TOKEN_INVALID");
}

TEST_F(DirectoryAuthenticatorTest, BelievesACertificateInAHeaderOnTheEdgeAlone) {
  EXPECT_EQ(Who(*On(ListenerKind::kLocal), Certificate()), "TOKEN_INVALID");
  Presented both = Certificate();
  both.connection_certificate = client_.pem;
  EXPECT_EQ(Who(*On(ListenerKind::kMutualTls), both), "TOKEN_INVALID");
  Presented twice = Certificate();
  twice.certificate_headers.push_back(twice.certificate_headers.front());
  EXPECT_EQ(Who(*On(ListenerKind::kEdge), twice), "TOKEN_INVALID");
}

TEST_F(DirectoryAuthenticatorTest, RefusesTwoProofsInOneCall) {
  Presented both = Certificate();
  both.authorizations = {"Bearer " + Token()};
  EXPECT_EQ(Who(*On(ListenerKind::kEdge), both), "TOKEN_INVALID");
  EXPECT_EQ(Who(*On(ListenerKind::kLocal), {.authorizations = {"Bearer " + Token(), "Bearer " + Token()}}),
            "TOKEN_INVALID");
}

TEST_F(DirectoryAuthenticatorTest, KnowsNobodyWithoutALink) {
  EXPECT_EQ(WhoLocally(Token({{"sub", "eve"}})), "UNKNOWN_PRINCIPAL");
  EXPECT_EQ(WhoLocally(Token({{"iss", "https://evil.example"}})), "TOKEN_INVALID");
}

TEST_F(DirectoryAuthenticatorTest, APendingCredentialProvesNothing) {
  Add({.id = "eve", .principal = "bob", .identity = Oidc("eve"), .is_pending = true});
  EXPECT_EQ(WhoLocally(Token({{"sub", "eve"}})), "UNKNOWN_PRINCIPAL");
  Make(directory::CredentialApproved{"eve"});
  EXPECT_EQ(WhoLocally(Token({{"sub", "eve"}})), "bob");
}

TEST_F(DirectoryAuthenticatorTest, ADisabledPrincipalIsRefusedAtItsNextCallAlsoWithARememberedToken) {
  const auto local = On(ListenerKind::kLocal);
  const std::string token = Token();
  const absl::StatusOr<Caller> before = local->Identify(Bearer(token));
  ASSERT_TRUE(before.ok());
  Make(directory::PrincipalDisabled{"bob", "left"});
  EXPECT_EQ(Who(*local, Bearer(token)), "DISABLED");
  EXPECT_TRUE(absl::IsUnauthenticated(local->CheckStill(*before)));
}

TEST_F(DirectoryAuthenticatorTest, ARemovedCredentialIsRefusedAtItsNextCall) {
  const auto local = On(ListenerKind::kLocal);
  const absl::StatusOr<Caller> before = local->Identify(Bearer(Token()));
  ASSERT_TRUE(before.ok());
  Make(directory::CredentialRemoved{"oidc", "lost"});
  EXPECT_EQ(Who(*local, Bearer(Token())), "UNKNOWN_PRINCIPAL");
  EXPECT_TRUE(absl::IsUnauthenticated(local->CheckStill(*before)));
  Make(directory::CredentialRemoved{token_.id, "lost"});
  EXPECT_EQ(Who(*local, Bearer(auth::FormatApiToken(token_))), "TOKEN_INVALID");
}

TEST_F(DirectoryAuthenticatorTest, AWithdrawnKeyStopsTokensThatAreRemembered) {
  const auto local = On(ListenerKind::kLocal);
  const std::string token = Token();
  const absl::StatusOr<Caller> before = local->Identify(Bearer(token));
  ASSERT_TRUE(before.ok());
  Write({auth::TestKey("P-256", "k1", "ES256").Jwk()});
  issuers_->Look();
  EXPECT_EQ(Who(*local, Bearer(token)), "TOKEN_INVALID");
  EXPECT_TRUE(absl::IsUnauthenticated(local->CheckStill(*before)));
}

TEST_F(DirectoryAuthenticatorTest, ARememberedTokenEndsWhenItExpires) {
  const auto local = On(ListenerKind::kLocal);
  const std::string token = Token({{"exp", absl::ToUnixSeconds(now_.load()) + 30}});
  EXPECT_EQ(Who(*local, Bearer(token)), "bob");
  now_ = now_.load() + absl::Seconds(31) + auth::kLeeway;
  EXPECT_EQ(Who(*local, Bearer(token)), "TOKEN_EXPIRED");
}

TEST_F(DirectoryAuthenticatorTest, AnApiTokenEndsWhenItExpiresAndHasOneSecret) {
  const auto local = On(ListenerKind::kLocal);
  auth::ApiToken other = token_;
  other.secret = auth::MakeApiToken(Counted).secret;
  EXPECT_EQ(Who(*local, Bearer(auth::FormatApiToken(other))), "TOKEN_INVALID");
  EXPECT_EQ(Who(*local, Bearer("curt_nonsense")), "TOKEN_INVALID");
  now_ = now_.load() + absl::Hours(1);
  EXPECT_EQ(Who(*local, Bearer(auth::FormatApiToken(token_))), "TOKEN_EXPIRED");
}

TEST_F(DirectoryAuthenticatorTest, AnAuthorityThatIsWithdrawnStopsItsCertificates) {
  const auto edge = On(ListenerKind::kEdge);
  EXPECT_EQ(Who(*edge, Certificate()), "bob");
  const auto of_others = auth::ClientAuthorities::Parse(auth::TestAuthority(now_.load()).pem()).value();
  const auto before = std::exchange(authorities_, std::make_shared<const auth::ClientAuthorities>(of_others));
  EXPECT_EQ(Who(*edge, Certificate()), "TOKEN_INVALID") << "though it was remembered";
  authorities_ = before;
  EXPECT_EQ(Who(*edge, Certificate()), "bob");
  authorities_ = nullptr;
  EXPECT_EQ(Who(*edge, Certificate()), "TOKEN_INVALID");
}

}  // namespace
}  // namespace curator::rpc
