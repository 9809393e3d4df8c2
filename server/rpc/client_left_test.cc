// A call whose client has gone before anything was charged ends in the middle of its work.
#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "curator/v1/synthesis.grpc.pb.h"
#include "rpc/admission.h"
#include "rpc/authenticator.h"
#include "rpc/call_observer.h"
#include "rpc/call_threads.h"
#include "rpc/handle.h"
#include "rpc/query_rpc.h"
#include "rpc/synthesis_rpc.h"
#include "service/testing/fixture.h"

namespace curator::rpc {
namespace {

// Signals when a call arrives at the server.
class Arrival : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Arrival(absl::Notification& arrived) : arrived_(arrived) {}
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo*) override {
    arrived_.Notify();
    return nullptr;
  }

 private:
  absl::Notification& arrived_;
};

// A server in this process, with one thread for its calls. Its dataset "wide" has attributes whose views take
// long to choose, and bins whose prefixes take long to plan.
class ClientLeft : public service::ServiceTest {
 protected:
  ClientLeft() {
    std::vector<dp::Attribute> attributes = {dp::Attribute::Create("bins", dp::CodedKind{1 << 19}).value()};
    for (int i = 0; i < 300; ++i)
      attributes.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{2}).value());
    service::NewDataset wide = People("wide");
    wide.schema =
        dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit()).value();
    Make(wide);

    grpc::ServerBuilder builder;
    std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
    interceptors.push_back(observer_.MakeInterceptorFactory(audit::PeerClass::kLoopback));
    interceptors.push_back(std::make_unique<Arrival>(arrived_));
    builder.experimental().SetInterceptorCreators(std::move(interceptors));
    builder.RegisterService(&synthesis_);
    builder.RegisterService(&queries_);
    server_ = builder.BuildAndStart();
    channel_ = server_->InProcessChannel({});
  }
  ~ClientLeft() override { server_->Shutdown(); }

  // How the server ended a call whose client left after it had arrived and before it was begun.
  absl::StatusCode EndAfterLeaving(const std::function<grpc::Status(grpc::ClientContext&)>& call) {
    absl::Notification begin;
    threads_.Run([&] { begin.WaitForNotification(); });
    grpc::ClientContext context;
    context.AddMetadata(kPrincipalKey, "owner");
    {
      const std::jthread client([&] {
        EXPECT_EQ(call(context).error_code(), grpc::StatusCode::CANCELLED);
        begin.Notify();
      });
      arrived_.WaitForNotification();
      context.TryCancel();
    }
    EXPECT_TRUE(observer_.AwaitNoCalls(absl::InfiniteFuture()));
    return end_;
  }

 private:
  absl::Notification arrived_;
  absl::StatusCode end_ = absl::StatusCode::kUnknown;
  CallObserver observer_{[this](const CallEnd& end) { end_ = end.record.status; }};
  Admission admission_;
  CallThreads threads_{1};
  PendingSends sends_{admission_, kStreamPatience};
  DevelopmentAuthenticator authenticator_;
  LiveCalls live_;
  Calls calls_{services_, admission_, threads_, sends_, authenticator_, live_};
  SynthesisRpc synthesis_{calls_};
  QueryRpc queries_{calls_};
  std::unique_ptr<grpc::Server> server_;

 protected:
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ClientLeft, EndsTheEstimateOfASynthesis) {
  v1::EstimateSynthesisRequest request;
  request.set_dataset("wide");
  request.mutable_spec()->set_method("dpsyn");
  request.mutable_spec()->mutable_spend()->set_epsilon("1");
  auto& all = *request.mutable_spec()->mutable_workload()->add_query_sets()->mutable_marginals();
  all.mutable_all_k_way()->set_k(2);
  for (int i = 0; i < 300; ++i) all.mutable_all_k_way()->add_attributes("a" + std::to_string(i));
  EXPECT_EQ(EndAfterLeaving([&](grpc::ClientContext& context) {
              v1::EstimateSynthesisResponse response;
              return v1::SynthesisService::Stub(channel_).EstimateSynthesis(&context, request, &response);
            }),
            absl::StatusCode::kCancelled);
}

TEST_F(ClientLeft, EndsTheEstimateOfAWorkload) {
  v1::EstimateWorkloadRequest request;
  request.set_dataset("wide");
  request.mutable_spend()->set_epsilon("1");
  request.mutable_workload()->add_query_sets()->mutable_prefixes()->set_attribute("bins");
  EXPECT_EQ(EndAfterLeaving([&](grpc::ClientContext& context) {
              v1::EstimateWorkloadResponse response;
              return v1::QueryService::Stub(channel_).EstimateWorkload(&context, request, &response);
            }),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::rpc
