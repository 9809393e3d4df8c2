#include "rpc/call_observer.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include <memory>
#include <string>

#include "rpc/handle.h"

namespace curator::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

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
  Interceptor(CallObserver& calls, ServerRpcInfo& info) : calls_(calls), info_(info) { calls_.Begin(); }
  ~Interceptor() override { calls_.End(info_.server_context()); }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->insert(calls_.of_answers_.begin(), calls_.of_answers_.end());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      if (CouldNotParse(info_, methods->GetSendStatus()))
        methods->ModifySendStatus(ToGrpcStatus(CannotRead()));
      calls_.on_end_({info_.method(), calls_.PrincipalOf(info_.server_context()),
                      static_cast<absl::StatusCode>(methods->GetSendStatus().error_code())});
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

void CallObserver::NotePrincipal(const grpc::ServerContextBase& context, const std::string& principal) {
  const absl::MutexLock lock(&mutex_);
  principals_[&context] = principal;
}

void CallObserver::Begin() {
  const absl::MutexLock lock(&mutex_);
  ++count_;
}

void CallObserver::End(const grpc::ServerContextBase* context) {
  const absl::MutexLock lock(&mutex_);
  --count_;
  principals_.erase(context);
}

std::string CallObserver::PrincipalOf(const grpc::ServerContextBase* context) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = principals_.find(context);
  return found == principals_.end() ? std::string() : found->second;
}

bool CallObserver::AwaitNoCalls(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_none = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return count_ == 0; };
  return mutex_.AwaitWithDeadline(absl::Condition(&is_none), deadline);
}

}  // namespace curator::rpc
