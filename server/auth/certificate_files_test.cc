#include "auth/certificate_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "auth/testing/test_certificates.h"
#include "tests/testing/scratch_folder.h"

namespace curator::auth {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class CertificateFilesTest : public ::testing::Test {
 protected:
  // A folder with the three files, in whose place the link `current` is put.
  void Swap(const IssuedCertificate& certificate, const IssuedCertificate& key,
            const TestAuthority& clients) {
    const std::string folder = folder_.path() + "/" + std::to_string(++swaps_);
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/server.pem") << certificate.pem;
    std::ofstream(folder + "/server.key") << key.key_pem;
    std::ofstream(folder + "/clients.pem") << clients.pem();
    std::filesystem::create_directory_symlink(folder, folder_.path() + "/next");
    std::filesystem::rename(folder_.path() + "/next", current_);
  }
  absl::StatusOr<std::unique_ptr<CertificateFiles>> Open() {
    return CertificateFiles::Open(
        {.certificate = current_ + "/server.pem",
         .key = current_ + "/server.key",
         .client_ca = current_ + "/clients.pem"},
        {.between_looks = std::chrono::hours(1),
         .now = [this] { return now_; },
         .report = [this](const absl::Status& state) { reported_.push_back(state); }});
  }
  IssuedCertificate Server() const {
    return authority_.Issue({.names = {"DNS:localhost"}, .usage = "serverAuth"});
  }

  const testing::ScratchFolder folder_;
  const std::string current_ = folder_.path() + "/current";
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  const TestAuthority authority_{now_};
  const TestAuthority other_{now_};
  std::vector<absl::Status> reported_;
  int swaps_ = 0;
};

TEST_F(CertificateFilesTest, FollowTheFolderThatIsSwapped) {
  const IssuedCertificate one = Server();
  Swap(one, one, authority_);
  const auto files = Open();
  ASSERT_TRUE(files.ok()) << files.status();
  const IssuedCertificate client = other_.Issue({.names = {"URI:spiffe://example/x"}});
  EXPECT_FALSE((*files)->authorities()->Check(client.der, now_).ok());
  const IssuedCertificate two = Server();
  Swap(two, two, other_);
  (*files)->Look();
  EXPECT_TRUE((*files)->authorities()->Check(client.der, now_).ok());
  EXPECT_THAT(reported_, SizeIs(2));
}

TEST_F(CertificateFilesTest, AreRefusedAtStartWhenTheKeyIsAnothers) {
  Swap(Server(), Server(), authority_);
  const absl::Status status = Open().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("not the key of the certificate"));
}

TEST_F(CertificateFilesTest, AreRefusedAtStartWhenOneIsMissing) {
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("clients.pem cannot be read"));
}

TEST_F(CertificateFilesTest, ThatStopFittingAreReportedAndTheAuthoritiesStay) {
  const IssuedCertificate one = Server();
  Swap(one, one, authority_);
  const auto files = Open();
  ASSERT_TRUE(files.ok());
  Swap(Server(), Server(), other_);
  (*files)->Look();
  (*files)->Look();
  EXPECT_FALSE((*files)->state().ok());
  ASSERT_THAT(reported_, SizeIs(2)) << "once, not at each look";
  EXPECT_THAT(std::string(reported_.back().message()), HasSubstr("key"));
  const IssuedCertificate client = authority_.Issue({.names = {"URI:spiffe://example/x"}});
  EXPECT_TRUE((*files)->authorities()->Check(client.der, now_).ok());
}

TEST_F(CertificateFilesTest, ThatExpireWhileTheServerRunsAreReported) {
  const IssuedCertificate one = Server();
  Swap(one, one, authority_);
  const auto files = Open();
  ASSERT_TRUE(files.ok());
  now_ += absl::Hours(2);
  (*files)->Look();
  EXPECT_THAT(std::string((*files)->state().message()), HasSubstr("expired"));
  EXPECT_THAT(reported_, SizeIs(2));
}

}  // namespace
}  // namespace curator::auth
