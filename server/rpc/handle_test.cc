#include "rpc/handle.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/trace.h"
#include "curator/v1/budget.grpc.pb.h"
#include "curator/v1/dataset.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "rpc/authenticator.h"
#include "rpc/call_observer.h"
#include "rpc/dataset_rpc.h"
#include "rpc/testing/faulty_authenticator.h"
#include "service/testing/fixture.h"

namespace curator::rpc {
namespace {

template <typename Detail>
std::optional<Detail> DetailOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  for (const auto& any : details.details()) {
    Detail detail;
    if (any.UnpackTo(&detail)) return detail;
  }
  return std::nullopt;
}

TEST(GrpcStatus, AFullBudgetTravelsAsQuotaFailureWithExactDecimals) {
  const grpc::Status status =
      ToGrpcStatus(BudgetFull({{"dataset/census", "ZCDP", "rho", 250'000'000'000, 1}}));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const auto quota = DetailOf<google::rpc::QuotaFailure>(status);
  ASSERT_TRUE(quota.has_value());
  ASSERT_EQ(quota->violations_size(), 1);
  EXPECT_EQ(quota->violations(0).subject(), "dataset/census");
  EXPECT_EQ(quota->violations(0).quota_metric(), "rho");
  EXPECT_EQ(quota->violations(0).quota_dimensions().at("rule"), "ZCDP");
  EXPECT_EQ(quota->violations(0).quota_dimensions().at("asked"), "0.25");
  EXPECT_EQ(quota->violations(0).quota_dimensions().at("remaining"), "1e-12");
  EXPECT_EQ(status.error_message(),
            "the budget is full: account dataset/census (ZCDP) was asked for rho 0.25 and has 1e-12 left. "
            "Nothing was charged.");
}

TEST(GrpcStatus, ABadFieldTravelsAsBadRequest) {
  const grpc::Status status = ToGrpcStatus(InvalidField("spend.epsilon", "must be positive"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf<google::rpc::BadRequest>(status)->field_violations(0).field(), "spend.epsilon");
  EXPECT_FALSE(DetailOf<google::rpc::QuotaFailure>(status).has_value());
}

TEST(GrpcStatus, OnlyWhatMayBeTriedAgainCarriesRetryInfo) {
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(ToGrpcStatus(absl::UnavailableError("x"))).has_value());
  EXPECT_TRUE(DetailOf<google::rpc::RetryInfo>(ToGrpcStatus(absl::AbortedError("x"))).has_value());
  EXPECT_FALSE(DetailOf<google::rpc::RetryInfo>(ToGrpcStatus(absl::InternalError("x"))).has_value());
}

TEST(GrpcStatus, AContradictoryHistoryIsNoFaultOfTheRequestAndSaysWhy) {
  const grpc::Status status = ToGrpcStatus(DatasetReadOnly("dataset \"census\" is read-only"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "LEDGER_CONTRADICTS_ITSELF");
}

TEST(GrpcStatus, AQuotaDiffersFromAFullBudgetByItsReasonAndSaysWhenItEnds) {
  const grpc::Status quota = ToGrpcStatus(OverQuota("20 calls a second", std::chrono::milliseconds(61'500)));
  EXPECT_EQ(quota.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(quota)->reason(), "QUOTA");
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(quota)->retry_delay().seconds(), 61);
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(quota)->retry_delay().nanos(), 500'000'000);
  EXPECT_FALSE(DetailOf<google::rpc::QuotaFailure>(quota).has_value()) << "no account is full";
  const grpc::Status full = ToGrpcStatus(BudgetFull({{"dataset/census", "PURE", "epsilon", 2, 1}}));
  EXPECT_EQ(full.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(full)->reason(), "BUDGET_FULL");
  EXPECT_FALSE(DetailOf<google::rpc::RetryInfo>(full).has_value()) << "it stays full";
  EXPECT_TRUE(DetailOf<google::rpc::QuotaFailure>(full).has_value());
}

TEST(GrpcStatus, ARuleOfTheOwnerDiffersFromALackOfRightsByItsReason) {
  const grpc::Status status = ToGrpcStatus(RefusedByRule("the rule \"night\" refuses this"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "OWNER_RULE");
  EXPECT_FALSE(DetailOf<google::rpc::RetryInfo>(status).has_value());
  const grpc::Status rights = ToGrpcStatus(absl::PermissionDeniedError("only the owner may do this"));
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(rights)->reason(), "PERMISSION_DENIED");
}

TEST(GrpcStatus, AnOldLoginSaysHowOldItMayBe) {
  const grpc::Status status = ToGrpcStatus(LoginTooOld("log in again", std::chrono::seconds(600)));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "LOGIN_TOO_OLD");
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->metadata().at("max_age_seconds"), "600");
}

TEST(GrpcStatus, WhatHasToBeAcceptedIsNamedByTheReason) {
  const grpc::Status status = ToGrpcStatus(NeedsAcceptance("SAME_FILE", "import 1 has brought these bytes"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "SAME_FILE");
  const grpc::Status other = ToGrpcStatus(absl::FailedPreconditionError("it is sealed"));
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(other)->reason(), "FAILED_PRECONDITION");
}

TEST(GrpcStatus, AnErrorOfOneDatasetOfSeveralNamesIt) {
  const grpc::Status status = ToGrpcStatus(ConcerningDataset(absl::NotFoundError("none"), "census"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->metadata().at("dataset"), "census");
  EXPECT_TRUE(
      DetailOf<google::rpc::ErrorInfo>(ToGrpcStatus(absl::NotFoundError("none")))->metadata().empty());
}

TEST(FreshLogin, IsALoginOfTheLastSecondsThatTheIssuerStates) {
  using directory::CredentialKind;
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  const auto is_fresh = [&](CredentialKind kind, std::optional<absl::Time> logged_in) {
    const absl::Status checked = CheckLoginIsFresh({.identity = {.kind = kind}, .logged_in = logged_in},
                                                   std::chrono::seconds(600), now);
    EXPECT_EQ(MostLoginAgeOf(checked).has_value(), !checked.ok());
    return checked.ok();
  };
  EXPECT_TRUE(is_fresh(CredentialKind::kOidc, now));
  EXPECT_TRUE(is_fresh(CredentialKind::kOidc, now - absl::Seconds(660))) << "with the leeway of clocks";
  EXPECT_FALSE(is_fresh(CredentialKind::kOidc, now - absl::Seconds(661)));
  EXPECT_FALSE(is_fresh(CredentialKind::kOidc, std::nullopt));
  EXPECT_FALSE(is_fresh(CredentialKind::kApiToken, now)) << "which proves no login";
  EXPECT_FALSE(is_fresh(CredentialKind::kCertificate, now));
}

TEST(GrpcStatus, ADamagedRecordFileIsNotBlamedOnTheLedger) {
  const grpc::Status status = ToGrpcStatus(absl::DataLossError("the sealed table is damaged"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status)->reason(), "DATA_LOSS");
}

TEST(GrpcStatus, OkIsOk) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

// A server of two methods in this process, whose unary handler the test chooses.
class HandleTest : public service::ServiceTest {
 protected:
  HandleTest() {
    grpc::ServerBuilder builder;
    builder.RegisterService(&budgets_);
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
    interceptors.push_back(observer_.MakeInterceptorFactory(audit::PeerClass::kEdge));
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    builder.RegisterService(&datasets_);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    server_ = builder.BuildAndStart();
    channel_ = server_->InProcessChannel({});
    calls_.trace_of = [this](const grpc::ServerContextBase& context) { return observer_.TraceIdOf(context); };
  }
  ~HandleTest() override { server_->Shutdown(); }

  grpc::Status GetBudget(grpc::ClientContext& context, const v1::GetBudgetRequest& request,
                         v1::GetBudgetResponse& response) {
    return v1::BudgetService::Stub(channel_).GetBudget(&context, request, &response);
  }
  // The status of a call of the principals that its metadata names.
  grpc::Status CallOf(const std::vector<std::string>& principals) {
    grpc::ClientContext context;
    for (const std::string& principal : principals) context.AddMetadata(kPrincipalKey, principal);
    v1::GetBudgetResponse response;
    return v1::BudgetService::Stub(channel_).GetBudget(&context, {}, &response);
  }

  // The status of a call whose message is no message.
  grpc::Status MalformedCall(const char* method) {
    grpc::ClientContext context;
    context.AddMetadata(kPrincipalKey, "ana");
    const grpc::Slice bytes(std::string("\xff\xff\xff"));
    grpc::ByteBuffer request(&bytes, 1);
    grpc::ByteBuffer response;
    return grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel_.get(), grpc::internal::RpcMethod(method, grpc::internal::RpcMethod::NORMAL_RPC, channel_),
        &context, request, &response);
  }

  // The status of a stream whose client sends nothing and stays.
  grpc::Status SilentStream() {
    grpc::ClientContext context;
    context.AddMetadata(kPrincipalKey, "ana");
    v1::CheckSchemaResponse response;
    v1::DatasetService::Stub stub(channel_);
    return stub.CheckSchema(&context, &response)->Finish();
  }

  // What arrives of a stream: the numbers of its messages, and its status.
  struct Arrived {
    std::vector<int64_t> sequences;
    grpc::Status status;
  };
  // Of so many messages, each with so many bytes, whose handler ends with NOT_FOUND or with OK.
  Arrived StreamOf(int64_t messages, int64_t bytes_of_each, bool fails = false) {
    grpc::ClientContext context;
    context.AddMetadata(kPrincipalKey, "ana");
    v1::ListLedgerEntriesRequest request;
    request.set_after_sequence(messages);
    request.set_dataset((fails ? "-" : "") + std::to_string(bytes_of_each));
    v1::BudgetService::Stub stub(channel_);
    const auto reader = stub.ListLedgerEntries(&context, request);
    Arrived arrived;
    for (v1::LedgerEntry entry; reader->Read(&entry);) arrived.sequences.push_back(entry.sequence());
    arrived.status = reader->Finish();
    return arrived;
  }

  // A stream of 60,000 bytes that its client does not read, over a connection that takes only a few unread.
  struct UntakenStream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::LedgerEntry>> reader;
  };
  std::unique_ptr<UntakenStream> StartUntakenStream() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 100);
    const auto channel = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port_),
                                                   grpc::InsecureChannelCredentials(), arguments);
    auto stream = std::make_unique<UntakenStream>();
    stream->context.AddMetadata(kPrincipalKey, "ana");
    v1::ListLedgerEntriesRequest request;
    request.set_after_sequence(2);
    request.set_dataset("30000");
    stream->reader = v1::BudgetService::Stub(channel).ListLedgerEntries(&stream->context, request);
    return stream;
  }

