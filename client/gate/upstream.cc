#include "client/gate/upstream.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/connection.h"
#include "client/error.h"
#include "client/gate/api_json.h"
#include "client/trace_parent.h"

namespace curator::gate {
namespace {

using google::protobuf::Message;

grpc::ByteBuffer ToBuffer(const Message& message) {
  grpc::ByteBuffer buffer;
  bool owns = false;
  // Fails only beyond 2 GiB.
  static_cast<void>(grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(message, &buffer, &owns));
  return buffer;
}

// Sends one request, reads the responses, and lives until gRPC is done with it.
class JsonCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                       public RunningCall,
                       public std::enable_shared_from_this<JsonCall> {
 public:
  JsonCall(std::unique_ptr<Channels::Lease> lease, const ApiMethod& method,
           std::shared_ptr<CallPlaces::Place> place, OnJson on_json)
      : lease_(std::move(lease)),
        stub_(lease_->channel()),
        method_(method),
        place_(std::move(place)),
        on_json_(std::move(on_json)) {}

  void Start(const Message& request, const Credential& credential, absl::Duration longest) {
    self_ = shared_from_this();
    lease_->Serve(weak_from_this());
    request_ = ToBuffer(request);
    credential.AddTo(context_);
    if (longest < absl::InfiniteDuration()) {
      context_.set_deadline(absl::ToChronoTime(absl::Now() + longest));
    }
    const std::string trace = client::Trace().NextParent();
    if (!trace.empty()) context_.AddMetadata(client::kTraceParentKey, trace);
    stub_.PrepareBidiStreamingCall(&context_, method_.Path(), {}, this);
    StartWriteLast(&request_, {});
    StartRead(&response_);
    grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>::StartCall();
  }

  void Cancel() override { context_.TryCancel(); }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (Add() && !is_truncated_) StartRead(&response_);
  }

  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<JsonCall> self = std::move(self_);
    if (!failure_.ok()) return on_json_(failure_);
    if (!is_truncated_ && !status.ok()) return on_json_(client::FromGrpc(status));
    if (!method_.is_stream && json_.empty())
      return on_json_(absl::InternalError("the server sent no answer"));
    if (method_.is_stream) EndCollection();
    on_json_(std::move(json_));
  }

 private:
  // Whether the call goes on.
  bool Add() {
    const std::unique_ptr<Message> message(method_.response->New());
    const grpc::Status parsed =
        grpc::GenericDeserialize<grpc::ProtoBufferReader, Message>(&response_, message.get());
    if (!parsed.ok()) {
      failure_ = absl::InternalError("the server sent what is no message of this call");
      context_.TryCancel();
      return false;
    }
    std::string json = ToJson(*message);
    if (json_.size() + json.size() > kMostJsonBytes) {
      is_truncated_ = method_.is_stream;
      if (!is_truncated_) failure_ = absl::OutOfRangeError("the answer is too large for a page");
      context_.TryCancel();
      return false;
    }
    if (!place_->Grow(json.size())) {
      failure_ = absl::ResourceExhaustedError("too many large answers at a time: wait for some to arrive");
      context_.TryCancel();
      return false;
    }
    Collect(std::move(json));
    return true;
  }

  // An answer can be large: it is moved where it can be.
  void Collect(std::string json) {
    if (!method_.is_stream) {
      json_ = std::move(json);
      return;
    }
    absl::StrAppend(&json_, json_.empty() ? kBeginning : ",", json);
  }
  void EndCollection() {
    absl::StrAppend(&json_, json_.empty() ? kBeginning : "", R"(],"truncated":)",
                    is_truncated_ ? "true}" : "false}");
  }

  static constexpr char kBeginning[] = R"({"messages":[)";

  const std::unique_ptr<Channels::Lease> lease_;  // the first member: destroyed when nothing uses the channel
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  const ApiMethod& method_;
  const std::shared_ptr<CallPlaces::Place> place_;
  const OnJson on_json_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  std::string json_;
  bool is_truncated_ = false;
  absl::Status failure_;
  std::shared_ptr<JsonCall> self_;
};

}  // namespace

std::unique_ptr<Channels::Lease> Channels::Take() {
  const absl::MutexLock lock(&mutex_);
  if (is_closed_) return nullptr;
  auto least = std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry->calls; });
  if (least == entries_.end() || (*least)->calls >= kMostCalls) {
    const client::Connection connection({.server = server_, .is_apart = true});
    entries_.push_back(std::make_unique<Entry>(Entry{.channel = connection.channel()}));
    least = std::prev(entries_.end());
  }
  ++(*least)->calls;
  auto lease = std::make_unique<Lease>(*this, **least);
  calls_.emplace(lease.get(), std::weak_ptr<RunningCall>());
  return lease;
}

size_t Channels::OpenCalls() const {
  const absl::MutexLock lock(&mutex_);
  return calls_.size();
}

void Channels::Close() {
  std::vector<std::shared_ptr<RunningCall>> open;
  {
    const absl::MutexLock lock(&mutex_);
    is_closed_ = true;
    for (const auto& [lease, call] : calls_) open.push_back(call.lock());
  }
  for (const auto& call : open) {
    if (call != nullptr) call->Cancel();
  }
  open.clear();
  const absl::MutexLock lock(&mutex_);
  const auto is_idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return calls_.empty(); };
  mutex_.Await(absl::Condition(&is_idle));
}

void Channels::Lease::Serve(std::weak_ptr<RunningCall> call) {
  bool is_closed = false;
  {
    const absl::MutexLock lock(&channels_.mutex_);
    channels_.calls_[this] = call;
    is_closed = channels_.is_closed_;
  }
  const std::shared_ptr<RunningCall> running = call.lock();
  if (is_closed && running != nullptr) running->Cancel();
}

Channels::Lease::~Lease() {
  const absl::MutexLock lock(&channels_.mutex_);
  --entry_.calls;
  channels_.calls_.erase(this);
}

std::shared_ptr<RunningCall> StartCall(Channels& channels, const ApiMethod& method, const Message& request,
                                       const Credential& credential, std::shared_ptr<CallPlaces::Place> place,
                                       OnJson on_json, absl::Duration longest) {
  std::unique_ptr<Channels::Lease> lease = channels.Take();
  if (lease == nullptr) {
    on_json(absl::UnavailableError("the dashboard is stopping"));
    return nullptr;
  }
  auto call = std::make_shared<JsonCall>(std::move(lease), method, std::move(place), std::move(on_json));
  call->Start(request, credential, longest);
  return call;
}

void CancelWhenLeft(Exchange& exchange, const std::shared_ptr<RunningCall>& call) {
  exchange.OnLeft([weak = std::weak_ptr<RunningCall>(call)] {
    if (const auto running = weak.lock()) running->Cancel();
  });
}

}  // namespace curator::gate
