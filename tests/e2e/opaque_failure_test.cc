// What a client can find out over a real socket about records that the server cannot read: nothing but that,
// and before anything is charged.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include "client/request_id.h"
#include "curator/v1/query.grpc.pb.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;

v1::AnswerWorkloadRequest Question(const std::string& dataset, int k, const std::string& epsilon) {
  v1::AnswerWorkloadRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset(dataset);
  *request.mutable_workload() = AllMarginals(k);
  request.mutable_spend()->set_epsilon(epsilon);
  return request;
}

// Everything that a failed call tells its client.
struct Failure {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string message;
  std::string details;
  std::multimap<std::string, std::string> headers;
  std::multimap<std::string, std::string> trailers;

  bool operator==(const Failure&) const = default;
};

class Poisoned : public ::testing::TestWithParam<Backend> {
 protected:
  using Poison = std::function<void(const fs::path& snapshot)>;

  Poisoned()
      : server_(GetParam()),
        owner_(std::in_place, ClientOptions{.server = server_.address(), .principal = "owner"}) {}

  // A sealed dataset whose records on disk are damaged; the server finds out when it starts again.
  void MakePoisoned(const std::string& name, const Poison& poison) const {
    const std::vector<fs::path> before = Snapshots();
    MakeSealed(*owner_, NewDataset(name, v1::RULE_PURE, "3"), SmallCsv(80));
    for (const fs::path& snapshot : Snapshots()) {
      if (std::find(before.begin(), before.end(), snapshot) == before.end()) poison(snapshot);
    }
  }

  std::vector<fs::path> Snapshots() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(server_.options().data_directory)) {
      if (entry.path().filename() == "snapshot") found.push_back(entry.path());
    }
    return found;
  }

  Failure AnswerFails(const v1::AnswerWorkloadRequest& question) const {
    const auto channel = grpc::CreateChannel(server_.address(), grpc::InsecureChannelCredentials());
    const auto stub = v1::QueryService::NewStub(channel);
    grpc::ClientContext context;
    context.AddMetadata("curator-principal", "owner");
    const auto stream = stub->AnswerWorkload(&context, question);
    v1::AnswerChunk chunk;
    EXPECT_FALSE(stream->Read(&chunk)) << "nothing may be answered";
    const grpc::Status status = stream->Finish();
    Failure failure{status.error_code(), status.error_message(), status.error_details(), {}, {}};
    for (const auto& [key, value] : context.GetServerInitialMetadata())
      failure.headers.emplace(std::string(key.data(), key.size()), std::string(value.data(), value.size()));
    for (const auto& [key, value] : context.GetServerTrailingMetadata())
      failure.trailers.emplace(std::string(key.data(), key.size()), std::string(value.data(), value.size()));
    return failure;
  }

  absl::Status SynthesisFails(const std::string& dataset) const {
    v1::CreateSynthesisRequest request;
    request.set_dataset(dataset);
    request.set_request_id(*client::NewRequestId());
    request.mutable_spec()->set_method("mwem");
    request.mutable_spec()->mutable_spend()->set_epsilon("1");
    return owner_->CreateSynthesis(request).status();
  }

  void Restart() {
    server_.Restart();
    owner_.emplace(ClientOptions{.server = server_.address(), .principal = "owner"});
  }

  std::string Spent(const std::string& dataset) const {
    return owner_->GetBudget(dataset)->accounts(0).counters(0).spent();
  }

  TestServer server_;
  std::optional<Client> owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Poisoned, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

// Flips a bit at `share` of the file.
void FlipAt(const fs::path& path, double share) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(share * static_cast<double>(fs::file_size(path) - 1));
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 1));
}

TEST_P(Poisoned, EveryTableThatCannotBeReadIsRefusedInTheSameWayAndNothingIsCharged) {
  const std::vector<std::pair<std::string, Poison>> poisons = {
      {"beginning", [](const fs::path& path) { FlipAt(path, 0); }},
      {"record", [](const fs::path& path) { FlipAt(path, 0.7); }},
      {"another-record", [](const fs::path& path) { FlipAt(path, 0.8); }},
      {"end", [](const fs::path& path) { FlipAt(path, 1); }},
      {"shortened", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }},
      {"removed", [](const fs::path& path) { fs::remove(path); }},
  };
  for (const auto& [name, poison] : poisons) MakePoisoned(name, poison);
  Restart();
  std::vector<Failure> failures;
  std::vector<absl::Status> operation_errors;
  for (const auto& [name, poison] : poisons) {
    failures.push_back(AnswerFails(Question(name, 2, "0.25")));
    operation_errors.push_back(SynthesisFails(name));
    EXPECT_EQ(Spent(name), "0") << name;
    EXPECT_EQ(owner_->ListReleases(name)->releases_size(), 0);
    EXPECT_TRUE(owner_->VerifyLedger(name)->ok());
  }
  EXPECT_EQ(failures[0].code, grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(operation_errors[0].code(), absl::StatusCode::kFailedPrecondition) << operation_errors[0];
  for (size_t i = 1; i < poisons.size(); ++i) {
    EXPECT_EQ(failures[i], failures[0]) << poisons[i].first << ": " << failures[i].message;
    EXPECT_EQ(operation_errors[i], operation_errors[0]) << poisons[i].first;
  }
}

TEST_P(Poisoned, TheComparisonSeesOtherErrors) {
  MakePoisoned("record", [](const fs::path& path) { FlipAt(path, 0.7); });
  Restart();
  const Failure unreadable = AnswerFails(Question("record", 2, "0.25"));
  EXPECT_NE(AnswerFails(Question("no-such-dataset", 2, "0.25")), unreadable);
}

TEST_P(Poisoned, TheComparisonSeesOtherHeadersAndTrailers) {
  MakePoisoned("record", [](const fs::path& path) { FlipAt(path, 0.7); });
  Restart();
  const Failure unreadable = AnswerFails(Question("record", 2, "0.25"));
  Failure another = unreadable;
  another.trailers.emplace("cause", "record 17");
  EXPECT_NE(another, unreadable);
  another = unreadable;
  another.headers.emplace("cause", "record 17");
  EXPECT_NE(another, unreadable);
}

TEST_P(Poisoned, ATableInMemoryIsAnsweredWhateverBecomesOfItsFile) {
  MakePoisoned("removed", [](const fs::path& path) { fs::remove(path); });
  EXPECT_TRUE(owner_->AnswerWorkload(Question("removed", 2, "0.25")).ok());
  EXPECT_EQ(Spent("removed"), "0.25");
}

}  // namespace
}  // namespace curator::testing