  // Takes places of the principal until none is left for it.
  void FillShareOf(const std::string& principal, CallKind kind) {
    while (true) {
      absl::StatusOr<Admission::Place> place = admission_.Admit(kind, principal);
      if (!place.ok()) return;
      places_.push_back(*std::move(place));
    }
  }

  Admission admission_;
  bool can_start_threads_ = true;
  CallThreads threads_{2, [this](CallThreads::Loop loop) {
                         if (!can_start_threads_) throw std::system_error(EAGAIN, std::system_category());
                         return std::thread(std::move(loop));
                       }};
  PendingSends sends_{admission_, absl::Milliseconds(50)};
  FaultyAuthenticator authenticator_;
  LiveCalls live_;
  Calls calls_{services_,
               admission_,
               threads_,
               sends_,
               authenticator_,
               live_,
               [this](const absl::Status& status) { logged_.emplace_back(status.message()); },
               [this](const grpc::ServerContextBase& context, const CallNotes& notes) {
                 observer_.Note(context, notes);
               },
               absl::Milliseconds(50)};
  std::vector<std::string> logged_;
  std::function<absl::Status(const Call&)> handler_ = [this](const Call& call) {
    handled_.push_back(call.principal().name());
    return absl::NotFoundError("handled");
  };
  std::vector<std::string> handled_;
  std::vector<Admission::Place> places_;
  absl::Mutex observed_mutex_;
  std::vector<CallEnd> ended_;  // a test reads it when its calls have ended
  std::atomic<int> in_flight_ = 0;
  CallObserver observer_{[this](const CallEnd& end) {
                           const absl::MutexLock lock(&observed_mutex_);
                           ended_.push_back(end);
                           EXPECT_EQ(CurrentTraceId(), end.record.trace_id);
                         },
                         {},
                         {.on_begin = [this](std::string_view) { ++in_flight_; },
                          .on_gone = [this](std::string_view) { --in_flight_; },
                          .entropy = [](size_t bytes) { return std::string(bytes, 'Z'); }}};

