// A listener for one's own services: TLS that requires client certificates, and certificates that are
// replaced while the server runs.
#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "app_bootstrap.h"
#include "auth/testing/test_certificates.h"
#include "curator/v1/version.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::grpc::health::v1::HealthCheckResponse;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kRefresh(1);
constexpr char kNightly[] = "spiffe://curator.example/nightly";

std::string Written(const std::string& path, const std::string& content) {
  std::ofstream(path) << content;
  return path;
}

// gRPC ends by a thread of its own after its last object is gone, which must not be when the process ends and
// OpenSSL with it: it is kept until all tests are over, and ended here.
class GrpcEndsFirst final : public ::testing::Environment {
 public:
  void SetUp() override { grpc_init(); }
  void TearDown() override { grpc_shutdown_blocking(); }
};
const ::testing::Environment* const kGrpcEndsFirst =
    ::testing::AddGlobalTestEnvironment(new GrpcEndsFirst);  // which gtest destroys

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
                          .refresh_seconds = kRefresh.count()}};
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

  std::shared_ptr<grpc::Channel> HealthChannel(const auth::TestAuthority& server) const {
    return grpc::CreateChannel(app_->address(), grpc::SslCredentials({.pem_root_certs = server.pem(),
                                                                      .pem_private_key = nightly_.key_pem,
                                                                      .pem_cert_chain = nightly_.pem}));
  }
  static HealthCheckResponse::ServingStatus AskOver(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service("curator.v1.Certificates");
    HealthCheckResponse response;
    EXPECT_TRUE(grpc::health::v1::Health::NewStub(channel)->Check(&context, request, &response).ok());
    return response.status();
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
  config::ServerConfig config_{
      .ledger = options_.ledger,
      .data_dir = options_.data_directory,
      .quotas = {.calls_per_second = 100'000, .calls_after_a_pause = 100'000, .concurrent_calls = 96}};
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

// Over a connection of its own: the certificate that the server shows, or the error.
absl::StatusOr<std::string> CertificateShown(const std::string& address, const auth::TestAuthority& authority,
                                             const auth::IssuedCertificate& client) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel = grpc::CreateCustomChannel(address,
                                                 grpc::SslCredentials({.pem_root_certs = authority.pem(),
                                                                       .pem_private_key = client.key_pem,
                                                                       .pem_cert_chain = client.pem}),
                                                 arguments);
  grpc::ClientContext context;
  v1::GetVersionResponse response;
  const grpc::Status status = v1::VersionService::NewStub(channel)->GetVersion(&context, {}, &response);
  if (!status.ok()) return absl::UnavailableError(status.error_message());
  const std::vector<grpc::string_ref> shown = context.auth_context()->FindPropertyValues("x509_pem_cert");
  return shown.empty() ? "" : std::string(shown.front().data(), shown.front().size());
}

TEST_F(MutualTls, ASwapUnderLoadFailsNoCall) {
  const std::string first = CertificateShown(app_->address(), authority_, nightly_).value();
  std::atomic<bool> is_over = false;
  std::atomic<int> calls = 0;
  std::thread kept([&] {
    const Client client = With(authority_, &nightly_);
    for (; !is_over; ++calls) EXPECT_TRUE(client.GetVersion().ok());
  });
  PutInPlace("second", ServerCertificate(authority_));
  const auto deadline = steady_clock::now() + 2 * kRefresh + std::chrono::seconds(1);
  std::string shown = first;
  while (shown == first && steady_clock::now() < deadline) {
    const absl::StatusOr<std::string> now = CertificateShown(app_->address(), authority_, nightly_);
    EXPECT_TRUE(now.ok()) << now.status();
    shown = now.value_or("");
    ++calls;
  }
  is_over = true;
  kept.join();
  EXPECT_NE(shown, first) << "within two refreshes";
  EXPECT_GT(calls, 10);
}

TEST_F(MutualTls, AKeyThatFitsNoMoreIsReportedAndOpenConnectionsGoOn) {
  const Client connected = With(authority_, &nightly_);
  ASSERT_TRUE(connected.GetVersion().ok());
  const auto health = HealthChannel(authority_);
  ASSERT_EQ(AskOver(health), HealthCheckResponse::SERVING);
  auth::IssuedCertificate misfit = ServerCertificate(authority_);
  misfit.key_pem = ServerCertificate(authority_).key_pem;
  PutInPlace("misfit", misfit);
  const auto deadline = steady_clock::now() + 2 * kRefresh + std::chrono::seconds(1);
  auto state = HealthCheckResponse::SERVING;
  while (state == HealthCheckResponse::SERVING && steady_clock::now() < deadline) state = AskOver(health);
  EXPECT_EQ(state, HealthCheckResponse::NOT_SERVING);
  EXPECT_TRUE(connected.GetVersion().ok());
}

}  // namespace
}  // namespace curator::testing
