// What many open calls of one client do to the others: nothing. Overload is answered at once and in words,
// never with the status of a full budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "client/error.h"
#include "client/request_id.h"
#include "curator/v1/operation.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/testing/open_calls.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;

class OverloadOfOne : public ::testing::Test {
 protected:
  OverloadOfOne() : server_(Backend::kSqlite), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("small", v1::RULE_PURE, "3"), SmallCsv(800));
    Grant(owner_, "small", "bea");
  }

  // The first refusal is final: what a client's retries would hide.
  absl::Status BeaAsks() const {
    const Client bea(
        {.server = server_.address(),
         .principal = "bea",
         .retry = {.first_delay = std::chrono::hours(1), .longest_delay = std::chrono::hours(1)}});
    v1::AnswerWorkloadRequest request;
    request.set_dataset("small");
    *request.mutable_workload() = AllMarginals(1);
    request.mutable_spend()->set_epsilon("0.01");
    return bea.AnswerWorkload(request).status();
  }

  grpc::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel) const {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckResponse response;
    const grpc::Status status = grpc::health::v1::Health::Stub(channel).Check(&context, {}, &response);
    EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
    return status;
  }

  static void ExpectThatNoneNamesAFullBudget(const OpenCalls& calls) {
    if (!calls.Ended().contains(absl::StatusCode::kResourceExhausted)) return;
    const absl::Status refused = calls.AwaitEnd(absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(client::Reason(refused), "QUOTA");
    EXPECT_TRUE(client::FullAccounts(refused).empty());
  }

  void ExpectThatOthersAreServed(OpenCalls& calls) const {
    // The same connection is read in order: when this is answered, all calls before it have arrived.
    const grpc::Status health = CheckHealth(calls.channel());
    EXPECT_TRUE(health.ok()) << health.error_message();
    for (int i = 0; i < 3; ++i) {
      const absl::Status answered = BeaAsks();
      EXPECT_TRUE(answered.ok()) << answered;
    }
    ExpectThatNoneNamesAFullBudget(calls);
    calls.CancelAll();
    ExpectThatNoneNamesAFullBudget(calls);
    const absl::Status after = BeaAsks();
    EXPECT_TRUE(after.ok()) << after << "\nalso while the server notices that the calls have ended";
  }

  // The id of an operation of the owner's that runs for seconds.
  std::string StartLongOperation() const {
    MakeSealed(owner_, LargeDataset(), LargeCsv());
    const absl::StatusOr<v1::Operation> operation = owner_.CreateSynthesis(LongSynthesis());
    EXPECT_TRUE(operation.ok()) << operation.status();
    return operation.ok() ? operation->id() : "";
  }

  TestServer server_;
  Client owner_;
};

class Overload : public OverloadOfOne, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Calls, Overload, ::testing::Values(300, 1000),
                         [](const auto& count) { return "Of" + std::to_string(count.param); });

TEST_P(Overload, OthersAreServedBesideHealthWatchesWithoutAPrincipal) {
  OpenCalls calls(server_.address(), "");
  calls.OpenWithMessage(GetParam(), "/grpc.health.v1.Health/Watch", "");
  ExpectThatOthersAreServed(calls);
}

TEST_P(Overload, OthersAreServedBesideUnfinishedChecksOfASchema) {
  OpenCalls calls(server_.address(), "mallory");
  calls.OpenWithoutMessage(GetParam(), "/curator.v1.DatasetService/CheckSchema");
  ExpectThatOthersAreServed(calls);
}

TEST_P(Overload, OthersAreServedBesideUnfinishedImports) {
  OpenCalls calls(server_.address(), "mallory");
  calls.OpenWithoutMessage(GetParam(), "/curator.v1.DatasetService/ImportRecords");
  ExpectThatOthersAreServed(calls);
}

TEST_P(Overload, OthersAreServedBesideStreamsWithoutAPrincipal) {
  OpenCalls calls(server_.address(), "");
  calls.OpenWithoutMessage(GetParam(), "/curator.v1.DatasetService/CheckSchema");
  ExpectThatOthersAreServed(calls);
}

