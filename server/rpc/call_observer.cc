#include "rpc/call_observer.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "rpc/authenticator.h"
#include "rpc/handle.h"

namespace curator::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

CallEnd EndOf(ServerRpcInfo& info, const grpc::Status& status) {
  const auto* context = dynamic_cast<const grpc::CallbackServerContext*>(info.server_context());
  const absl::StatusOr<Principal> principal =
      context == nullptr ? absl::UnknownError("no context") : Authenticator::Authenticate(*context);
  return {info.method(), principal.ok() ? principal->name() : "",
          static_cast<absl::StatusCode>(status.error_code())};
}

// gRPC refuses a message that it cannot parse as if the method did not exist, and without a word; an error of
// ours always has words. The context of a method that does not exist is a generic one.
bool CouldNotParse(ServerRpcInfo& info, const grpc::Status& status) {
  const bool is_known =
      dynamic_cast<const grpc::GenericCallbackServerContext*>(info.server_context()) == nullptr;
  return is_known && status.error_code() == grpc::StatusCode::UNIMPLEMENTED && status.error_message().empty();
}

absl::Status CannotRead() {
  return absl::InvalidArgumentError(
      "the request is no message of this method: its bytes are malformed, or its fields are nested more than "
      "100 deep");
}

}  // namespace

// Lives as long as its call.
class CallObserver::Interceptor final : public grpc::experimental::Interceptor {
 public:
  Interceptor(CallObserver& calls, ServerRpcInfo& info) : calls_(calls), info_(info) { calls_.Add(1); }
  ~Interceptor() override { calls_.Add(-1); }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      if (CouldNotParse(info_, methods->GetSendStatus()))
        methods->ModifySendStatus(ToGrpcStatus(CannotRead()));
      calls_.on_end_(EndOf(info_, methods->GetSendStatus()));
    }
    methods->Proceed();
  }

 private:
  CallObserver& calls_;
  ServerRpcInfo& info_;
};

class CallObserver::Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(CallObserver& calls) : calls_(calls) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new CallObserver::Interceptor(calls_, *info);
  }

 private:
  CallObserver& calls_;
};

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
CallObserver::MakeInterceptorFactory() {
  return std::make_unique<Factory>(*this);
}

void CallObserver::Add(int calls) {
  const absl::MutexLock lock(&mutex_);
  count_ += calls;
}

bool CallObserver::AwaitNoCalls(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_none = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return count_ == 0; };
  return mutex_.AwaitWithDeadline(absl::Condition(&is_none), deadline);
}

}  // namespace curator::rpc
