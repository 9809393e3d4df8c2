#include "rpc/server_rpc.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/testing/names.h"
#include "ledger/inspect_ledger.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/sql_ledger.h"
#include "service/testing/wrapped_ledger.h"
#include "tests/testing/scratch_folder.h"

namespace curator::rpc {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ledger::sql::SqlLedger;

ledger::DatasetSpec Clinic() {
  return {.request_id = "create",
          .name = "clinic",
          .owner = TestPrincipal("olga"),
          .schema = "schema",
          .schema_hash = Sha256("schema"),
          .neighbour_relation = "ADD_REMOVE",
          .privacy_unit = "RECORD",
          .accounts = {{.scope_type = ledger::ScopeType::kDataset,
                        .rule = "rule",
                        .rule_name = "ZCDP",
                        .limits = {{"rho", 10}}}}};
}

std::string NextBytes(size_t size) {
  static std::atomic<int> calls = 0;
  std::string bytes = Sha256(absl::StrCat(++calls));
  bytes.resize(size);
  return bytes;
}

// A history that counts as long, and has checkpoints of a first run.
class HealthOfALongHistory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ledger::MigrateLedger(url_).ok());
    ASSERT_TRUE(Open({})->CreateDataset(Clinic()).ok());
    std::promise<void> verified;
    const auto first_run = Open([&](std::string_view event, std::string_view) {
      if (event == "histories_verified") verified.set_value();
    });
    verified.get_future().wait();
  }

  std::unique_ptr<SqlLedger> Open(ledger::Report report) const {
    return SqlLedger::Open(ledger::OpenLedgerDatabase(url_).value(), anchor_dir_, NextBytes,
                           {.report = std::move(report), .long_history = 1})
        .value();
  }

  const testing::ScratchFolder folder_;
  const std::string url_ = absl::StrCat("sqlite:", folder_.path(), "/ledger.db");
  const std::string anchor_dir_ = absl::StrCat(folder_.path(), "/ledger.db.anchor");
};

TEST_F(HealthOfALongHistory, HistoriesAreNotServingUntilThePassAfterTheStartHasEnded) {
  std::promise<void> may_end;
  const auto ledger = Open([&](std::string_view event, std::string_view) {
    if (event == "histories_verified") may_end.get_future().wait();
  });
  Admission admission;
  HealthRpc health(*ledger, admission);
  grpc::ServerBuilder builder;
  builder.RegisterService(&health);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub = Health::NewStub(server->InProcessChannel({}));

  grpc::ClientContext context;
  HealthCheckRequest request;
  HealthCheckResponse response;
  EXPECT_TRUE(stub->Check(&context, request, &response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << "what is charged was verified";

  grpc::ClientContext watch_context;
  request.set_service(HealthRpc::kHistories);
  const auto watch = stub->Watch(&watch_context, request);
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  may_end.set_value();
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  health.ShutDown();
  server->Shutdown();
}

// Each read of the ledger waits while the test holds it up.
class HeldUpReads final : public ledger::sql::Database {
 public:
  explicit HeldUpReads(std::unique_ptr<ledger::sql::Database> real) : real_(std::move(real)) {}
  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override { return real_->Write(body); }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override {
    const std::scoped_lock lock(gate);
    return real_->Read(body);
  }

  static inline std::mutex gate;

 private:
  const std::unique_ptr<ledger::sql::Database> real_;
};

TEST(HealthOfALedgerThatHangs, WatchersLearnThatItDoesNotAnswerAndThatItAnswersAgain) {
  const testing::ScratchFolder folder;
  const auto ledger = service::OpenLedgerThrough<HeldUpReads>(folder.path());
  Admission admission;
  HealthRpc health(*ledger, admission, absl::Seconds(1));
  grpc::ServerBuilder builder;
  builder.RegisterService(&health);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto stub = Health::NewStub(server->InProcessChannel({}));

  grpc::ClientContext context;
  HealthCheckResponse response;
  const auto watch = stub->Watch(&context, {});
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  {
    const std::scoped_lock held(HeldUpReads::gate);
    ASSERT_TRUE(watch->Read(&response));
    EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  }
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  health.ShutDown();
  server->Shutdown();
}

}  // namespace
}  // namespace curator::rpc
