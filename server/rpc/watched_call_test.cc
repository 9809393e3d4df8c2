// What is known of a watch of histories when it ends: its records in the audit, and its trace.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "audit/audit_store.h"
#include "base/errors.h"
#include "base/trace.h"
#include "curator/v1/budget.grpc.pb.h"
#include "rpc/authenticator.h"
#include "rpc/budget_rpc.h"
#include "rpc/call_observer.h"
#include "rpc/handle.h"
#include "rpc/testing/faulty_authenticator.h"
#include "service/accounts/history_watch.h"
#include "service/testing/fixture.h"

namespace curator::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr char kTrace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// Datasets "census" and "schools" of "owner". Looks are made by the test.
class WatchedCallTest : public service::ServiceTest {
 protected:
  WatchedCallTest() {
    for (const char* const name : {"census", "schools"}) Make(People(name));
    calls_.trace_of = [this](const grpc::ServerContextBase& context) { return observer_.TraceIdOf(context); };
    grpc::ServerBuilder builder;
    builder.RegisterService(&budgets_);
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
    interceptors.push_back(observer_.MakeInterceptorFactory(audit::PeerClass::kEdge));
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    server_ = builder.BuildAndStart();
    channel_ = server_->InProcessChannel({});
  }
  ~WatchedCallTest() override { server_->Shutdown(); }

  struct Watching {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::LedgerEntry>> reader;
  };
  std::unique_ptr<Watching> Watch(const std::string& principal, const std::vector<std::string>& datasets) {
    auto watching = std::make_unique<Watching>();
    if (!principal.empty()) watching->context.AddMetadata(kPrincipalKey, principal);
    watching->context.AddMetadata(kTraceParentKey, kTrace);
    v1::WatchLedgerRequest request;
    for (const std::string& dataset : datasets) request.add_positions()->set_dataset(dataset);
    watching->reader = v1::BudgetService::Stub(channel_).WatchLedger(&watching->context, request);
    return watching;
  }
  // "census ALLOWED OK" of each record of the one call that ended.
  std::vector<std::string> RecordsOf(Watching& watching) {
    for (v1::LedgerEntry entry; watching.reader->Read(&entry);) continue;
    watching.reader->Finish();
    EXPECT_TRUE(observer_.AwaitNoCalls(absl::Now() + absl::Seconds(10)));
    const absl::MutexLock lock(&mutex_);
    EXPECT_EQ(ended_.size(), 1u);
    std::vector<std::string> records;
    for (const audit::AuditRecord& record : ended_.front().Records()) {
      records.push_back(absl::StrCat(record.dataset, " ", std::string(WordOf(record.decision)), " ",
                                     absl::StatusCodeToString(record.status)));
    }
    return records;
  }
  // Returns when a look has found something that may be watched.
  void Look() {
    while (!has_allowed_) {
      histories_.followers().Look();
      std::this_thread::yield();
    }
  }

