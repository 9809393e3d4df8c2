#include "rpc/directory_authenticator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "auth/api_token.h"
#include "auth/faults.h"
#include "auth/jwt.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::rpc {
namespace {

using auth::Fault;
using auth::NotAccepted;
using config::ListenerKind;
using directory::CredentialKind;

constexpr absl::Duration kLongestMemory = absl::Seconds(60);
constexpr size_t kRememberedBytes = size_t{10} << 20;
constexpr size_t kBytesOfOne = 1024;  // about 10,000 of them

std::vector<std::string> ValuesOf(const grpc::ServerContextBase& context, const char* key) {
  std::vector<std::string> values;
  const auto range = context.client_metadata().equal_range(key);
  for (auto each = range.first; each != range.second; ++each) {
    values.emplace_back(each->second.data(), each->second.size());
  }
  return values;
}

Presented PresentedIn(const grpc::ServerContextBase& context) {
  Presented presented{.authorizations = ValuesOf(context, "authorization"),
                      .names = ValuesOf(context, kPrincipalKey),
                      .edge_secrets = ValuesOf(context, kEdgeSecretKey),
                      .certificate_headers = ValuesOf(context, kClientCertificateKey)};
  const std::shared_ptr<const grpc::AuthContext> connection = context.auth_context();
  if (connection == nullptr) return presented;
  const std::vector<grpc::string_ref> pem = connection->FindPropertyValues("x509_pem_cert");
  if (!pem.empty()) presented.connection_certificate.emplace(pem.front().data(), pem.front().size());
  return presented;
}

absl::Status Invalid(std::string_view detail) {
  return NotAccepted(Fault::kInvalid, detail);
}

// The token of one "Bearer TOKEN" (RFC 6750).
absl::StatusOr<std::string> BearerIn(const std::string& authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (!absl::AsciiStrToLower(authorization.substr(0, kScheme.size())).starts_with(kScheme)) {
    return Invalid("the header authorization has another scheme than Bearer");
  }
  return authorization.substr(kScheme.size());
}

}  // namespace

DirectoryAuthenticator::DirectoryAuthenticator(IdentityParts parts, ListenerTrust listener)
    : parts_(std::move(parts)), listener_(std::move(listener)), verified_(kRememberedBytes) {}

absl::StatusOr<Proof> DirectoryAuthenticator::Prove(const grpc::ServerContextBase& context) {
  return Prove(PresentedIn(context));
}

absl::StatusOr<Caller> DirectoryAuthenticator::Identify(const grpc::ServerContextBase& context) {
  return Identify(PresentedIn(context));
}

absl::StatusOr<Caller> DirectoryAuthenticator::Identify(const Presented& presented) {
  ASSIGN_OR_RETURN(Proof proof, Prove(presented));
  ASSIGN_OR_RETURN(Linked linked, LinkedTo(proof));
  return Caller{PrincipalOf(std::move(linked.principal)), std::move(proof), std::move(linked.credential_id)};
}

absl::StatusOr<Proof> DirectoryAuthenticator::Prove(const Presented& presented) {
  const bool is_edge = listener_.kind == ListenerKind::kEdge;
  const bool has_secret = presented.edge_secrets.size() == 1 &&
                          auth::AreEqualSecrets(presented.edge_secrets.front(), listener_.edge_secret);
  if (is_edge && !has_secret) return Invalid("a call on the edge's socket does not have its secret");
  if (!presented.names.empty()) return NotAccepted(Fault::kNameGiven, "a call names a principal");
  if (presented.authorizations.size() > 1) return Invalid("a call has more than one header authorization");
  ASSIGN_OR_RETURN(const std::string certificate, CertificateIn(presented));
  const bool has_token = !presented.authorizations.empty();
  if (has_token && !certificate.empty()) {
    return Invalid("a call proves two identities, by a token and by a client certificate");
  }
  if (!certificate.empty()) return ProofByCertificate(certificate);
  if (!has_token) return NotAccepted(Fault::kMissing, "a call proves nothing");
  ASSIGN_OR_RETURN(const std::string token, BearerIn(presented.authorizations.front()));
  return ProofByToken(token);
}

absl::StatusOr<std::string> DirectoryAuthenticator::CertificateIn(const Presented& presented) const {
  const std::vector<std::string>& headers = presented.certificate_headers;
  if (listener_.kind != ListenerKind::kEdge && !headers.empty()) {
    return Invalid("a call has a header with a certificate, which only the edge may set");
  }
  if (listener_.kind == ListenerKind::kMutualTls) {
    if (!presented.connection_certificate.has_value())
      return Invalid("a connection has no client certificate");
    absl::StatusOr<std::string> der = auth::DerOfPem(*presented.connection_certificate);
    return der.ok() ? der : Invalid("the certificate of a connection cannot be read");
  }
  if (headers.size() > 1) return Invalid("a call has more than one header with a certificate");
  if (headers.empty() || headers.front().empty()) return std::string();
  std::string der;
  if (absl::Base64Unescape(headers.front(), &der) && !der.empty()) return der;
  return Invalid("the header with a certificate is not base64");
}

absl::StatusOr<Proof> DirectoryAuthenticator::ProofByCertificate(const std::string& der) {
  const std::shared_ptr<const auth::ClientAuthorities> authorities = listener_.authorities();
  if (authorities == nullptr) return Invalid("this listener has no authorities for client certificates");
  const std::string key = Sha256(absl::StrCat("certificate ", der));
  const std::shared_ptr<const Verified> verified = Remembered(key);
  if (verified != nullptr && verified->authorities == authorities) return verified->proof;
  ASSIGN_OR_RETURN(const auth::ClientCertificate checked, authorities->Check(der, parts_.now()));
  Proof proof{.identity = {.kind = CredentialKind::kCertificate, .issuer = {}, .subject = checked.uri},
              .expires = checked.expires};
  Remember(key, proof, authorities);
  return proof;
}

