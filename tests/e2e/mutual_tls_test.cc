// A listener for one's own services: TLS that requires client certificates, and certificates that are
// replaced while the server runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "app_bootstrap.h"
#include "auth/testing/test_certificates.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kNightly[] = "spiffe://curator.example/nightly";

std::string Written(const std::string& path, const std::string& content) {
  std::ofstream(path) << content;
  return path;
}

class MutualTls : public ::testing::Test {
 protected:
  void SetUp() override {
    PutInPlace("first", ServerCertificate(authority_));
    app_ = *Start();
  }

  static auth::IssuedCertificate ServerCertificate(const auth::TestAuthority& authority) {
    return authority.Issue({.common_name = "curator", .names = {"DNS:localhost"}, .usage = "serverAuth"});
  }

  // A folder of the listener's files, to which the link is swapped.
  void PutInPlace(const std::string& name, const auth::IssuedCertificate& certificate) {
    const std::string folder = absl::StrCat(scratch_.path(), "/", name);
    std::filesystem::create_directory(folder);
    Written(folder + "/server.pem", certificate.pem);
    Written(folder + "/server.key", certificate.key_pem);
    Written(folder + "/clients.pem", authority_.pem());
    std::filesystem::create_directory_symlink(folder, link_ + ".new");
    std::filesystem::rename(link_ + ".new", link_);
  }

  absl::StatusOr<std::unique_ptr<App>> Start() {
    config_.listeners = {{.kind = config::ListenerKind::kMutualTls,
                          .address = "localhost:0",
                          .tls_folder = link_,
                          .refresh_seconds = 1}};
    AppOptions options = options_;
    options.development = false;
    options.config = config_;
    return App::Start(options);
  }

  // A client that trusts `server`, and proves what `client` says; by nothing when it is null.
  Client With(const auth::TestAuthority& server, const auth::IssuedCertificate* client) const {
    static int number = 0;
    const std::string files = absl::StrCat(scratch_.path(), "/client", ++number);
    client::TlsFiles tls{.authorities = Written(files + ".ca", server.pem())};
    if (client != nullptr) {
      tls.certificate = Written(files + ".pem", client->pem);
      tls.key = Written(files + ".key", client->key_pem);
    }
    return Client({.server = absl::StrCat("https://", app_->address()),
                   .principal = {},
                   .retry = {.window = std::chrono::seconds(2)},
                   .tls = tls});
  }

  std::string CodeFor(const std::string& principal, const std::string& uri) {
    std::ostringstream out;
    RunBootstrap(config_, {.principal = principal, .certificate = uri}, out, out);
    const size_t at = out.str().find("cure_");
    return at == std::string::npos ? out.str()
                                   : out.str().substr(at, out.str().find_first_of("\n ", at) - at);
  }

  const ScratchFolder scratch_;
  const std::string link_ = scratch_.path() + "/current";
  const AppOptions options_ = FreshOptions(Backend::kSqlite, scratch_.path());
  const auth::TestAuthority authority_{absl::Now()};
  const auth::IssuedCertificate nightly_ = authority_.Issue({.names = {absl::StrCat("URI:", kNightly)}});
  config::ServerConfig config_{.ledger = options_.ledger, .data_dir = options_.data_directory};
  std::unique_ptr<App> app_;
};

TEST_F(MutualTls, ACertificateProvesWhoCalls) {
  const Client client = With(authority_, &nightly_);
  EXPECT_TRUE(absl::IsUnauthenticated(client.WhoAmI().status())) << "linked to no principal yet";
  v1::EnrolRequest enrol;
  enrol.set_code(CodeFor("nightly", kNightly));
  ASSERT_TRUE(client.Enrol(enrol).ok());
  EXPECT_EQ(client.WhoAmI()->principal().name(), "nightly");
}

TEST_F(MutualTls, ConnectionsWithoutACertificateOfTheAuthorityAreRefused) {
  EXPECT_FALSE(With(authority_, nullptr).WhoAmI().ok());
  const auth::IssuedCertificate forged =
      auth::TestAuthority(absl::Now()).Issue({.names = {absl::StrCat("URI:", kNightly)}});
  const absl::Status status = With(authority_, &forged).WhoAmI().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(MutualTls, AKeyThatDoesNotFitItsCertificateEndsTheStart) {
  app_.reset();
  auth::IssuedCertificate misfit = ServerCertificate(authority_);
  misfit.key_pem = ServerCertificate(authority_).key_pem;
  PutInPlace("misfit", misfit);
  const absl::Status status = Start().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("listeners[0].tls_folder"));
}

TEST_F(MutualTls, ANewCertificateIsUsedWithoutARestart) {
  const auth::TestAuthority successor{absl::Now()};
  EXPECT_TRUE(absl::IsUnavailable(With(successor, &nightly_).WhoAmI().status())) << "not its certificate yet";
  PutInPlace("second", ServerCertificate(successor));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  absl::Status status = absl::UnavailableError("not asked yet");
  while (absl::IsUnavailable(status) && std::chrono::steady_clock::now() < deadline) {
    status = With(successor, &nightly_).WhoAmI().status();
  }
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << "reached, by a caller that is linked to nobody: " << status;
}

}  // namespace
}  // namespace curator::testing
