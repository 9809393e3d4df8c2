// What happens when the server is killed in the middle of a synthesis, or asked to stop.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include "client/request_id.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Arguments(const AppOptions& options) {
  return {"--listen=127.0.0.1:0", "--dev", "--ledger=" + options.ledger,
          "--data-dir=" + options.data_directory, "--drain-seconds=0"};
}

// A second state that equals the first to the last bit, as a crashed machine leaves it.
AppOptions CopyOf(const AppOptions& options, Backend backend, const fs::path& directory) {
  fs::copy(options.data_directory, directory / "data", fs::copy_options::recursive);
  AppOptions copy = options;
  copy.data_directory = directory / "data";
  if (backend == Backend::kPostgres) {
    copy.ledger = PostgresCluster::Shared().CopyDatabase(options.ledger);
    return copy;
  }
  const fs::path original = options.ledger.substr(std::string("sqlite:").size());
  for (const char* suffix : {"", "-wal", "-shm"}) {
    if (fs::exists(original.string() + suffix))
      fs::copy(original.string() + suffix, directory / ("ledger.db" + std::string(suffix)));
  }
  copy.ledger = "sqlite:" + (directory / "ledger.db").string();
  return copy;
}

// What LongSynthesis() costs, a few 1e-12 below the 4 that it offers, because its schedule's parts are
// rounded.
std::string PriceOf(const Client& client) {
  v1::EstimateSynthesisRequest estimate;
  estimate.set_dataset("census");
  *estimate.mutable_spec() = LongSynthesis().spec();
  return client.EstimateSynthesis(estimate)->costs(0).amount();
}

struct Finished {
  std::string release;
  std::string transcript;
};

// Starts the server again, asks again under the same request id, and returns what came of it.
Finished FinishAfterCrash(const AppOptions& options, const v1::CreateSynthesisRequest& request) {
  ServerProcess server(Arguments(options));
  const std::optional<std::string> address = server.Address();
  EXPECT_TRUE(address.has_value()) << server.log();
  if (!address) return {};
  const Client client({.server = *address, .principal = "owner"});
  const std::string price = PriceOf(client);
  EXPECT_EQ(client.GetBudget("census")->accounts(0).counters(0).spent(), price) << "the charge stands";
  EXPECT_EQ(client.ListOperations()->operations(0).state(), v1::Operation::INTERRUPTED);
  EXPECT_EQ(client.ListReleases("census")->releases_size(), 0);

  const absl::StatusOr<v1::Operation> again = client.CreateSynthesis(request);
  EXPECT_TRUE(again.ok()) << again.status();
  const absl::StatusOr<v1::Operation> done = client.WaitOperation(again->id(), std::chrono::minutes(5));
  EXPECT_EQ(done->state(), v1::Operation::DONE) << done->DebugString();
  EXPECT_EQ(client.GetBudget("census")->accounts(0).counters(0).spent(), price) << "and is made once";
  EXPECT_EQ(client.ListReleases("census")->releases_size(), 1);
  EXPECT_TRUE(client.VerifyLedger("census")->ok());
  v1::GetReleaseRequest get;
  get.set_release_id(done->release_id());
  std::string transcript;
  const absl::StatusOr<ReleaseContent> content = client.GetRelease(get);
  for (const std::string& line : content->synthesis->transcript()) transcript += line + "\n";
  v1::QueryModelRequest query;
  query.set_release_id(done->release_id());
  *query.mutable_workload() = AllMarginals(2);
  const absl::StatusOr<Answer> answer = client.QueryModel(query);
  for (const Marginal& marginal : answer->marginals) {
    for (const double estimate : marginal.estimates) transcript += std::to_string(estimate) + " ";
  }
  EXPECT_EQ(server.Stop(SIGTERM), 0) << server.log();
  return {done->release_id(), transcript};
}

