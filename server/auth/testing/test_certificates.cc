#include "auth/testing/test_certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace curator::auth {
namespace {

std::string Written(BIO* bio) {
  char* text = nullptr;
  const long length = BIO_get_mem_data(bio, &text);
  std::string written(text, static_cast<size_t>(length));
  BIO_free(bio);
  return written;
}

void AddExtension(X509& certificate, X509& issuer, int kind, const std::string& value) {
  if (value.empty()) return;
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) std::abort();
  X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

IssuedCertificate Finish(std::shared_ptr<X509> certificate, std::shared_ptr<EVP_PKEY> key, EVP_PKEY& signer) {
  if (X509_sign(certificate.get(), &signer, EVP_sha256()) == 0) std::abort();
  IssuedCertificate issued;
  BIO* const pem = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(pem, certificate.get());
  issued.pem = Written(pem);
  BIO* const der = BIO_new(BIO_s_mem());
  i2d_X509_bio(der, certificate.get());
  issued.der = Written(der);
  BIO* const key_pem = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_pem, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  issued.key_pem = Written(key_pem);
  issued.certificate = std::move(certificate);
  issued.key = std::move(key);
  return issued;
}

}  // namespace

TestAuthority::TestAuthority(absl::Time now) : now_(now) {
  self_ = IssueBy({}, {.common_name = "test authority",
                       .is_authority = true,
                       .usage = "",
                       .from = -absl::Hours(24 * 365),
                       .until = absl::Hours(24 * 365)});
}

IssuedCertificate TestAuthority::IssueBy(const IssuedCertificate& issuer, const CertificateSpec& spec) const {
  std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  std::shared_ptr<X509> certificate(X509_new(), X509_free);
  X509& made = *certificate;
  X509_set_version(&made, X509_VERSION_3);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(&made), serial >> 1);
  ASN1_TIME_set(X509_getm_notBefore(&made), absl::ToTimeT(now_ + spec.from));
  ASN1_TIME_set(X509_getm_notAfter(&made), absl::ToTimeT(now_ + spec.until));
  X509_set_pubkey(&made, key.get());
  X509_NAME* const name = X509_get_subject_name(&made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(spec.common_name.c_str()), -1, -1, 0);
  const bool is_own = issuer.certificate == nullptr;
  X509& signed_by = is_own ? made : *issuer.certificate;
  X509_set_issuer_name(&made, X509_get_subject_name(&signed_by));
  AddExtension(made, signed_by, NID_basic_constraints,
               spec.is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  const std::string key_usage =
      spec.is_authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature";
  AddExtension(made, signed_by, NID_key_usage, spec.has_key_usage ? key_usage : "");
  AddExtension(made, signed_by, NID_subject_key_identifier, "hash");
  AddExtension(made, signed_by, NID_authority_key_identifier, is_own ? "" : "keyid:always");
  AddExtension(made, signed_by, NID_ext_key_usage, spec.usage);
  AddExtension(made, signed_by, NID_subject_alt_name, absl::StrJoin(spec.names, ","));
  EVP_PKEY& signer = is_own ? *key : *issuer.key;
  return Finish(certificate, key, signer);
}

}  // namespace curator::auth
