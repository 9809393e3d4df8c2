// A server in development mode says with every answer that it provides no security, and a server without
// it or a configuration does not start.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "curator/v1/identity.grpc.pb.h"
#include "curator/v1/query.grpc.pb.h"
#include "curator/v1/version.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

class DevelopmentMode : public ::testing::Test {
 protected:
  // What the answer says of the server's security; empty when nothing.
  static std::string SecurityIn(const grpc::ClientContext& context) {
    const auto& metadata = context.GetServerInitialMetadata();
    const auto found = metadata.find("curator-security");
    return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
  }

  const TestServer server_{Backend::kSqlite};
  const std::shared_ptr<grpc::Channel> channel_ =
      grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials());
};

constexpr char kNone[] = "none: development mode believes any name";

TEST_F(DevelopmentMode, EveryAnswerSaysThatItIsNoSecurity) {
  grpc::ClientContext version;
  v1::GetVersionResponse answer;
  ASSERT_TRUE(v1::VersionService::NewStub(channel_)->GetVersion(&version, {}, &answer).ok());
  EXPECT_EQ(SecurityIn(version), kNone);
  EXPECT_TRUE(answer.development_mode());

  grpc::ClientContext health;
  grpc::health::v1::HealthCheckResponse state;
  ASSERT_TRUE(grpc::health::v1::Health::NewStub(channel_)->Check(&health, {}, &state).ok());
  EXPECT_EQ(SecurityIn(health), kNone);
}

TEST_F(DevelopmentMode, SoDoesEveryErrorAndEveryStream) {
  grpc::ClientContext refused;
  v1::WhoAmIResponse nobody;
  EXPECT_FALSE(v1::IdentityService::NewStub(channel_)->WhoAmI(&refused, {}, &nobody).ok());
  EXPECT_EQ(SecurityIn(refused), kNone);

  grpc::ClientContext stream;
  stream.AddMetadata("curator-principal", "ada");
  v1::AnswerWorkloadRequest question;
  question.set_dataset("nothing");
  const auto reader = v1::QueryService::NewStub(channel_)->AnswerWorkload(&stream, question);
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_EQ(SecurityIn(stream), kNone);
}

TEST(WithoutDevelopmentMode, AServerNeedsAConfiguration) {
  const ScratchFolder folder;
  AppOptions options = FreshOptions(Backend::kSqlite, folder.path());
  options.development = false;
  const absl::Status status = App::Start(options).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("--config is missing"));
}

}  // namespace
}  // namespace curator::testing