// What charges, what writes and what only reads: a client asks the next server.
void ExpectRefusedWhileDraining(const Client& client) {
  v1::AnswerWorkloadRequest workload;
  workload.set_dataset("census");
  *workload.mutable_workload() = AllMarginals(1);
  workload.mutable_spend()->set_epsilon("0.01");
  v1::ReserveBudgetRequest reservation;
  reservation.set_dataset("census");
  reservation.mutable_event()->mutable_pure()->set_epsilon("0.01");
  for (const absl::Status& refused :
       {client.AnswerWorkload(workload).status(), client.ReserveBudget(reservation).status(),
        client.CreateDataset(NewDataset("other", v1::RULE_PURE, "1")).status(), client.RowCounts({}).status(),
        client.GetBudget("census").status()}) {
    EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
    EXPECT_NE(refused.message().find("shutting down"), std::string::npos) << refused;
  }
}

class Crash : public ::testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Ledgers, Crash, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Crash, WhatAServerMakesIsItsOwnersAloneAndAnOpenFolderIsClosed) {
  const ScratchFolder directory;
  const AppOptions options = FreshOptions(GetParam(), directory.path());
  fs::create_directories(options.data_directory);
  fs::permissions(options.data_directory, fs::perms::group_all | fs::perms::others_all,
                  fs::perm_options::add);
  ServerProcess server(Arguments(options));
  const std::optional<std::string> address = server.Address();
  ASSERT_TRUE(address.has_value()) << server.log();
  MakeSealed(Client({.server = *address, .principal = "owner"}), LargeDataset(), LargeCsv());
  std::vector<fs::path> made = {options.data_directory};
  for (const auto& entry : fs::recursive_directory_iterator(options.data_directory))
    made.push_back(entry.path());
  if (GetParam() == Backend::kSqlite) {
    for (const char* const suffix : {"", "-wal", "-shm"}) {
      made.emplace_back(options.ledger.substr(std::string("sqlite:").size()) + suffix);
    }
  }
  EXPECT_GT(made.size(), 5U);
  for (const fs::path& path : made) {
    const fs::perms others = fs::perms::group_all | fs::perms::others_all;
    EXPECT_EQ(fs::status(path).permissions() & others, fs::perms::none) << path;
  }
}

TEST_P(Crash, AKilledSynthesisIsFinishedByItsRequestIdWithTheVerySameDraw) {
  const ScratchFolder directory;
  const AppOptions options = FreshOptions(GetParam(), directory.path());
  const v1::CreateSynthesisRequest request = LongSynthesis();
  {
    ServerProcess server(Arguments(options));
    const std::optional<std::string> address = server.Address();
    ASSERT_TRUE(address.has_value()) << server.log();
    const Client client({.server = *address, .principal = "owner"});
    MakeSealed(client, LargeDataset(), LargeCsv());
    const absl::StatusOr<v1::Operation> started = client.CreateSynthesis(request);
    ASSERT_TRUE(started.ok()) << started.status();
    ASSERT_EQ(AwaitBegun(client, started->id()), v1::Operation::RUNNING);
    ASSERT_EQ(server.Stop(SIGKILL), -SIGKILL);
  }
  // Two machines that inherit the same crashed state make the same draw: nothing can be won by crashing.
  const ScratchFolder other_directory;
  const AppOptions other = CopyOf(options, GetParam(), other_directory.path());
  const Finished first = FinishAfterCrash(options, request);
  const Finished second = FinishAfterCrash(other, request);
  EXPECT_FALSE(first.transcript.empty());
  EXPECT_EQ(first.transcript, second.transcript);
}

// An attack with a backup (reviews call it one key and two draws): the ledger is copied while a draw has its
// key and no answer; the answer is given; the copy is restored, and the request is sent again, as it was and
// with another draw. The copy has the key, and the lost history the answer under it.
class RestoredDraw : public Crash {
 protected:
  // The ledger as it was before the answer, under the anchors as they are after it.
  struct Restored {
    AppOptions options;
    Finished answered;
  };

  Restored AnswerAndRestore() {
    AppOptions copied;
    {
      ServerProcess server(Arguments(options_));
      const Client client = OwnerOf(server);
      MakeSealed(client, LargeDataset(), LargeCsv());
      Grant(client, "census", "vera", {v1::GRANTED_APPROVER});
      const absl::StatusOr<v1::Operation> started = client.CreateSynthesis(request_);
      EXPECT_TRUE(started.ok()) << started.status();
      EXPECT_EQ(AwaitBegun(client, started->id()), v1::Operation::RUNNING);
      EXPECT_EQ(server.Stop(SIGKILL), -SIGKILL);
    }
    copied = CopyOf(options_, GetParam(), copy_.path());
    Finished answered = FinishAfterCrash(options_, request_);
    copied.data_directory = options_.data_directory;
    return {copied, std::move(answered)};
  }

