// A server that cannot read a dataset's records: it refuses before the charge, charges nothing, and takes
// over nothing that another server is answering.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "client/request_id.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Arguments(const AppOptions& options, const std::string& anchor) {
  return {"--listen=127.0.0.1:0",       "--dev",
          "--ledger=" + options.ledger, "--data-dir=" + options.data_directory,
          "--anchor=" + anchor,         "--drain-seconds=0"};
}

v1::AnswerWorkloadRequest Question(const std::string& dataset, int k) {
  v1::AnswerWorkloadRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset(dataset);
  *request.mutable_workload() = AllMarginals(k);
  request.mutable_spend()->set_epsilon("0.25");
  return request;
}

v1::CreateSynthesisRequest SmallSynthesis(const std::string& dataset) {
  v1::CreateSynthesisRequest request;
  request.set_request_id(*client::NewRequestId());
  request.set_dataset(dataset);
  request.mutable_spec()->set_method("mwem");
  request.mutable_spec()->mutable_spend()->set_epsilon("1");
  return request;
}

std::string Spent(const Client& client, const std::string& dataset) {
  return client.GetBudget(dataset)->accounts(0).counters(0).spent();
}

// A server A, and beside it B on the same ledger, whose copy of A's data folder is changed by `damage`.
class TwoServers {
 public:
  TwoServers() : options_(FreshOptions(Backend::kPostgres, directory_.path())) {
    first_.emplace(Arguments(options_, anchor_));
    a_.emplace(ClientOptions{.server = first_->Address().value(), .principal = "owner"});
    MakeSealed(*a_, NewDataset("census", v1::RULE_PURE, "10"), SmallCsv(80));
  }

  const Client& a() const { return *a_; }

  Client StartB(const std::function<void(const fs::path& data)>& damage) {
    AppOptions copied = options_;
    copied.data_directory = directory_.path() + "/copied";
    fs::copy(options_.data_directory, copied.data_directory, fs::copy_options::recursive);
    damage(copied.data_directory);
    second_.emplace(Arguments(copied, anchor_));
    return Client({.server = second_->Address().value(), .principal = "owner"});
  }

  pid_t pid_of_b() const { return second_->pid(); }

 private:
  const ScratchFolder directory_;
  const std::string anchor_ = directory_.path() + "/anchor";
  const AppOptions options_;
  std::optional<ServerProcess> first_;
  std::optional<ServerProcess> second_;
  std::optional<Client> a_;
};

void ExpectRefusalWithoutCharge(const Client& a, const Client& b) {
  const v1::AnswerWorkloadRequest question = Question("census", 2);
  const absl::Status refused = b.AnswerWorkload(question).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  EXPECT_EQ(b.CreateSynthesis(SmallSynthesis("census")).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Spent(a, "census"), "0");
  EXPECT_TRUE(a.AnswerWorkload(question).ok()) << "the same request is answered where the records are";
  EXPECT_EQ(Spent(a, "census"), "0.25");
  EXPECT_TRUE(b.AnswerWorkload(question).ok()) << "what is stored is repeated without the records";
  EXPECT_EQ(Spent(a, "census"), "0.25");
}

TEST(UnreadyTables, AServerWithoutTheRecordsChargesNothing) {
  TwoServers servers;
  const Client b = servers.StartB([](const fs::path& data) { fs::remove_all(data / "datasets"); });
  ExpectRefusalWithoutCharge(servers.a(), b);
}

TEST(UnreadyTables, AServerWithAnotherKeyChargesNothing) {
  TwoServers servers;
  const Client b = servers.StartB([](const fs::path& data) { fs::remove(data / "server.key"); });
  ExpectRefusalWithoutCharge(servers.a(), b);
}

TEST(UnreadyTables, AServerWithoutTheRecordsTakesOverNothing) {
  TwoServers servers;
  MakeSealed(
      servers.a(),
      []() {
        v1::CreateDatasetRequest large = LargeDataset();
        large.set_name("large");
        return large;
      }(),
      LargeCsv());
  v1::CreateSynthesisRequest request = LongSynthesis();
  request.set_dataset("large");
  const Client b = servers.StartB([](const fs::path& data) { fs::remove_all(data / "datasets"); });
  const absl::StatusOr<v1::Operation> started = servers.a().CreateSynthesis(request);
  ASSERT_TRUE(started.ok()) << started.status();
  const absl::Status refused = b.CreateSynthesis(request).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
  const absl::StatusOr<v1::Operation> done =
      servers.a().WaitOperation(started->id(), std::chrono::minutes(5));
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->state(), v1::Operation::DONE) << done->DebugString();
}

// With this limit the process can open nothing more: what it has open stays.
rlim_t LowestFreeFile(pid_t pid) {
  rlim_t lowest = 0;
  while (fs::is_symlink(fs::symlink_status("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(lowest))))
    ++lowest;
  return lowest;
}

TEST(UnreadyTables, AServerThatCanOpenNoMoreFilesForfeitsNothing) {
  TwoServers servers;
  const Client b = servers.StartB([](const fs::path&) {});
  ASSERT_TRUE(b.GetBudget("census").ok()) << "its connections are open";
  const rlim_t lowest = LowestFreeFile(servers.pid_of_b());
  const rlimit full{.rlim_cur = lowest, .rlim_max = lowest};
  ASSERT_EQ(prlimit(servers.pid_of_b(), RLIMIT_NOFILE, &full, nullptr), 0);
  const bool is_answered = b.AnswerWorkload(Question("census", 2)).ok();
  EXPECT_EQ(Spent(servers.a(), "census"), is_answered ? "0.25" : "0");
}

}  // namespace
}  // namespace curator::testing
