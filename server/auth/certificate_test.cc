#include "auth/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "auth/testing/test_certificates.h"
#include "base/errors.h"

namespace curator::auth {
namespace {

using ::testing::HasSubstr;

constexpr char kUri[] = "spiffe://example/nightly";

class ClientCertificates : public ::testing::Test {
 protected:
  absl::StatusOr<ClientCertificate> Check(const IssuedCertificate& certificate) const {
    return authorities_.Check(certificate.der, now_);
  }
  static std::string ReasonOf(const absl::Status& status) {
    return PublicErrorOf(status).value_or(PublicError()).reason;
  }

  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  const TestAuthority authority_{now_};
  const ClientAuthorities authorities_ = ClientAuthorities::Parse(authority_.pem()).value();
};

TEST_F(ClientCertificates, AreIdentifiedByTheirOnlyUri) {
  const absl::StatusOr<ClientCertificate> checked =
      Check(authority_.Issue({.names = {std::string("URI:") + kUri, "DNS:nightly.example"}}));
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->uri, kUri);
  EXPECT_EQ(checked->expires, now_ + absl::Hours(1));
}

TEST_F(ClientCertificates, ThatAreNotRightAreRefused) {
  const TestAuthority stranger(now_);
  const std::string uri = std::string("URI:") + kUri;
  const IssuedCertificate intermediate = authority_.Issue({.common_name = "no authority", .names = {uri}});
  const std::vector<std::pair<std::string, IssuedCertificate>> wrong = {
      {"a common name alone", authority_.Issue({.common_name = kUri})},
      {"two URIs", authority_.Issue({.names = {uri, "URI:spiffe://example/other"}})},
      {"a DNS name alone", authority_.Issue({.names = {"DNS:example"}})},
      {"another authority", stranger.Issue({.names = {uri}})},
      {"a certificate of a client's as authority", authority_.IssueBy(intermediate, {.names = {uri}})},
      {"a server's", authority_.Issue({.names = {uri}, .usage = "serverAuth"})},
      {"not valid yet", authority_.Issue({.names = {uri}, .from = absl::Seconds(1)})},
  };
  for (const auto& [name, certificate] : wrong) {
    const absl::Status status = Check(certificate).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << name;
    EXPECT_EQ(ReasonOf(status), "TOKEN_INVALID") << name << ": " << status;
  }
}

TEST_F(ClientCertificates, ThatHaveExpiredAreToldSo) {
  const absl::Status status =
      Check(authority_.Issue({.names = {std::string("URI:") + kUri}, .until = -absl::Seconds(1)})).status();
  EXPECT_EQ(ReasonOf(status), "TOKEN_EXPIRED") << status;
}

TEST_F(ClientCertificates, OfAnIntermediateAuthorityAreAcceptedWhereItIsListed) {
  const IssuedCertificate intermediate =
      authority_.Issue({.common_name = "intermediate", .is_authority = true, .usage = ""});
  const IssuedCertificate leaf = authority_.IssueBy(intermediate, {.names = {std::string("URI:") + kUri}});
  EXPECT_FALSE(Check(leaf).ok()) << "the chain is not sent, only the client's certificate";
  const ClientAuthorities both = ClientAuthorities::Parse(authority_.pem() + intermediate.pem).value();
  EXPECT_TRUE(both.Check(leaf.der, now_).ok());
}

TEST_F(ClientCertificates, ThatAreNoneAreRefused) {
  const std::string der = authority_.Issue({.names = {std::string("URI:") + kUri}}).der;
  for (const std::string& bytes : {std::string(), std::string("x"), der + "x", der.substr(1)}) {
    EXPECT_EQ(authorities_.Check(bytes, now_).status().code(), absl::StatusCode::kUnauthenticated);
  }
}

TEST_F(ClientCertificates, ThatDifferInOneBitAreRefused) {
  const std::string der = authority_.Issue({.names = {std::string("URI:") + kUri}}).der;
  ASSERT_TRUE(authorities_.Check(der, now_).ok());
  for (size_t at = 0; at < der.size(); ++at) {
    std::string changed = der;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    EXPECT_FALSE(authorities_.Check(changed, now_).ok()) << "byte " << at;
  }
}

TEST_F(ClientCertificates, OfNoAuthorityAreNotRead) {
  EXPECT_FALSE(ClientAuthorities::Parse("").ok());
  EXPECT_FALSE(ClientAuthorities::Parse(authority_.Issue({}).pem).ok());
}

// As `openssl req -x509` makes one.
TEST_F(ClientCertificates, OfAnAuthorityThatStatesNoKeyUsageAreAccepted) {
  const IssuedCertificate plain =
      authority_.Issue({.common_name = "plain", .is_authority = true, .has_key_usage = false, .usage = ""});
  const ClientAuthorities authorities = ClientAuthorities::Parse(plain.pem).value();
  const IssuedCertificate leaf = authority_.IssueBy(plain, {.names = {std::string("URI:") + kUri}});
  EXPECT_TRUE(authorities.Check(leaf.der, now_).ok());
}

TEST_F(ClientCertificates, AreTheSameInPemAndInDer) {
  const IssuedCertificate issued = authority_.Issue({});
  EXPECT_EQ(DerOfPem("a comment\n" + issued.pem).value(), issued.der);
  EXPECT_FALSE(DerOfPem(issued.key_pem).ok());
}

class TlsFilesTest : public ClientCertificates {
 protected:
  const IssuedCertificate server_ =
      authority_.Issue({.names = {"DNS:curator.example"}, .usage = "serverAuth"});
  TlsFiles files_{.certificate = server_.pem, .key = server_.key_pem, .client_ca = authority_.pem()};

  std::string Fault() const { return std::string(CheckTlsFiles(files_, now_).status().message()); }
};

TEST_F(TlsFilesTest, ThatBelongTogetherSayWhenTheyEnd) {
  EXPECT_EQ(CheckTlsFiles(files_, now_).value(), now_ + absl::Hours(1));
}

TEST_F(TlsFilesTest, NameTheFileThatIsWrong) {
  files_.key = authority_.Issue({}).key_pem;
  EXPECT_THAT(Fault(), HasSubstr("key: it is not the key of the certificate"));
  files_.key = "nonsense";
  EXPECT_THAT(Fault(), HasSubstr("key: there is no private key"));
  files_ = {.certificate = "", .key = server_.key_pem, .client_ca = authority_.pem()};
  EXPECT_THAT(Fault(), HasSubstr("certificate: there is no certificate"));
  files_ = {.certificate = server_.pem, .key = server_.key_pem, .client_ca = ""};
  EXPECT_THAT(Fault(), HasSubstr("client_ca: there is no certificate"));
}

TEST_F(TlsFilesTest, AreRefusedBeforeTheyAreValidAndAfter) {
  EXPECT_FALSE(CheckTlsFiles(files_, now_ + absl::Hours(1)).ok());
  EXPECT_FALSE(CheckTlsFiles(files_, now_ - absl::Hours(2)).ok());
}

}  // namespace
}  // namespace curator::auth
