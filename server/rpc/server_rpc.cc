#include "rpc/server_rpc.h"

#include <vector>

#include "absl/time/clock.h"
#include "rpc/handle.h"

namespace curator::rpc {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr absl::Duration kAskInterval = absl::Milliseconds(500);
constexpr char kServicePrefix[] = "curator.v1.";

bool IsOurs(const std::string& service) {
  return service.empty() || service.starts_with(kServicePrefix);
}

HealthCheckResponse ResponseOf(HealthCheckResponse::ServingStatus status) {
  HealthCheckResponse response;
  response.set_status(status);
  return response;
}

}  // namespace

HealthRpc::HealthRpc(ledger::Ledger& ledger, Admission& admission)
    : ledger_(ledger),
      admission_(admission),
      ledger_state_(ledger),
      answered_at_(absl::Now()),
      thread_([this] { AskLedgerUntilShutDown(); }) {}

HealthRpc::~HealthRpc() {
  ShutDown();
  thread_.join();
}

HealthRpc::Status HealthRpc::StatusOf(const std::string& service) const {
  if (!IsOurs(service)) return HealthCheckResponse::SERVICE_UNKNOWN;
  const bool is_fresh = absl::Now() - answered_at_ < kLedgerPatience;
  const bool is_verified = service != kHistories || ledger_state_.are_histories_verified;
  return ledger_state_.is_healthy && is_verified && is_fresh && !shut_down_
             ? HealthCheckResponse::SERVING
             : HealthCheckResponse::NOT_SERVING;
}

void HealthRpc::AskLedgerUntilShutDown() {
  while (true) {
    const LedgerState state(ledger_);
    const absl::MutexLock lock(&mutex_);
    answered_at_ = absl::Now();
    if (std::exchange(ledger_state_, state) != state) {
      for (const auto& [key, writer] : writers_) writer.second->Send(ResponseOf(StatusOf(writer.first)));
    }
    if (mutex_.AwaitWithTimeout(absl::Condition(&shut_down_), kAskInterval)) return;
  }
}

grpc::ServerUnaryReactor* HealthRpc::Check(grpc::CallbackServerContext* context,
                                           const HealthCheckRequest* request, HealthCheckResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (!IsOurs(request->service())) {
    reactor->Finish(grpc::Status(grpc::StatusCode::NOT_FOUND, "there is no such service here"));
    return reactor;
  }
  {
    const absl::MutexLock lock(&mutex_);
    response->set_status(StatusOf(request->service()));
  }
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthRpc::Watch(grpc::CallbackServerContext*,
                                                                const HealthCheckRequest* request) {
  // Health is anybody's: all watches of it share the places of callers without a principal.
  absl::StatusOr<Admission::Place> place = admission_.Admit(CallKind::kWatch, "");
  if (!place.ok()) {
    const auto refusal = Writer::Create([] {});
    refusal->End(ToGrpcStatus(place.status()));
    return refusal.get();
  }
  struct Watching {
    Admission::Place place;
    const Writer* writer = nullptr;  // set before gRPC calls a reaction
  };
  const auto watching = std::make_shared<Watching>(Watching{*std::move(place)});
  const auto writer = Writer::Create([this, watching] {
    const absl::MutexLock lock(&mutex_);
    writers_.erase(watching->writer);
  });
  watching->writer = writer.get();
  const absl::MutexLock lock(&mutex_);
  writer->Send(ResponseOf(StatusOf(request->service())));
  if (shut_down_) {
    writer->End(grpc::Status::OK);
  } else {
    writers_.emplace(writer.get(), std::pair(request->service(), writer));
  }
  return writer.get();
}

void HealthRpc::ShutDown() {
  const absl::MutexLock lock(&mutex_);
  if (std::exchange(shut_down_, true)) return;
  for (const auto& [key, writer] : writers_) {
    writer.second->Send(ResponseOf(StatusOf(writer.first)));
    writer.second->End(grpc::Status::OK);
  }
}

grpc::ServerUnaryReactor* VersionRpc::GetVersion(grpc::CallbackServerContext* context,
                                                 const v1::GetVersionRequest*,
                                                 v1::GetVersionResponse* response) {
  *response = version_;
  return AnswerAtOnce(*context);
}

}  // namespace curator::rpc
