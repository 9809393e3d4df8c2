// A certificate authority in a test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

struct evp_pkey_st;
struct x509_st;

namespace curator::auth {

struct CertificateSpec {
  std::string common_name = "test";
  std::vector<std::string> names = {};  // subject alternative names as OpenSSL writes them: "URI:spiffe://x"
  bool is_authority = false;
  bool has_key_usage = true;
  std::string usage = "clientAuth";  // extended key usage; empty: none stated
  absl::Duration from = -absl::Hours(1);
  absl::Duration until = absl::Hours(1);  // both from `now`
};

struct IssuedCertificate {
  std::string pem;
  std::string der;
  std::string key_pem;
  std::shared_ptr<x509_st> certificate;
  std::shared_ptr<evp_pkey_st> key;
};

class TestAuthority {
 public:
  explicit TestAuthority(absl::Time now);

  // Its own certificate.
  const std::string& pem() const { return self_.pem; }
  IssuedCertificate Issue(const CertificateSpec& spec) const { return IssueBy(self_, spec); }
  // By another one, as by an intermediate authority.
  IssuedCertificate IssueBy(const IssuedCertificate& issuer, const CertificateSpec& spec) const;

 private:
  absl::Time now_;
  IssuedCertificate self_;
};

}  // namespace curator::auth