 private:
  class Budgets final : public v1::BudgetService::CallbackService {
   public:
    explicit Budgets(HandleTest& test) : test_(test) {}
    grpc::ServerUnaryReactor* GetBudget(grpc::CallbackServerContext* context,
                                        const v1::GetBudgetRequest* request,
                                        v1::GetBudgetResponse* response) override {
      return Handle<Method::kGetBudget>(
          test_.calls_, *context, *request, *response,
          [this](service::Services&, const Call& call, const auto&, auto&) { return test_.handler_(call); });
    }

    grpc::ServerWriteReactor<v1::LedgerEntry>* ListLedgerEntries(
        grpc::CallbackServerContext* context, const v1::ListLedgerEntriesRequest* request) override {
      return Handle<Method::kListLedgerEntries>(test_.calls_, *context, *request, &Stream);
    }

   private:
    static absl::Status Stream(service::Services&, const Call&, const v1::ListLedgerEntriesRequest& request,
                               MessageWriter<v1::LedgerEntry>& writer) {
      const int64_t bytes = std::stoll(request.dataset());
      v1::LedgerEntry entry;
      entry.set_summary(std::string(static_cast<size_t>(std::abs(bytes)), 'x'));
      for (int64_t sequence = 1; sequence <= request.after_sequence(); ++sequence) {
        entry.set_sequence(sequence);
        if (!writer.Write(entry)) return ClientDisconnected();
      }
      return bytes < 0 ? absl::NotFoundError("handled") : absl::OkStatus();
    }

