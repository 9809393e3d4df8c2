#include "rpc/server_rpc.h"

#include <new>
#include <vector>

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

HealthRpc::HealthRpc(ledger::Ledger& ledger, Admission& admission, absl::Duration patience)
    : ledger_(ledger),
      admission_(admission),
      patience_(patience),
      ledger_state_(ledger),
      answered_at_(std::chrono::steady_clock::now()),
      asks_([this] { AskLedgerUntilShutDown(); }),
      notifies_([this] { NotifyUntilShutDown(); }) {}

HealthRpc::~HealthRpc() {
  ShutDown();
  notifies_.join();
  asks_.join();
}

HealthRpc::Status HealthRpc::StatusOf(const std::string& service) const {
  if (!IsOurs(service)) return HealthCheckResponse::SERVICE_UNKNOWN;
  if (const auto part = parts_.find(service); part != parts_.end()) {
    return part->second() && !shut_down_ ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
  }
  const bool is_fresh = absl::FromChrono(std::chrono::steady_clock::now() - answered_at_) < patience_;
  const bool is_verified = service != kHistories || ledger_state_.are_histories_verified;
  return ledger_state_.is_healthy && is_verified && is_fresh && !shut_down_
             ? HealthCheckResponse::SERVING
             : HealthCheckResponse::NOT_SERVING;
}

std::optional<HealthRpc::LedgerState> HealthRpc::AskLedger() const {
  try {
    return LedgerState(ledger_);
  } catch (const std::bad_alloc&) {
    return std::nullopt;  // as if it had not answered
  }
}

void HealthRpc::AskLedgerUntilShutDown() {
  while (true) {
    const std::optional<LedgerState> state = AskLedger();
    const absl::MutexLock lock(&mutex_);
    if (state) {
      ledger_state_ = *state;
      answered_at_ = std::chrono::steady_clock::now();
    }
    if (mutex_.AwaitWithTimeout(absl::Condition(&shut_down_), kAskInterval)) return;
  }
}

void HealthRpc::NotifyUntilShutDown() {
  const absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&shut_down_), kAskInterval)) {
    try {
      NotifyWatchers();
    } catch (const std::bad_alloc&) {  // the next round compares again
    }
  }
}

void HealthRpc::NotifyWatchers() {
  for (auto& [key, watched] : writers_) {
    const Status status = StatusOf(watched.service);
    if (status == watched.sent) continue;
    watched.writer->Send(ResponseOf(status));
    watched.sent = status;
  }
}

bool HealthRpc::IsServing(const std::string& service) {
  const absl::MutexLock lock(&mutex_);
  return StatusOf(service) == HealthCheckResponse::SERVING;
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
  const Status status = StatusOf(request->service());
  writer->Send(ResponseOf(status));
  if (shut_down_) {
    writer->End(grpc::Status::OK);
  } else {
    writers_.emplace(writer.get(), Watched{request->service(), writer, status});
  }
  return writer.get();
}

void HealthRpc::ShutDown() {
  const absl::MutexLock lock(&mutex_);
  if (std::exchange(shut_down_, true)) return;
  for (const auto& [key, watched] : writers_) {
    watched.writer->Send(ResponseOf(StatusOf(watched.service)));
    watched.writer->End(grpc::Status::OK);
  }
}

grpc::ServerUnaryReactor* VersionRpc::GetVersion(grpc::CallbackServerContext* context,
                                                 const v1::GetVersionRequest*,
                                                 v1::GetVersionResponse* response) {
  *response = version_;
  if (!version_.development_mode() && !authenticator_.Identify(*context).ok()) {
    response->clear_version();
    response->clear_ledger_backend();
  }
  return AnswerAtOnce(*context);
}

}  // namespace curator::rpc