  static Client OwnerOf(ServerProcess& server) {
    const std::optional<std::string> address = server.Address();
    EXPECT_TRUE(address.has_value()) << server.log();
    return Client({.server = address.value_or(""), .principal = "owner"});
  }

  v1::CreateSynthesisRequest WithAnotherDraw() const {
    v1::CreateSynthesisRequest other = request_;
    (*other.mutable_spec()->mutable_settings())["rounds"] = "14";
    return other;
  }

  // Proposed by the owner, and approved by the approver.
  static v1::RepairReport Repair(ServerProcess& server, const Client& owner) {
    v1::ProposeRepairRequest propose;
    propose.set_dataset("census");
    propose.set_reason("the disk failed");
    const absl::StatusOr<v1::ProposeRepairResponse> proposed = owner.ProposeRepair(propose);
    EXPECT_TRUE(proposed.ok()) << proposed.status();
    v1::ApproveRepairRequest approve;
    approve.set_dataset("census");
    *approve.mutable_proposal() = proposed.value_or(v1::ProposeRepairResponse()).proposal();
    const Client approver({.server = server.Address().value_or(""), .principal = "vera"});
    const absl::StatusOr<v1::RepairReport> repaired = approver.ApproveRepair(approve);
    EXPECT_TRUE(repaired.ok()) << repaired.status();
    return repaired.value_or(v1::RepairReport());
  }

  const ScratchFolder directory_;
  const ScratchFolder copy_;
  const AppOptions options_ = FreshOptions(GetParam(), directory_.path());
  const v1::CreateSynthesisRequest request_ = LongSynthesis();
};