    HandleTest& test_;
  };

  Budgets budgets_{*this};
  DatasetRpc datasets_{calls_};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(HandleTest, WhoMadeACallAndWhatItNamedIsKnownWhenItEnds) {
  StreamOf(1, 10, true);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_TRUE(ended_[0].is_audited());
  const audit::AuditRecord& record = ended_[0].record;
  EXPECT_EQ(record.method, "BudgetService/ListLedgerEntries");
  EXPECT_EQ(record.principal, "ana");
  EXPECT_EQ(record.dataset, "-10");
  EXPECT_EQ(record.peer, audit::PeerClass::kEdge);
  EXPECT_EQ(record.decision, audit::Decision::kRefused);
  EXPECT_EQ(record.status, absl::StatusCode::kNotFound);
  EXPECT_EQ(record.reason, "NOT_FOUND");
  EXPECT_LE(record.time_us, absl::ToUnixMicros(absl::Now()));
}

TEST_F(HandleTest, ACallHasTheTraceThatItsClientSentWhereverItsHandlerIs) {
  constexpr char kSent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  constexpr char kMade[] = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
  std::string of_handler;
  handler_ = [&](const Call&) {
    of_handler = CurrentTraceId();
    return absl::OkStatus();
  };
  const auto trace_of = [&](const std::vector<std::string>& headers) {
    grpc::ClientContext context;
    context.AddMetadata(kPrincipalKey, "ana");
    for (const std::string& header : headers) context.AddMetadata(kTraceParentKey, header);
    v1::GetBudgetResponse response;
    EXPECT_TRUE(GetBudget(context, {}, response).ok());
    EXPECT_EQ(ended_.back().record.trace_id, of_handler);
    return of_handler;
  };
  EXPECT_EQ(trace_of({kSent}), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(trace_of({}), kMade);
  EXPECT_EQ(trace_of({"00-what"}), kMade) << "an invalid header";
  EXPECT_EQ(trace_of({kSent, kSent}), kMade) << "two of them";
}

TEST_F(HandleTest, WhatMayBeMeasuredOfACallIsKnownWhenItEnds) {
  handler_ = [](const Call&) { return absl::OkStatus(); };
  grpc::ClientContext context;
  context.AddMetadata(kPrincipalKey, "ana");
  v1::GetBudgetRequest request;
  request.set_dataset("census");
  v1::GetBudgetResponse response;
  ASSERT_TRUE(GetBudget(context, request, response).ok());
  ASSERT_EQ(ended_.size(), 1u);
  ASSERT_TRUE(ended_[0].took.has_value());
  EXPECT_GT(*ended_[0].took, absl::ZeroDuration());
  EXPECT_EQ(ended_[0].received_bytes, static_cast<int64_t>(request.ByteSizeLong()));
  EXPECT_EQ(ended_[0].sent_bytes, static_cast<int64_t>(response.ByteSizeLong()));
  StreamOf(3, 10, false);
  EXPECT_GT(ended_[1].sent_bytes, 30) << "three messages";
  SilentStream();
  ASSERT_EQ(ended_.size(), 3u);
  EXPECT_EQ(ended_[2].took, std::nullopt) << "a stream of records";
  EXPECT_EQ(ended_[2].received_bytes, std::nullopt);
  EXPECT_EQ(ended_[2].sent_bytes, std::nullopt);
  MalformedCall("/curator.v1.BudgetService/GetBudget");
  EXPECT_EQ(ended_[3].received_bytes, 0) << "no message";
  ASSERT_TRUE(observer_.AwaitNoCalls(absl::Now() + absl::Seconds(10)));
  EXPECT_EQ(in_flight_, 0);
}

TEST_F(HandleTest, OfAWatchOfHistoriesItsNameIsKnownWhereItHasOne) {
  std::vector<CallNotes> noted;
  Calls calls = calls_;
  calls.on_noted = [&](const grpc::ServerContextBase&, const CallNotes& notes) { noted.push_back(notes); };
  const grpc::CallbackServerContext context;
  v1::WatchLedgerRequest request;
  request.set_dataset("census");
  NoteNames(calls, context, request);
  request.clear_dataset();
  request.add_positions()->set_dataset("schools");
  NoteNames(calls, context, request);
  for (int i = 0; i < 100; ++i) request.add_positions()->set_dataset(absl::StrCat("junk", i));
  NoteNames(calls, context, request);
  ASSERT_EQ(noted.size(), 3u);
  EXPECT_EQ(noted[0].dataset, "census");
  EXPECT_EQ(noted[1].dataset, "schools");
  EXPECT_EQ(noted[2].dataset, "");
  for (const CallNotes& each : noted) {
    EXPECT_TRUE(each.is_watch_of_datasets);
    EXPECT_TRUE(each.allowed_datasets.empty());
  }
}

TEST_F(HandleTest, ACallThatIsRefusedBeforeItsCallerIsKnownIsNobodys) {
  CallOf({});
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_TRUE(ended_[0].is_audited());
  EXPECT_EQ(ended_[0].record.principal, "");
  EXPECT_EQ(ended_[0].record.decision, audit::Decision::kRefused);
  EXPECT_EQ(ended_[0].record.status, absl::StatusCode::kUnauthenticated);
}

TEST_F(HandleTest, ACallWithTheReasonOfAQuotaSaysSo) {
  handler_ = [](const Call&) { return OverQuota("20 calls a second", std::chrono::seconds(1)); };
  CallOf({"ana"});
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].record.reason, "QUOTA");
}