  Admission admission_;
  CallThreads threads_{2};
  PendingSends sends_{admission_, absl::Seconds(10)};
  FaultyAuthenticator authenticator_;
  LiveCalls live_;
  std::atomic<bool> has_allowed_ = false;
  absl::Mutex mutex_;
  std::vector<CallEnd> ended_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> hidden_traces_ ABSL_GUARDED_BY(mutex_);  // of hidden errors
  CallObserver observer_{[this](const CallEnd& end) {
    const absl::MutexLock lock(&mutex_);
    ended_.push_back(end);
  }};
  Calls calls_{services_,
               admission_,
               threads_,
               sends_,
               authenticator_,
               live_,
               [this](const absl::Status&) {
                 const absl::MutexLock lock(&mutex_);
                 hidden_traces_.push_back(CurrentTraceId());
               },
               [this](const grpc::ServerContextBase& context, const CallNotes& notes) {
                 observer_.Note(context, notes);
                 if (!notes.allowed_datasets.empty()) has_allowed_ = true;
               }};
  service::HistoryWatches histories_{*ledger_, std::chrono::hours(1)};
  const std::unique_ptr<audit::AuditStore> audit_ =
      audit::AuditStore::Open("sqlite:" + folder_.path() + "/ledger.db", folder_.path() + "/audit.db",
                              ledger_.get())
          .value();
  BudgetRpc budgets_{calls_, histories_, *audit_};
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(WatchedCallTest, OneThatNobodyKnownMakesLeavesOneRecord) {
  const auto watching = Watch("", {"census", "schools", "junk"});
  EXPECT_THAT(RecordsOf(*watching), ElementsAre(" REFUSED UNAUTHENTICATED"));
}

TEST_F(WatchedCallTest, OneThatItsCallerLeavesBeforeTheFirstLookIsUndecided) {
  const auto watching = Watch("mallory", {"census", "schools"});
  watching->reader->WaitForInitialMetadata();
  watching->context.TryCancel();
  EXPECT_THAT(RecordsOf(*watching), ElementsAre("  CANCELLED"));
}

TEST_F(WatchedCallTest, OneThatItsCallerLeavesWasAllowedForEachDataset) {
  const auto watching = Watch("owner", {"census", "schools"});
  watching->reader->WaitForInitialMetadata();
  Look();
  watching->context.TryCancel();
  EXPECT_THAT(RecordsOf(*watching),
              UnorderedElementsAre("census ALLOWED CANCELLED", "schools ALLOWED CANCELLED"));
}

TEST_F(WatchedCallTest, AnErrorIsThatOfTheDatasetWhichItNames) {
  const std::string census = ledger_->GetDataset("census")->id;
  const ledger::Grant grant{.grantee = "uma", .roles = ledger::kGrantedAnalyst};
  ASSERT_TRUE(ledger_->SetGrant(census, grant, TestPrincipal("owner")).ok());
  const auto watching = Watch("uma", {"census", "schools", "junk"});
  watching->reader->WaitForInitialMetadata();
  Look();
  EXPECT_THAT(RecordsOf(*watching), ElementsAre("schools REFUSED NOT_FOUND", "census ALLOWED OK"))
      << "and the last one was not read";
}

TEST_F(WatchedCallTest, AnErrorThatNamesNoDatasetIsThatOfTheCall) {
  const auto watching = Watch("owner", {"census", "schools"});
  watching->reader->WaitForInitialMetadata();
  Look();
  histories_.followers().Close();
  EXPECT_THAT(RecordsOf(*watching),
              UnorderedElementsAre(" REFUSED UNAVAILABLE", "census ALLOWED OK", "schools ALLOWED OK"));
}

// A look holds the followers that it calls, until it ends: also when the server has stopped, and what admits
// calls is gone.
TEST_F(WatchedCallTest, OneThatItsCallerLeftHasNoPlaceEvenWhileALookGoesOn) {
  const auto places = [&] {
    return admission_.UsedBy("owner").places.at(static_cast<size_t>(CallKind::kWatch));
  };
  const auto watching = Watch("owner", {"census"});
  watching->reader->WaitForInitialMetadata();
  EXPECT_EQ(places(), 1);
  int left = -1;
  const auto leave = [&] {  // called after the watch, in the same look
    watching->context.TryCancel();
    RecordsOf(*watching);
    const absl::Time deadline = absl::Now() + absl::Seconds(10);
    while (places() > 0 && absl::Now() < deadline) std::this_thread::yield();
    left = places();
    return false;
  };
  histories_.followers().Follow(leave, [] {});
  histories_.followers().Look();
  EXPECT_EQ(left, 0);
}

TEST_F(WatchedCallTest, AHiddenErrorHasTheTraceOfItsCall) {
  authenticator_.fault = [] {
    return ForOperators(absl::UnavailableError("host 10.0.0.7"), {.message = "is away"});
  };
  const auto watching = Watch("owner", {"census"});
  EXPECT_THAT(RecordsOf(*watching), ElementsAre("census REFUSED UNAVAILABLE"));
  const absl::MutexLock lock(&mutex_);
  EXPECT_THAT(hidden_traces_, ElementsAre("4bf92f3577b34da6a3ce929d0e0e4736"));
}

}  // namespace
}  // namespace curator::rpc