INSTANTIATE_TEST_SUITE_P(Ledgers, RestoredDraw, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(RestoredDraw, IsMadeByNoRequestBeforeOrAfterTheRepair) {
  const Restored restored = AnswerAndRestore();
  ServerProcess server(Arguments(restored.options));
  const Client client = OwnerOf(server);
  EXPECT_EQ(client.ListReleases("census")->releases_size(), 0) << "the answer is in the lost history";
  for (const v1::CreateSynthesisRequest& asked : {request_, WithAnotherDraw()}) {
    const absl::Status refused = client.CreateSynthesis(asked).status();
    EXPECT_TRUE(absl::IsDataLoss(refused)) << refused;
    EXPECT_NE(refused.message().find("curator ledger repair propose census"), std::string::npos) << refused;
  }
  const std::string price = PriceOf(client);

  const v1::RepairReport repaired = Repair(server, client);
  EXPECT_EQ(repaired.charges_forfeited(), 1);
  EXPECT_EQ(repaired.still_read_only(), "");
  EXPECT_EQ(client.GetBudget("census")->accounts(0).counters(0).spent(), price);
  const v1::Operation ended = client.ListOperations()->operations(0);
  EXPECT_EQ(ended.state(), v1::Operation::FAILED) << ended.DebugString();

  const absl::Status same = client.CreateSynthesis(request_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(same)) << same;
  const absl::Status other = client.CreateSynthesis(WithAnotherDraw()).status();
  EXPECT_TRUE(absl::IsAlreadyExists(other)) << other;
  EXPECT_EQ(client.ListReleases("census")->releases_size(), 0);
  EXPECT_EQ(client.GetBudget("census")->accounts(0).counters(0).spent(), price);

  v1::CreateSynthesisRequest fresh = request_;
  fresh.set_request_id(*client::NewRequestId());
  const absl::StatusOr<v1::Operation> paid = client.CreateSynthesis(fresh);
  ASSERT_TRUE(paid.ok()) << paid.status();
  EXPECT_EQ(client.WaitOperation(paid->id(), std::chrono::minutes(5))->state(), v1::Operation::DONE);
  EXPECT_NE(client.GetBudget("census")->accounts(0).counters(0).spent(), price) << "another draw costs again";
  EXPECT_TRUE(client.VerifyLedger("census")->ok());
  EXPECT_EQ(server.Stop(SIGTERM), 0) << server.log();
}

// The loss cannot be seen where the anchor was restored, too: then the one draw of the key is repeated.
TEST_P(RestoredDraw, IsTheSameAgainWhereTheAnchorWasRestoredToo) {
  Restored restored = AnswerAndRestore();
  restored.options.data_directory = copy_.path() + "/data";
  {
    ServerProcess server(Arguments(restored.options));
    const Client client = OwnerOf(server);
    const absl::Status other = client.CreateSynthesis(WithAnotherDraw()).status();
    EXPECT_TRUE(absl::IsAlreadyExists(other)) << other;
    EXPECT_EQ(server.Stop(SIGTERM), 0) << server.log();
  }
  const Finished again = FinishAfterCrash(restored.options, request_);
  EXPECT_FALSE(again.transcript.empty());
  EXPECT_EQ(again.transcript, restored.answered.transcript);
}

TEST_P(Crash, AServerToldToStopAbandonsLongWorkWhichItsRequestIdTakesUpAgain) {
  const ScratchFolder directory;
  const AppOptions options = FreshOptions(GetParam(), directory.path());
  const v1::CreateSynthesisRequest request = LongSynthesis();
  {
    ServerProcess server(Arguments(options));
    const std::optional<std::string> address = server.Address();
    ASSERT_TRUE(address.has_value()) << server.log();
    const Client client({.server = *address, .principal = "owner"});
    MakeSealed(client, LargeDataset(), LargeCsv());
    const absl::StatusOr<v1::Operation> started = client.CreateSynthesis(request);
    ASSERT_TRUE(started.ok()) << started.status();
    ASSERT_EQ(AwaitBegun(client, started->id()), v1::Operation::RUNNING);
    EXPECT_EQ(server.Stop(SIGTERM), 0) << server.log();
  }
  FinishAfterCrash(options, request);
}

TEST_P(Crash, ASecondSignalEndsAServerThatRefusesNewWorkWhileTheOldRuns) {
  const ScratchFolder directory;
  const AppOptions options = FreshOptions(GetParam(), directory.path());
  std::vector<std::string> patient = Arguments(options);
  patient.back() = "--drain-seconds=3600";
  const v1::CreateSynthesisRequest request = LongSynthesis();
  {
    ServerProcess server(patient);
    const std::optional<std::string> address = server.Address();
    ASSERT_TRUE(address.has_value()) << server.log();
    const Client client(
        {.server = *address,
         .principal = "owner",
         .retry = {.first_delay = std::chrono::hours(1), .longest_delay = std::chrono::hours(1)}});
    MakeSealed(client, LargeDataset(), LargeCsv());
    const absl::StatusOr<v1::Operation> started = client.CreateSynthesis(request);
    ASSERT_TRUE(started.ok()) << started.status();
    ASSERT_EQ(AwaitBegun(client, started->id()), v1::Operation::RUNNING);
    server.Signal(SIGTERM);
    ASSERT_TRUE(server.AwaitLog("\"refusing_calls\""));
    ExpectRefusedWhileDraining(client);
    EXPECT_EQ(server.Stop(SIGTERM), 128 + SIGTERM) << server.log();
  }
  FinishAfterCrash(options, request);
}

TEST(ServerProcess, SaysWhichOptionItCannotMeetAndEndsWithOne) {
  const ScratchFolder directory;
  const std::string data = "--data-dir=" + directory.path() + "/data";
  const auto refused = [](const std::vector<std::string>& arguments) {
    ServerProcess server(arguments);
    EXPECT_EQ(server.WaitForEnd(), 1) << server.log();
    return server.log();
  };
  EXPECT_NE(
      refused({data, "--ledger=sqlite:/proc/nowhere/ledger.db", "--dev"}).find("/proc/nowhere/ledger.db"),
      std::string::npos);
  EXPECT_NE(refused({data, "--ledger=postgresql://127.0.0.1:1/curator", "--dev"}).find("UNAVAILABLE"),
            std::string::npos);
  const std::string ledger = "--ledger=sqlite:" + directory.path() + "/ledger.db";
  EXPECT_NE(refused({data, ledger}).find("--dev"), std::string::npos);
  EXPECT_NE(refused({data, ledger, "--dev", "--listen=0.0.0.0:0"}).find("loopback"), std::string::npos);
}

}  // namespace
}  // namespace curator::testing