TEST_F(HandleTest, ACallerWhoLeftWasRefusedNothing) {
  handler_ = [](const Call&) { return ClientDisconnected(); };
  CallOf({"ana"});
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].record.decision, audit::Decision::kAllowed);
  EXPECT_EQ(ended_[0].record.status, absl::StatusCode::kCancelled);
}

TEST(CallEnd, WhatAnybodyMayAskIsNotAuditedUnlessItIsRefused) {
  CallEnd version{"/curator.v1.VersionService/GetVersion", {.decision = audit::Decision::kAllowed}};
  EXPECT_FALSE(version.is_audited());
  version.record.decision = audit::Decision::kRefused;
  EXPECT_TRUE(version.is_audited());
  const CallEnd health{"/grpc.health.v1.Health/Check", {.decision = audit::Decision::kRefused}};
  EXPECT_FALSE(health.is_audited());
}

TEST_F(HandleTest, RunsTheHandlerForThePrincipalThatTheCallNames) {
  EXPECT_EQ(CallOf({"ana"}).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(handled_, std::vector<std::string>{"ana"});
}

TEST_F(HandleTest, RunsNoHandlerWithoutExactlyOnePossiblePrincipal) {
  EXPECT_EQ(CallOf({}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(CallOf({"ana", "bea"}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(CallOf({"no spaces"}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(handled_.empty());
}

TEST_F(HandleTest, BeyondItsShareOfCallsAPrincipalIsOverItsQuota) {
  FillShareOf("ana", CallKind::kCall);
  const grpc::Status refused = CallOf({"ana"});
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(refused)->reason(), "QUOTA");
  EXPECT_GT(DetailOf<google::rpc::RetryInfo>(refused)->retry_delay().nanos(), 0);
  EXPECT_FALSE(DetailOf<google::rpc::QuotaFailure>(refused).has_value());
  EXPECT_TRUE(handled_.empty());
  EXPECT_EQ(CallOf({"bea"}).error_code(), grpc::StatusCode::NOT_FOUND) << "another principal is served";
}

TEST_F(HandleTest, ACallGivesItsPlaceBackBeforeItsClientHasTheAnswer) {
  for (int i = 0; i < 3 * kPlaces[0].of_one; ++i) {
    ASSERT_EQ(CallOf({"ana"}).error_code(), grpc::StatusCode::NOT_FOUND) << i;
  }
}

TEST_F(HandleTest, AHandlerThatRunsOutOfMemoryIsAnErrorNotAnAbort) {
  handler_ = [](const Call&) -> absl::Status { throw std::bad_alloc(); };
  EXPECT_EQ(CallOf({"ana"}).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(HandleTest, AnExceptionOfAHandlerIsAnErrorNotAnAbort) {
  handler_ = [](const Call&) -> absl::Status { throw std::logic_error("a defect"); };
  EXPECT_EQ(CallOf({"ana"}).error_code(), grpc::StatusCode::INTERNAL);
}

TEST_F(HandleTest, ACallForWhichNoThreadCanBeStartedIsOverloadAndNeverHandled) {
  can_start_threads_ = false;
  const grpc::Status refused = CallOf({"ana"});
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(refused)->reason(), "OVERLOADED");
  EXPECT_GT(DetailOf<google::rpc::RetryInfo>(refused)->retry_delay().nanos(), 0);
  can_start_threads_ = true;
  EXPECT_EQ(CallOf({"bea"}).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(handled_, std::vector<std::string>{"bea"});
}

TEST_F(HandleTest, ACallThatCannotBeAuthenticatedForLackOfMemoryIsOverloadAndNeverHandled) {
  authenticator_.fault = []() -> absl::Status { throw std::bad_alloc(); };
  const grpc::Status refused = CallOf({"ana"});
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(refused)->reason(), "OVERLOADED");
  EXPECT_TRUE(handled_.empty());
}

TEST_F(HandleTest, ATaskForWhichNoThreadCanBeStartedRunsOnOneThatIsThere) {
  absl::Notification may_end;
  absl::Notification has_run;
  threads_.Run([&] { may_end.WaitForNotification(); });
  can_start_threads_ = false;
  threads_.Run([&] { has_run.Notify(); });
  may_end.Notify();
  has_run.WaitForNotification();
}

TEST_F(HandleTest, AMessageForOperatorsIsLoggedAndNotSent) {
  handler_ = [](const Call&) {
    return ForOperators(absl::UnavailableError("no answer at host db.example, port 5432"),
                        {"the ledger's store does not answer", "STORE_FULL"});
  };
  const grpc::Status sent = CallOf({"ana"});
  EXPECT_EQ(sent.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(sent.error_message(), "the ledger's store does not answer");
  EXPECT_EQ(sent.error_details().find("db.example"), std::string::npos);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(sent)->reason(), "STORE_FULL");
  EXPECT_EQ(logged_, std::vector<std::string>{"no answer at host db.example, port 5432"});
}

TEST_F(HandleTest, AMessageThatCannotBeReadIsRefusedInWords) {
  const grpc::Status sent = MalformedCall("/curator.v1.BudgetService/GetBudget");
  EXPECT_EQ(sent.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(sent.error_message().find("nested more than"), std::string::npos) << sent.error_message();
  EXPECT_TRUE(handled_.empty());
  EXPECT_EQ(MalformedCall("/curator.v1.BudgetService/NoSuchMethod").error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(HandleTest, AStreamWhoseClientSendsNothingEndsInWordsAndFreesItsPlace) {
  const grpc::Status ended = SilentStream();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(ended.error_message(), "no message came for 50ms: send the stream again, without such pauses");
  FillShareOf("ana", CallKind::kStream);
  EXPECT_EQ(static_cast<int>(places_.size()), kPlaces[1].of_one);
}

TEST_F(HandleTest, AStreamArrivesWholeAndInOrderWhateverItsMessagesAre) {
  for (const auto& [messages, bytes] :
       {std::pair{0, 1}, std::pair{1, 1}, std::pair{2, 10}, std::pair{7, 9'000}, std::pair{8, 9'000},
        std::pair{50, 9'000}, std::pair{3, 1'000'000}}) {
    const Arrived arrived = StreamOf(messages, bytes);
    EXPECT_TRUE(arrived.status.ok()) << arrived.status.error_message();
    std::vector<int64_t> all(static_cast<size_t>(messages));
    std::iota(all.begin(), all.end(), 1);
    EXPECT_EQ(arrived.sequences, all) << messages << " messages of " << bytes << " bytes";
  }
}

TEST_F(HandleTest, AStreamWhoseHandlerFailsEndsWithItsError) {
  for (const auto& [messages, bytes] : {std::pair{0, 1}, std::pair{2, 10}, std::pair{50, 9'000}}) {
    EXPECT_EQ(StreamOf(messages, bytes, /*fails=*/true).status.error_code(), grpc::StatusCode::NOT_FOUND);
  }
}

TEST_F(HandleTest, ASmallStreamThatIsNotTakenHoldsNoThread) {
  calls_.stream_patience = absl::Minutes(30);
  std::vector<std::unique_ptr<UntakenStream>> untaken;
  for (int i = 0; i < 4; ++i) untaken.push_back(StartUntakenStream());
  EXPECT_EQ(CallOf({"ana"}).error_code(), grpc::StatusCode::NOT_FOUND) << "there are two threads";
  for (const auto& each : untaken) each->context.TryCancel();
}

TEST_F(HandleTest, ASmallStreamThatIsNotTakenInTimeIsCancelled) {
  const auto untaken = StartUntakenStream();
  untaken->reader->WaitForInitialMetadata();
  EXPECT_TRUE(observer_.AwaitNoCalls(absl::Now() + absl::Seconds(20)));
  v1::LedgerEntry entry;
  while (untaken->reader->Read(&entry)) {
  }
  EXPECT_EQ(untaken->reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(HandleTest, WithoutAPlaceToBeSentLaterASmallStreamIsSentByItsThread) {
  FillShareOf("ana", CallKind::kSend);
  const Arrived arrived = StreamOf(3, 10);
  EXPECT_TRUE(arrived.status.ok()) << arrived.status.error_message();
  EXPECT_EQ(arrived.sequences, (std::vector<int64_t>{1, 2, 3}));
}

TEST(SendingTime, OfAStreamAsAWholeIsTwiceThePatienceAndASecondForEachMegabyte) {
  SendingTime time(absl::Seconds(30));
  EXPECT_EQ(time.ForNext(1'000'000), absl::Seconds(30));
  time.NoteTaken(absl::Seconds(29));
  EXPECT_EQ(time.ForNext(1'000'000), absl::Seconds(30));
  time.NoteTaken(absl::Seconds(29));
  EXPECT_EQ(time.ForNext(1'000'000), absl::Seconds(60 + 3 - 2 * 29));
  time.NoteTaken(absl::Seconds(5));
  EXPECT_EQ(time.ForNext(0), absl::ZeroDuration());
}

TEST(IntentOf, IsThatOfTheFieldValidateOnly) {
  v1::CreateAccountRequest request;
  EXPECT_EQ(IntentOf(request), service::Intent::kDo);
  request.set_validate_only(true);
  EXPECT_EQ(IntentOf(request), service::Intent::kValidateOnly);
}

}  // namespace
}  // namespace curator::rpc
