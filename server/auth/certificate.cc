#include "auth/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "auth/faults.h"
#include "auth/openssl_pointers.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace curator::auth {
namespace {

constexpr size_t kMostUriBytes = 1024;

using Bio = OpensslPointer<BIO, BIO_free_all>;
using Certificate = OpensslPointer<X509, X509_free>;
using PrivateKey = OpensslPointer<EVP_PKEY, EVP_PKEY_free>;
using Names = OpensslPointer<GENERAL_NAMES, GENERAL_NAMES_free>;
using StoreContext = OpensslPointer<X509_STORE_CTX, X509_STORE_CTX_free>;

Bio Reading(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A key file with a passphrase is refused, not asked about.
int NoPassphrase(char*, int, int, void*) {
  return -1;
}

std::vector<Certificate> CertificatesIn(std::string_view pem) {
  std::vector<Certificate> found;
  const Bio bio = Reading(pem);
  while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr))
    found.emplace_back(next);
  ERR_clear_error();  // the end of the file is one
  return found;
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

absl::Status InvalidCertificate(std::string_view detail) {
  return NotAccepted(Fault::kInvalid, absl::StrCat("a client certificate is invalid: ", std::string(detail)));
}

// The only URI SAN; other kinds of names are not looked at.
absl::StatusOr<std::string> OnlyUriOf(X509& certificate) {
  const Names names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> uris;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<size_t>(ASN1_STRING_length(uri)));
  }
  if (uris.size() != 1) {
    return InvalidCertificate(
        absl::StrCat("it has ", uris.size(), " URIs as subject alternative names, and not one"));
  }
  const std::string& uri = uris.front();
  const bool is_line =
      !uri.empty() && uri.size() <= kMostUriBytes && IsUtf8(uri) && !HasControlCharacter(uri);
  if (!is_line || uri.find('\0') != std::string::npos)
    return InvalidCertificate("its URI is no line of at most 1024 bytes");
  return uri;
}

}  // namespace

absl::StatusOr<ClientAuthorities> ClientAuthorities::Parse(std::string_view pem) {
  const std::vector<Certificate> authorities = CertificatesIn(pem);
  if (authorities.empty())
    return absl::InvalidArgumentError("there is no certificate of an authority in PEM");
  std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
  for (const Certificate& authority : authorities) {
    if (X509_check_ca(authority.get()) != 1) {
      return absl::InvalidArgumentError("a certificate is not an authority's (basicConstraints: CA)");
    }
    X509_STORE_add_cert(store.get(), authority.get());
  }
  return ClientAuthorities(std::move(store));
}

absl::StatusOr<ClientCertificate> ClientAuthorities::Check(std::string_view der, absl::Time now) const {
  const auto* bytes = OpensslBytes(der);
  const unsigned char* const end = bytes + der.size();
  const Certificate certificate(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
  if (certificate == nullptr || bytes != end) {
    ERR_clear_error();
    return InvalidCertificate("it is no certificate");
  }
  const StoreContext context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), store_.get(), certificate.get(), nullptr) != 1) {
    return CannotTell("OpenSSL cannot verify certificates");
  }
  X509_VERIFY_PARAM* const parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, absl::ToTimeT(now));
  X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT);
  // The files name whom is trusted, which may be an intermediate authority.
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  const bool is_verified = X509_verify_cert(context.get()) == 1;
  const int error = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  if (!is_verified) {
    const std::string detail = X509_verify_cert_error_string(error);
    if (error != X509_V_ERR_CERT_HAS_EXPIRED) return InvalidCertificate(detail);
    return NotAccepted(Fault::kExpired, absl::StrCat("a client certificate: ", detail));
  }
  ASSIGN_OR_RETURN(std::string uri, OnlyUriOf(*certificate));
  return ClientCertificate{.uri = std::move(uri),
                           .expires = TimeOf(X509_get0_notAfter(certificate.get())),
                           .fingerprint = Sha256(der)};
}

absl::StatusOr<std::string> DerOfPem(std::string_view pem) {
  const Bio bio = Reading(pem);
  unsigned char* der = nullptr;
  long length = 0;
  const bool is_there =
      PEM_bytes_read_bio(&der, &length, nullptr, PEM_STRING_X509, bio.get(), NoPassphrase, nullptr) == 1;
  ERR_clear_error();
  if (!is_there) return absl::InvalidArgumentError("there is no certificate in PEM");
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<size_t>(length));
  OPENSSL_free(der);
  return bytes;
}

absl::StatusOr<absl::Time> CheckTlsFiles(const TlsFiles& files, absl::Time now) {
  const std::vector<Certificate> chain = CertificatesIn(files.certificate);
  if (chain.empty()) return absl::InvalidArgumentError("certificate: there is no certificate in PEM");
  const Bio bio = Reading(files.key);
  const PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  const bool fits = key != nullptr && X509_check_private_key(chain.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (key == nullptr)
    return absl::InvalidArgumentError("key: there is no private key in PEM without passphrase");
  if (!fits) return absl::InvalidArgumentError("key: it is not the key of the certificate");
  const absl::Time expires = TimeOf(X509_get0_notAfter(chain.front().get()));
  if (expires <= now) {
    return absl::InvalidArgumentError(
        absl::StrCat("certificate: it has expired at ", absl::FormatTime(expires)));
  }
  if (TimeOf(X509_get0_notBefore(chain.front().get())) > now) {
    return absl::InvalidArgumentError("certificate: it is not valid yet");
  }
  const absl::StatusOr<ClientAuthorities> authorities = ClientAuthorities::Parse(files.client_ca);
  if (authorities.ok()) return expires;
  return absl::InvalidArgumentError(absl::StrCat("client_ca: ", std::string(authorities.status().message())));
}

}  // namespace curator::auth