TEST_P(Overload, OthersAreServedBesideWaitsForAnOperation) {
  v1::WaitOperationRequest wait;
  wait.set_operation_id(StartLongOperation());
  wait.mutable_timeout()->set_seconds(600);
  OpenCalls calls(server_.address(), "owner");
  calls.OpenWithMessage(GetParam(), "/curator.v1.OperationService/WaitOperation", wait.SerializeAsString());
  ExpectThatOthersAreServed(calls);
}

TEST_P(Overload, OthersAreServedBesideWatchesOfAnOperation) {
  v1::WatchOperationRequest watch;
  watch.set_operation_id(StartLongOperation());
  OpenCalls calls(server_.address(), "owner");
  calls.OpenWithMessage(GetParam(), "/curator.v1.OperationService/WatchOperation", watch.SerializeAsString());
  ExpectThatOthersAreServed(calls);
}

TEST_P(Overload, OthersAreServedBesideRepetitionsOfOneRequest) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset("small");
  request.set_request_id("3f2504e0-4f89-41d3-9a0c-0305e82c3301");
  *request.mutable_workload() = AllMarginals(3);
  request.mutable_spend()->set_epsilon("0.01");
  OpenCalls calls(server_.address(), "owner");
  calls.OpenWithMessage(GetParam(), "/curator.v1.QueryService/AnswerWorkload", request.SerializeAsString());
  ExpectThatOthersAreServed(calls);
}

class Watches : public OverloadOfOne, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Calls, Watches, ::testing::Values(300),
                         [](const auto& count) { return "Of" + std::to_string(count.param); });

TEST_P(Watches, AllSeeTheOperationAndItsEnd) {
  v1::WatchOperationRequest watch;
  watch.set_operation_id(StartLongOperation());
  OpenCalls calls(server_.address(), "owner");
  calls.OpenWithMessage(GetParam(), "/curator.v1.OperationService/WatchOperation", watch.SerializeAsString());
  EXPECT_EQ(calls.AwaitAnswered(), GetParam());
  ASSERT_TRUE(owner_.CancelOperation(watch.operation_id()).ok());
  calls.AwaitEnds();
  EXPECT_EQ(calls.Ended()[absl::StatusCode::kOk], GetParam());
}

TEST_P(Watches, OfHealthAllSeeTheState) {
  OpenCalls calls(server_.address(), "");
  calls.OpenWithMessage(GetParam(), "/grpc.health.v1.Health/Watch", "");
  EXPECT_EQ(calls.AwaitAnswered(), GetParam());
}

TEST_F(OverloadOfOne, HindersNoCharge) {
  v1::WatchOperationRequest watch;
  watch.set_operation_id(StartLongOperation());
  OpenCalls watches(server_.address(), "owner");
  watches.OpenWithMessage(300, "/curator.v1.OperationService/WatchOperation", watch.SerializeAsString());
  EXPECT_EQ(watches.AwaitAnswered(), 300);
  v1::AnswerWorkloadRequest stored;
  stored.set_dataset("small");
  stored.set_request_id(*client::NewRequestId());
  *stored.mutable_workload() = AllMarginals(1);
  stored.mutable_spend()->set_epsilon("0.01");
  const std::jthread looping([&](const std::stop_token& ended) {
    while (!ended.stop_requested()) EXPECT_TRUE(owner_.AnswerWorkload(stored).ok());
  });
  for (int i = 0; i < 50; ++i) {
    const absl::Status answered = BeaAsks();
    EXPECT_TRUE(answered.ok()) << answered;
  }
}

TEST_F(OverloadOfOne, IsRefusedAtOnceInWordsAndEndsWithTheCallsThatCausedIt) {
  OpenCalls calls(server_.address(), "mallory");
  calls.OpenWithoutMessage(300, "/curator.v1.DatasetService/CheckSchema");
  const absl::Status refused = calls.AwaitEnd(absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(client::Reason(refused), "QUOTA");
  EXPECT_TRUE(client::RetryDelay(refused).has_value());
  EXPECT_THAT(std::string(refused.message()), HasSubstr("streams from clients of one principal"));
  calls.CancelAll();
  const Client mallory = server_.ClientFor("mallory");  // asks again as long as it is refused
  const absl::StatusOr<v1::CheckSchemaResponse> checked = mallory.CheckSchema(SmallSchema());
  EXPECT_TRUE(checked.ok()) << checked.status();
}

}  // namespace
}  // namespace curator::testing
