#include "rpc/calls_in_flight.h"

#include <memory>

namespace curator::rpc {

// One lives for as long as its call does.
class CallsInFlight::Interceptor final : public grpc::experimental::Interceptor {
 public:
  explicit Interceptor(CallsInFlight& calls) : calls_(calls) { calls_.Add(1); }
  ~Interceptor() override { calls_.Add(-1); }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override { methods->Proceed(); }

 private:
  CallsInFlight& calls_;
};

class CallsInFlight::Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(CallsInFlight& calls) : calls_(calls) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo*) override {
    return new CallsInFlight::Interceptor(calls_);
  }

 private:
  CallsInFlight& calls_;
};

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
CallsInFlight::MakeInterceptorFactory() {
  return std::make_unique<Factory>(*this);
}

void CallsInFlight::Add(int calls) {
  const absl::MutexLock lock(&mutex_);
  count_ += calls;
}

void CallsInFlight::AwaitNone(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_none = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return count_ == 0; };
  mutex_.AwaitWithDeadline(absl::Condition(&is_none), deadline);
}

}  // namespace curator::rpc
