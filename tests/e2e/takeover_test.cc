// Two servers on one PostgreSQL ledger: one is stopped in the middle of a synthesis, the other one takes the
// charge over, and then the first one goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

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

TEST(Takeover, AServerThatWasStoppedAndOvertakenCannotWriteWhenItGoesOn) {
  const ScratchFolder directory;
  const std::string anchor = directory.path() + "/anchor";
  const AppOptions options = FreshOptions(Backend::kPostgres, directory.path());
  const v1::CreateSynthesisRequest request = LongSynthesis();

  ServerProcess stopped(Arguments(options, anchor));
  const std::optional<std::string> stopped_address = stopped.Address();
  ASSERT_TRUE(stopped_address.has_value()) << stopped.log();
  const Client client_of_stopped({.server = *stopped_address, .principal = "owner"});
  MakeSealed(client_of_stopped, LargeDataset(), LargeCsv());
  const absl::StatusOr<v1::Operation> started = client_of_stopped.CreateSynthesis(request);
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_EQ(AwaitBegun(client_of_stopped, started->id()), v1::Operation::RUNNING);
  stopped.Pause();

  // The other server has the same records and the same key.
  AppOptions copied = options;
  copied.data_directory = directory.path() + "/copied";
  fs::copy(options.data_directory, copied.data_directory, fs::copy_options::recursive);
  ServerProcess other(Arguments(copied, anchor));
  const std::optional<std::string> other_address = other.Address();
  ASSERT_TRUE(other_address.has_value()) << other.log();
  const Client client({.server = *other_address, .principal = "owner"});
  ASSERT_EQ(client.ListReleases("census")->releases_size(), 0) << "it was stopped before its release";
  const absl::StatusOr<v1::Operation> taken_over = client.CreateSynthesis(request);
  ASSERT_TRUE(taken_over.ok()) << taken_over.status();
  const absl::StatusOr<v1::Operation> done = client.WaitOperation(taken_over->id(), std::chrono::minutes(5));
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_EQ(done->state(), v1::Operation::DONE) << done->DebugString();
  const std::string spent = client.GetBudget("census")->accounts(0).counters(0).spent();

  stopped.Resume();
  const absl::StatusOr<v1::Operation> late =
      client_of_stopped.WaitOperation(started->id(), std::chrono::minutes(5));
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ(late->release_id(), late->state() == v1::Operation::DONE ? done->release_id() : "");
  const absl::StatusOr<v1::Operation> again = client_of_stopped.CreateSynthesis(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->release_id(), done->release_id());
  for (const Client* either : {&client, &client_of_stopped}) {
    EXPECT_EQ(either->GetBudget("census")->accounts(0).counters(0).spent(), spent) << "charged once";
    EXPECT_EQ(either->ListReleases("census")->releases_size(), 1);
    EXPECT_TRUE(either->VerifyLedger("census")->ok());
  }
  EXPECT_EQ(stopped.Stop(SIGTERM), 0) << stopped.log();
  EXPECT_EQ(other.Stop(SIGTERM), 0) << other.log();
}

}  // namespace
}  // namespace curator::testing