absl::StatusOr<Proof> DirectoryAuthenticator::ProofByToken(const std::string& token) {
  if (token.starts_with(auth::kApiTokenPrefix)) return ProofByApiToken(token);
  const std::string key = Sha256(absl::StrCat("token ", token));
  if (const std::shared_ptr<const Verified> verified = Remembered(key)) {
    const auth::Issuer* const issuer = parts_.issuers.Find(verified->proof.identity.issuer);
    RETURN_IF_ERROR(parts_.issuers.CheckHas(*issuer, verified->proof.key_thumbprint));
    return verified->proof;
  }
  ASSIGN_OR_RETURN(Proof proof, VerifySignedToken(token));
  Remember(key, proof);
  return proof;
}

absl::StatusOr<Proof> DirectoryAuthenticator::VerifySignedToken(const std::string& token) {
  ASSIGN_OR_RETURN(const auth::UnverifiedToken apart, auth::TakeApart(token));
  const auth::Issuer* const issuer = parts_.issuers.Find(apart.issuer);
  if (issuer == nullptr) return Invalid("the issuer of a token is not trusted");
  ASSIGN_OR_RETURN(const auth::VerificationKey key, parts_.issuers.FindKey(*issuer, apart.kid));
  ASSIGN_OR_RETURN(auth::VerifiedToken verified,
                   auth::VerifyToken(apart, *issuer, key, parts_.name_claim(issuer->issuer), parts_.now()));
  return Proof{.identity = {.kind = CredentialKind::kOidc,
                            .issuer = std::move(verified.issuer),
                            .subject = std::move(verified.subject)},
               .key_thumbprint = std::move(verified.key_thumbprint),
               .name = std::move(verified.name),
               .logged_in = verified.logged_in,
               .expires = verified.expires};
}

absl::StatusOr<Proof> DirectoryAuthenticator::ProofByApiToken(std::string_view text) const {
  const absl::StatusOr<auth::ApiToken> token = auth::ParseApiToken(text);
  if (!token.ok()) return Invalid("an API token is malformed");
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot directory, parts_.directory.Current());
  const directory::Identity identity{.kind = CredentialKind::kApiToken, .issuer = {}, .subject = token->id};
  const directory::Credential* const credential = directory->FindIdentity(identity);
  // Whether there is such a token costs as much as whether its secret is right.
  const std::string hash = parts_.hash_of_secret(token->secret);
  if (credential == nullptr || !auth::AreEqualSecrets(hash, credential->secret_hash)) {
    return Invalid(
        absl::StrCat("an API token with the id ", token->id, " is unknown, or its secret is wrong"));
  }
  return Proof{.identity = identity, .expires = absl::FromUnixMicros(credential->expires_at_us)};
}

std::shared_ptr<const DirectoryAuthenticator::Verified> DirectoryAuthenticator::Remembered(
    const std::string& key) const {
  std::shared_ptr<const Verified> found = verified_.Find(key);
  return found != nullptr && parts_.now() < found->until ? found : nullptr;
}

void DirectoryAuthenticator::Remember(const std::string& key, const Proof& proof,
                                      std::shared_ptr<const auth::ClientAuthorities> authorities) {
  const absl::Time until = std::min(proof.expires, parts_.now() + kLongestMemory);
  verified_.Keep(key, std::make_shared<const Verified>(Verified{proof, until, std::move(authorities)}),
                 kBytesOfOne);
}

absl::StatusOr<DirectoryAuthenticator::Linked> DirectoryAuthenticator::LinkedTo(const Proof& proof) const {
  ASSIGN_OR_RETURN(const directory::DirectoryStore::Snapshot directory, parts_.directory.Current());
  const directory::Credential* const credential = directory->FindIdentity(proof.identity);
  if (credential == nullptr || credential->is_pending) {
    return NotAccepted(
        Fault::kUnknownPrincipal,
        absl::StrCat("no principal is linked to ", proof.identity.issuer, " ", proof.identity.subject));
  }
  const absl::Time ends = absl::FromUnixMicros(credential->expires_at_us);
  if (credential->expires_at_us > 0 && parts_.now() >= ends) {
    return NotAccepted(Fault::kExpired, absl::StrCat("the credential ", credential->id, " has expired"));
  }
  if (directory->FindPrincipal(credential->principal)->is_disabled) {
    return NotAccepted(Fault::kDisabled, absl::StrCat(credential->principal, " is disabled"));
  }
  return Linked{credential->principal, credential->id};
}

absl::Status DirectoryAuthenticator::CheckStill(const Caller& caller) {
  if (!caller.proof.key_thumbprint.empty()) {
    const auth::Issuer* const issuer = parts_.issuers.Find(caller.proof.identity.issuer);
    RETURN_IF_ERROR(parts_.issuers.CheckHas(*issuer, caller.proof.key_thumbprint));
  }
  ASSIGN_OR_RETURN(const Linked linked, LinkedTo(caller.proof));
  if (linked.principal == caller.principal.name()) return absl::OkStatus();
  return NotAccepted(Fault::kUnknownPrincipal,
                     absl::StrCat(caller.principal.name(), " has lost a credential"));
}

}  // namespace curator::rpc
